/**
 * Determines the labels that a template can read, so that the pipeline extracts only those. The dot is the
 * label map until `with` or `range` replaces it. A template that uses the map as a whole, or passes it on,
 * reads all labels.
 */
import type { AnyNode, ListNode, PipeNode, Statement, TemplateOperand } from './nodes.ts';
import type { ParsedTemplate } from './parser.ts';

interface FieldUse {
  readonly fields: ReadonlySet<string>;
  readonly readsAllFields: boolean;
  /** Set if the template consists of one `{{.name}}`. */
  readonly field: string | undefined;
}

interface TemplateFields {
  readonly fields: Set<string>;
  all: boolean;
}

export function fieldUse(parsed: ParsedTemplate): FieldUse {
  const found: TemplateFields = { fields: new Set(), all: false };
  visitList(parsed.root, true, found);
  const { nodes } = parsed.root;
  return {
    fields: found.fields,
    readsAllFields: found.all,
    field: nodes.length === 1 ? plainField(nodes[0]) : undefined,
  };
}

/** Returns the name in `{{.name}}`, or undefined for any other statement. */
export function plainField(node: Statement): string | undefined {
  if (node.type !== 'action' || node.pipe.declarations.length > 0) return undefined;
  const { commands } = node.pipe;
  if (commands.length !== 1 || commands[0].args.length !== 1) return undefined;
  const [operand] = commands[0].args;
  return operand.type === 'field' && operand.names.length === 1 ? operand.names[0] : undefined;
}

/** @param atRoot Whether the dot is the label map */
function visitList(list: ListNode, atRoot: boolean, found: TemplateFields): void {
  for (const node of list.nodes) {
    switch (node.type) {
      case 'action':
        visitPipe(node.pipe, atRoot, found);
        break;
      case 'template':
        if (node.pipe !== undefined) visitPipe(node.pipe, atRoot, found);
        break;
      case 'if':
      case 'with':
      case 'range':
        visitPipe(node.pipe, atRoot, found);
        visitList(node.list, atRoot && node.type === 'if', found);
        if (node.elseList !== undefined) visitList(node.elseList, atRoot, found);
        break;
    }
  }
}

function visitPipe(pipe: PipeNode, atRoot: boolean, found: TemplateFields): void {
  for (const command of pipe.commands) {
    for (const operand of command.args) visitOperand(operand, atRoot, found);
  }
}

function visitOperand(node: TemplateOperand, atRoot: boolean, found: TemplateFields): void {
  switch (node.type) {
    case 'field':
      if (atRoot) found.fields.add(node.names[0]);
      break;
    case 'variable':
      if (node.names[0] !== '$') break;
      if (node.names.length > 1) found.fields.add(node.names[1]);
      else found.all = true;
      break;
    case 'dot':
      if (atRoot) found.all = true;
      break;
    case 'chain':
      visitOperand(node.base, atRoot, found);
      break;
    case 'pipe':
      visitPipe(node, atRoot, found);
      break;
  }
}

/**
 * Returns the parts of a template that consists of texts and single fields, which renders by concatenation.
 * Undefined for other templates.
 */
export function plainParts(
  list: ListNode,
): Array<{ node: AnyNode; text: string } | { node: AnyNode; field: string }> | undefined {
  const parts: Array<{ node: AnyNode; text: string } | { node: AnyNode; field: string }> = [];
  for (const node of list.nodes) {
    const field = plainField(node);
    if (node.type === 'text') parts.push({ node, text: node.text });
    else if (field !== undefined) parts.push({ node, field });
    else return undefined;
  }
  return parts;
}
