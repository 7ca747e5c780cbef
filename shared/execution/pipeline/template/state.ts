/**
 * State of one render: output, budget, and the node in evaluation. Error messages show the node that was last
 * evaluated, which is not always the requested one.
 */
import { quote } from '../../../base/model/quote.ts';
import { CHARACTERS_PER_STEP, MAX_OUTPUT_LENGTH, MAX_RENDER_DEPTH, MAX_RENDER_STEPS } from './bounds.ts';
import { OUTPUT_TOO_LONG, TemplateError, TOO_MANY_STEPS } from './error.ts';
import { type AnyNode, nodeText } from './nodes.ts';
import { LabelMap, type LabelSource, type Value } from './values.ts';

/** Values of one line, as the pipeline passes them to a render. */
export interface TemplateData extends LabelSource {
  line(): string;
  /** Unix time of the entry, ns. */
  readonly timestampNs: bigint;
  readonly clock: { nowNs(): bigint };
}

/** Steps for counting or printing a label map, about 30 labels. */
const LABEL_MAP_STEPS = 30;

export interface State {
  readonly data: TemplateData;
  /** Name of the template as parsed (`line`), and its text, to which positions refer. */
  readonly parseName: string;
  readonly text: string;
  /** Name of the running template: another one inside `{{template "x"}}`. */
  templateName: string;
  out: string;
  node: AnyNode;
  /** Variables of the running template by slot; `$` is the first. */
  variables: Value[];
  steps: number;
  depth: number;
}

/** Fails at the current node with Go's text. */
export function fail(state: State, message: string): never {
  const { node, parseName, text } = state;
  const before = text.slice(0, node.pos);
  const line = 1 + (before.match(/\n/g)?.length ?? 0);
  const column = Buffer.byteLength(before.slice(before.lastIndexOf('\n') + 1));
  throw new TemplateError(
    `template: ${parseName}:${line}:${column}: executing ${quote(state.templateName)} at <${nodeText(node)}>: ${message}`,
  );
}

/** Charges work to the render's budget. */
export function spend(state: State, steps: number): void {
  state.steps += steps;
  if (state.steps > MAX_RENDER_STEPS) fail(state, TOO_MANY_STEPS);
}

/** Charges a value that a function reads or returns, and bounds its text. */
export function spendValue(state: State, value: Value, weight: number): void {
  if (typeof value !== 'string') {
    if (value instanceof Map) spend(state, value.size);
    else if (Array.isArray(value)) spend(state, value.length);
    else if (value instanceof LabelMap) spend(state, LABEL_MAP_STEPS);
    return;
  }
  if (value.length > MAX_OUTPUT_LENGTH) fail(state, OUTPUT_TOO_LONG);
  if (value.length >= CHARACTERS_PER_STEP) spend(state, (value.length / CHARACTERS_PER_STEP) * weight);
}

export function write(state: State, text: string): void {
  state.out += text;
  if (state.out.length > MAX_OUTPUT_LENGTH) fail(state, OUTPUT_TOO_LONG);
}

/** Enters a block, a parenthesis or a template. The caller decrements `depth` when it leaves. */
export function descend(state: State): void {
  spend(state, 1);
  if (++state.depth > MAX_RENDER_DEPTH) {
    fail(state, `exceeded maximum template depth (${MAX_RENDER_DEPTH})`);
  }
}
