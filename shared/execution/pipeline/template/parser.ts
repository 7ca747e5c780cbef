/**
 * Parses the tree of a template text, with Go's errors. Variables are checked against earlier declarations in
 * the text, so `{{$x}}` without `$x := ` never renders.
 *
 * Pitfall: `define` is allowed only at the top level, and a `block` is both its definition and a call of it.
 *
 * This is one file because all of it shares mutable state: returned tokens, visible variables, depth.
 */
import { quote } from '../../../base/model/quote.ts';
import { MAX_PARSE_DEPTH } from './bounds.ts';
import { numberNode } from './constants.ts';
import { Lexer, type Token } from './lexer.ts';
import {
  type BranchNode,
  type ChainNode,
  type CommandNode,
  type IdentifierNode,
  type ListNode,
  type MarkNode,
  nodeText,
  type PipeNode,
  type Statement,
  type TemplateOperand,
} from './nodes.ts';
import { unquoteConstant } from './unquote.ts';

export interface ParsedTemplate {
  readonly name: string;
  readonly text: string;
  readonly root: ListNode;
  /** Bodies of `define` and `block`, and of the template itself, by name. */
  readonly definitions: ReadonlyMap<string, ListNode>;
}

/** Throws an Error with Go's message: `template: NAME:LINE: ...`. */
export function parseTemplate(
  text: string,
  name: string,
  hasFunction: (name: string) => boolean,
): ParsedTemplate {
  return new Parser(text, name, hasFunction).parse();
}

type Branch = BranchNode['type'];

const OPERAND_STARTS = new Set<Token['kind']>([
  'bool',
  'charConstant',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'rawString',
  'string',
  'variable',
  'leftParen',
]);

class Parser {
  readonly #lexer: Lexer;
  readonly #text: string;
  readonly #name: string;
  readonly #hasFunction: (name: string) => boolean;
  readonly #definitions = new Map<string, ListNode>();
  /** Tokens returned to the parser, the next one last; never more than three. */
  readonly #pending: Token[] = [];
  #line = 1;
  /** Line of the current action; 0 outside an action. */
  #actionLine = 0;
  #variables = ['$'];
  #rangeDepth = 0;
  #depth = 0;

  constructor(text: string, name: string, hasFunction: (name: string) => boolean) {
    this.#text = text;
    this.#name = name;
    this.#lexer = new Lexer(text);
    this.#hasFunction = hasFunction;
  }

  parse(): ParsedTemplate {
    const root: ListNode = { type: 'list', nodes: [] };
    while (this.#peek().kind !== 'eof') {
      if (this.#peek().kind === 'leftDelim') {
        const delimiter = this.#next();
        const word = this.#nextNonSpace();
        if (isKeyword(word, 'define')) {
          this.#definition();
          continue;
        }
        this.#pending.push(word, delimiter);
      }
      const node = this.#textOrAction();
      if (isMark(node)) this.#fail(`unexpected {{${node.type}}}`);
      root.nodes.push(node);
    }
    this.#define(this.#name, root);
    return {
      name: this.#name,
      text: this.#text,
      root: this.#definitions.get(this.#name)!,
      definitions: this.#definitions,
    };
  }

