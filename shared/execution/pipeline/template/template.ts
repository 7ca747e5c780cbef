/**
 * Templates of `line_format` and `label_format`: Go's text/template with the functions of LogQL, compiled to
 * closures once and rendered once per line.
 *
 *     const template = compileTemplate('{{.method}} {{ .path | upper }}', 'line');
 *     template.render(data);   // 'GET /HOME'
 */
import { canonicalText } from '../../../base/model/byte-text.ts';
import { MAX_OUTPUT_LENGTH } from './bounds.ts';
import { OUTPUT_TOO_LONG, TemplateError } from './error.ts';
import { fieldUse, plainParts } from './field-use.ts';
import { TEMPLATE_FUNCTIONS } from './functions.ts';
import type { ListNode } from './nodes.ts';
import { type ParsedTemplate, parseTemplate } from './parser.ts';
import { fail, type State, type TemplateData } from './state.ts';
import { type CompiledTemplate, compileTemplateBody, type Library, newVariables } from './statements.ts';
import { LabelMap } from './values.ts';

export { TemplateError } from './error.ts';
export type { TemplateData } from './state.ts';

export interface Template {
  /** Throws TemplateError with Go's message (`template: line:1:3: executing "line" at <EXPR>: ...`). */
  render(data: TemplateData): string;
  /** Set if the whole template is one `{{.name}}`: the pipeline handles that form separately. */
  readonly field?: string;
  /** Labels that the template names. */
  readonly fields: ReadonlySet<string>;
  /** Whether the template uses the label map as a whole, so that `fields` is incomplete. */
  readonly readsAllFields: boolean;
}

/** Throws an Error with Go's parse error (`template: line:1: function "foo" not defined`). */
export function compileTemplate(text: string, name: 'line' | 'label'): Template {
  const parsed = parseTemplate(text, name, word => TEMPLATE_FUNCTIONS.has(word));
  const { field, fields, readsAllFields } = fieldUse(parsed);
  return { field, fields, readsAllFields, render: plainRender(parsed) ?? fullRender(parsed) };
}

type Render = Template['render'];

function newState(parsed: ParsedTemplate, data: TemplateData): State {
  return {
    data,
    parseName: parsed.name,
    text: parsed.text,
    templateName: parsed.name,
    out: '',
    node: { type: 'text', pos: 0, text: '' },
    variables: [],
    steps: 0,
    depth: 0,
  };
}

/** Compiles the common form of a template, a sequence of texts and fields, to plain concatenation. */
function plainRender(parsed: ParsedTemplate): Render | undefined {
  const parts = plainParts(parsed.root);
  if (parts === undefined) return undefined;
  // Texts: one before each field, and one after the last.
  const texts = [''];
  const fields: string[] = [];
  for (const part of parts) {
    if ('text' in part) texts[texts.length - 1] += part.text;
    else {
      fields.push(part.field);
      texts.push('');
    }
  }
  return data => {
    let out = texts[0];
    for (let i = 0; i < fields.length; i++) {
      const value = data.get(fields[i]);
      if (value !== undefined) out += value;
      out += texts[i + 1];
    }
    if (out.length > MAX_OUTPUT_LENGTH) {
      const state = newState(parsed, data);
      state.node = parts[parts.length - 1].node;
      fail(state, OUTPUT_TOO_LONG);
    }
    return canonicalText(out);
  };
}

function fullRender(parsed: ParsedTemplate): Render {
  const templates = new Map<string, CompiledTemplate>();
  const library: Library = { functions: TEMPLATE_FUNCTIONS, templates };
  const bodies: ReadonlyArray<[string, ListNode]> = [...parsed.definitions];
  for (const [name, body] of bodies) templates.set(name, compileTemplateBody(body, library));
  const main = templates.get(parsed.name)!;
  return data => {
    const dot = new LabelMap(data);
    const state = newState(parsed, data);
    state.variables = newVariables(main, dot);
    try {
      main.run(state, dot);
    } catch (error) {
      throw error instanceof TemplateError ? error : located(state, error);
    }
    return canonicalText(state.out);
  };
}

/** Any error other than a TemplateError is a defect; the message includes the template. */
function located(state: State, error: unknown): Error {
  return new Error(`template ${state.parseName}: ${state.text.slice(0, 200)}`, { cause: error });
}
