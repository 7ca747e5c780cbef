/**
 * Tree of a template, and the text of a node in error messages (`executing "line" at <.a | len>`). A
 * parenthesized pipeline is a `pipe` among the arguments of a command.
 */
import { quote } from '../../../base/model/quote.ts';
import type { Value } from './values.ts';

export interface ListNode {
  readonly type: 'list';
  readonly nodes: Statement[];
}
interface TextNode {
  readonly type: 'text';
  readonly pos: number;
  readonly text: string;
}
export interface ActionNode {
  readonly type: 'action';
  readonly pos: number;
  readonly pipe: PipeNode;
}
export interface BranchNode {
  readonly type: 'if' | 'with' | 'range';
  readonly pos: number;
  readonly pipe: PipeNode;
  readonly list: ListNode;
  readonly elseList: ListNode | undefined;
}
interface JumpNode {
  readonly type: 'break' | 'continue';
  readonly pos: number;
}
interface TemplateNode {
  readonly type: 'template';
  readonly pos: number;
  readonly name: string;
  readonly pipe: PipeNode | undefined;
}
/** Ends of a block, which only the parser sees. */
export interface MarkNode {
  readonly type: 'else' | 'end';
}
export type Statement = TextNode | ActionNode | BranchNode | JumpNode | TemplateNode;

export interface PipeNode {
  readonly type: 'pipe';
  readonly pos: number;
  isAssign: boolean;
  readonly declarations: VariableNode[];
  readonly commands: CommandNode[];
}
export interface CommandNode {
  readonly type: 'command';
  readonly pos: number;
  readonly args: TemplateOperand[];
}
interface FieldNode {
  readonly type: 'field';
  readonly pos: number;
  readonly names: readonly string[];
}
/** Variable; `names[0]` includes its `$`. */
interface VariableNode {
  readonly type: 'variable';
  readonly pos: number;
  readonly names: readonly string[];
}
export interface ChainNode {
  readonly type: 'chain';
  readonly pos: number;
  readonly base: TemplateOperand;
  readonly names: string[];
}
export interface IdentifierNode {
  readonly type: 'identifier';
  readonly pos: number;
  readonly name: string;
}
interface WordNode {
  readonly type: 'dot' | 'nil';
  readonly pos: number;
}
interface BoolNode {
  readonly type: 'bool';
  readonly pos: number;
  readonly value: boolean;
}
export interface NumberNode {
  readonly type: 'number';
  readonly pos: number;
  readonly source: string;
  /** Set if the constant is a whole number in any notation: `5.0` fits an int argument. */
  readonly int: bigint | undefined;
  readonly float: number;
  /** Value of the constant if no type is expected; undefined if it overflows int. */
  readonly ideal: Value;
}
interface StringNode {
  readonly type: 'string';
  readonly pos: number;
  readonly source: string;
  readonly value: string;
}
export type TemplateOperand =
  | PipeNode
  | FieldNode
  | VariableNode
  | ChainNode
  | IdentifierNode
  | WordNode
  | BoolNode
  | NumberNode
  | StringNode;
export type AnyNode = Statement | TemplateOperand | CommandNode;

/** Formats a node as Go's parser does. */
export function nodeText(node: AnyNode): string {
  switch (node.type) {
    case 'text':
      return node.text;
    case 'action':
      return `{{${nodeText(node.pipe)}}}`;
    case 'break':
    case 'continue':
      return `{{${node.type}}}`;
    case 'template':
      return `{{template ${quote(node.name)}${node.pipe ? ` ${nodeText(node.pipe)}` : ''}}}`;
    case 'if':
    case 'with':
    case 'range':
      return `{{${node.type} ${nodeText(node.pipe)}}}`;
    case 'pipe': {
      const names = node.declarations.map(nodeText).join(', ');
      const commands = node.commands.map(nodeText).join(' | ');
      return names === '' ? commands : `${names} ${node.isAssign ? '=' : ':='} ${commands}`;
    }
    case 'command':
      return node.args.map(arg => (arg.type === 'pipe' ? `(${nodeText(arg)})` : nodeText(arg))).join(' ');
    case 'field':
      return node.names.map(name => `.${name}`).join('');
    case 'variable':
      return node.names.join('.');
    case 'chain': {
      const base = node.base.type === 'pipe' ? `(${nodeText(node.base)})` : nodeText(node.base);
      return base + node.names.map(name => `.${name}`).join('');
    }
    case 'identifier':
      return node.name;
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
    case 'string':
      return node.source;
  }
}