  #fail(message: string): never {
    throw new Error(`template: ${this.#name}:${this.#line}: ${message}`);
  }

  /** Runs code that may throw a plain message (constants), and adds the position. */
  #located<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      return this.#fail((error as Error).message);
    }
  }

  #next(): Token {
    const given = this.#pending.pop();
    if (given !== undefined) return given;
    const token = this.#lexer.next();
    this.#line = token.line;
    return token;
  }

  #peek(): Token {
    const token = this.#next();
    this.#pending.push(token);
    return token;
  }

  #nextNonSpace(): Token {
    let token = this.#next();
    while (token.kind === 'space') token = this.#next();
    return token;
  }

  #peekNonSpace(): Token {
    const token = this.#nextNonSpace();
    this.#pending.push(token);
    return token;
  }

  #unexpected(token: Token, context: string): never {
    if (token.kind !== 'error') this.#fail(`unexpected ${tokenText(token)} in ${context}`);
    let extra = '';
    if (this.#actionLine !== 0 && this.#actionLine !== token.line) {
      const started = `started at ${this.#name}:${this.#actionLine}`;
      extra = token.value.endsWith(' action') ? ` ${started}` : ` in action ${started}`;
    }
    return this.#fail(token.value + extra);
  }

  #expect(kind: Token['kind'], context: string): Token {
    const token = this.#nextNonSpace();
    if (token.kind !== kind) this.#unexpected(token, context);
    return token;
  }

  #define(name: string, body: ListNode): void {
    const known = this.#definitions.get(name);
    if (known === undefined || isEmpty(known)) this.#definitions.set(name, body);
    else if (!isEmpty(body)) this.#fail(`template: multiple definition of template ${quote(name)}`);
  }

  /** Parses an inner template, which has separate variables and loops. */
  #separate<T>(read: () => T): T {
    const variables = this.#variables;
    const rangeDepth = this.#rangeDepth;
    this.#variables = ['$'];
    this.#rangeDepth = 0;
    const result = read();
    this.#variables = variables;
    this.#rangeDepth = rangeDepth;
    return result;
  }

  #definition(): void {
    const context = 'define clause';
    const name = this.#templateName(this.#nextNonSpace(), context);
    this.#expect('rightDelim', context);
    this.#define(name, this.#body(context));
  }

  #body(context: string): ListNode {
    return this.#separate(() => {
      const { list, end } = this.#itemList();
      if (end !== 'end') this.#fail(`unexpected {{${end}}} in ${context}`);
      return list;
    });
  }

  #templateName(token: Token, context: string): string {
    if (token.kind !== 'string' && token.kind !== 'rawString') this.#unexpected(token, context);
    return this.#located(() => unquoteConstant(token.value));
  }

  #itemList(): { list: ListNode; end: MarkNode['type'] } {
    if (++this.#depth > MAX_PARSE_DEPTH) this.#fail('max expression depth exceeded');
    const list: ListNode = { type: 'list', nodes: [] };
    while (this.#peekNonSpace().kind !== 'eof') {
      const node = this.#textOrAction();
      if (isMark(node)) {
        this.#depth--;
        return { list, end: node.type };
      }
      list.nodes.push(node);
    }
    return this.#fail('unexpected EOF');
  }

  #textOrAction(): Statement | MarkNode {
    const token = this.#nextNonSpace();
    if (token.kind === 'text') return { type: 'text', pos: token.pos, text: token.value };
    if (token.kind !== 'leftDelim') this.#unexpected(token, 'input');
    this.#actionLine = token.line;
    const node = this.#action();
    this.#actionLine = 0;
    return node;
  }

  #action(): Statement | MarkNode {
    const token = this.#nextNonSpace();
    if (token.kind === 'keyword') {
      switch (token.value) {
        case 'if':
        case 'with':
        case 'range':
          return this.#control(token.value, token.pos);
        case 'else':
          return this.#elseMark();
        case 'end':
          this.#expect('rightDelim', 'end');
          return { type: 'end' };
        case 'break':
        case 'continue':
          return this.#jump(token.value, token.pos);
        case 'template':
          return this.#call();
        case 'block':
          return this.#block();
      }
    }
    this.#pending.push(token);
    return { type: 'action', pos: token.pos, pipe: this.#pipeline('command', 'rightDelim') };
  }

  #jump(type: 'break' | 'continue', pos: number): Statement {
    const token = this.#nextNonSpace();
    if (token.kind !== 'rightDelim') this.#unexpected(token, `{{${type}}}`);
    if (this.#rangeDepth === 0) this.#fail(`{{${type}}} outside {{range}}`);
    return { type, pos };
  }

  #elseMark(): MarkNode {
    const token = this.#peekNonSpace();
    // `{{else if` is parsed as `{{else}}{{if`: the word remains for the block that ends there.
    if (!isKeyword(token, 'if') && !isKeyword(token, 'with')) this.#expect('rightDelim', 'else');
    return { type: 'else' };
  }

  #control(type: Branch, pos: number): Statement {
    const visible = this.#variables.length;
    const pipe = this.#pipeline(type, 'rightDelim');
    if (type === 'range') this.#rangeDepth++;
    const { list, end } = this.#itemList();
    if (type === 'range') this.#rangeDepth--;
    const elseList = end === 'else' ? this.#elseList(type) : undefined;
    this.#variables.length = visible;
    return { type, pos, pipe, list, elseList };
  }

  #elseList(type: Branch): ListNode {
    const word = this.#peek();
    if (type !== 'range' && isKeyword(word, type)) {
      this.#next();
      if (++this.#depth > MAX_PARSE_DEPTH) this.#fail('max expression depth exceeded');
      const nodes = [this.#control(type, word.pos)];
      this.#depth--;
      return { type: 'list', nodes };
    }
    const { list, end } = this.#itemList();
    if (end !== 'end') this.#fail(`expected end; found {{${end}}}`);
    return list;
  }

  #call(): Statement {
    const context = 'template clause';
    const { pos } = this.#peekNonSpace();
    const name = this.#templateName(this.#nextNonSpace(), context);
    if (this.#peekNonSpace().kind === 'rightDelim') {
      this.#next();
      return { type: 'template', pos, name, pipe: undefined };
    }
    return { type: 'template', pos, name, pipe: this.#pipeline(context, 'rightDelim') };
  }

  #block(): Statement {
    const context = 'block clause';
    const { pos } = this.#peekNonSpace();
    const name = this.#templateName(this.#nextNonSpace(), context);
    const pipe = this.#pipeline(context, 'rightDelim');
    this.#define(name, this.#body(context));
    return { type: 'template', pos, name, pipe };
  }

  #pipeline(context: string, end: 'rightDelim' | 'rightParen'): PipeNode {
    const pos = this.#peekNonSpace().pos;
    const pipe: PipeNode = { type: 'pipe', pos, isAssign: false, declarations: [], commands: [] };
    while (this.#peekNonSpace().kind === 'variable' && this.#declaration(pipe, context));
    for (;;) {
      const token = this.#nextNonSpace();
      if (token.kind === end) break;
      if (!OPERAND_STARTS.has(token.kind)) this.#unexpected(token, context);
      this.#pending.push(token);
      pipe.commands.push(this.#command());
    }
    if (pipe.commands.length === 0) this.#fail(`missing value for ${context}`);
    for (let i = 1; i < pipe.commands.length; i++) {
      if (['bool', 'dot', 'nil', 'number', 'string'].includes(pipe.commands[i].args[0].type)) {
        this.#fail(`non executable command in pipeline stage ${i + 1}`);
      }
    }
    return pipe;
  }

  /**
   * Reads `$x :=`, `$x =` or `$x,`, or returns the tokens. The result is true if another variable may follow.
   */
  #declaration(pipe: PipeNode, context: string): boolean {
    const variable = this.#next();
    const after = this.#next();
    const spaces = after.kind === 'space' ? [after] : [];
    const next = after.kind === 'space' ? this.#nextNonSpace() : after;
    const comma = next.kind === 'char' && next.value === ',';
    if (next.kind !== 'assign' && next.kind !== 'declare' && !comma) {
      this.#pending.push(next, ...spaces, variable);
      return false;
    }
    if (!comma) pipe.isAssign = next.kind === 'assign';
    pipe.declarations.push({ type: 'variable', pos: variable.pos, names: variable.value.split('.') });
    this.#variables.push(variable.value);
    if (!comma) return false;
    if (context !== 'range' || pipe.declarations.length > 1)
      this.#fail(`too many declarations in ${context}`);
    const second = this.#peekNonSpace().kind;
    if (second !== 'variable' && second !== 'rightDelim' && second !== 'rightParen') {
      this.#fail('range can only initialize variables');
    }
    return true;
  }

  #command(): CommandNode {
    const command: CommandNode = { type: 'command', pos: this.#peekNonSpace().pos, args: [] };
    for (;;) {
      this.#peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) command.args.push(operand);
      const token = this.#next();
      if (token.kind === 'space') continue;
      if (token.kind === 'rightDelim' || token.kind === 'rightParen') this.#pending.push(token);
      else if (token.kind !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    if (command.args.length === 0) this.#fail('empty command');
    return command;
  }

  #operand(): TemplateOperand | undefined {
    const base = this.#term();
    if (base === undefined || this.#peek().kind !== 'field') return base;
    const pos = this.#peek().pos;
    const names: string[] = [];
    while (this.#peek().kind === 'field') names.push(this.#next().value.slice(1));
    switch (base.type) {
      case 'field':
      case 'variable':
        return { type: base.type, pos, names: [...base.names, ...names] };
      case 'bool':
      case 'string':
      case 'number':
      case 'nil':
      case 'dot':
        return this.#fail(`unexpected . after term ${quote(nodeText(base))}`);
      default:
        return { type: 'chain', pos, base, names } satisfies ChainNode;
    }
  }

  #term(): TemplateOperand | undefined {
    const token = this.#nextNonSpace();
    const { pos, value } = token;
    switch (token.kind) {
      case 'identifier':
        if (!this.#hasFunction(value)) this.#fail(`function ${quote(value)} not defined`);
        return { type: 'identifier', pos, name: value } satisfies IdentifierNode;
      case 'dot':
      case 'nil':
        return { type: token.kind, pos };
      case 'variable':
        if (!this.#variables.includes(value)) this.#fail(`undefined variable ${quote(value)}`);
        return { type: 'variable', pos, names: [value] };
      case 'field':
        return { type: 'field', pos, names: [value.slice(1)] };
      case 'bool':
        return { type: 'bool', pos, value: value === 'true' };
      case 'charConstant':
      case 'number':
        return this.#located(() => numberNode(value, pos));
      case 'leftParen': {
        if (++this.#depth > MAX_PARSE_DEPTH) this.#fail('max expression depth exceeded');
        const pipe = this.#pipeline('parenthesized pipeline', 'rightParen');
        this.#depth--;
        return pipe;
      }
      case 'string':
      case 'rawString':
        return { type: 'string', pos, source: value, value: this.#located(() => unquoteConstant(value)) };
    }
    this.#pending.push(token);
    return undefined;
  }
}

function isKeyword(token: Token, word: string): boolean {
  return token.kind === 'keyword' && token.value === word;
}

function isMark(node: Statement | MarkNode): node is MarkNode {
  return node.type === 'else' || node.type === 'end';
}

/** Returns true for white space only: such a definition yields to another one of its name. */
function isEmpty(list: ListNode): boolean {
  return list.nodes.every(node => node.type === 'text' && node.text.trim() === '');
}

function tokenText(token: Token): string {
  if (token.kind === 'eof') return 'EOF';
  if (token.kind === 'keyword' || token.kind === 'nil' || token.kind === 'dot') return `<${token.value}>`;
  const characters = [...token.value];
  if (Buffer.byteLength(token.value) > 10) return `${quote(characters.slice(0, 10).join(''))}...`;
  return quote(token.value);
}
