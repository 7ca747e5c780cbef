/**
 * Stream selector as chosen values by label. `{a="x", b=~"y|z"}` has the value x of a, and y and z of b.
 * Other matchers (`c!="x"`, `d=~"y.*"`) are kept as written.
 */
import { quoted, tokensOf, valueOfString } from './tokens.ts';

export interface ChosenLabels {
  /** Values by label, in the order of choice; no list is empty. */
  readonly values: ReadonlyMap<string, readonly string[]>;
  readonly others: readonly string[];
}

export const NOTHING_CHOSEN: ChosenLabels = { values: new Map(), others: [] };

/** Selection of the first selector of a query, which may be incomplete. */
export function selectionOf(query: string): ChosenLabels {
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  const open = tokens.findIndex(({ text }) => text === '{');
  if (open === -1) return NOTHING_CHOSEN;
  const values = new Map<string, readonly string[]>();
  const others: string[] = [];
  for (let i = open + 1; i + 2 < tokens.length && tokens[i].text !== '}'; i++) {
    const [label, operator, text] = tokens.slice(i, i + 3);
    if (label.kind !== 'word' || operator.kind !== 'mark' || text.kind !== 'string') continue;
    const value = valueOfString(text);
    const chosen = value === undefined ? undefined : chosenBy(operator.text, value);
    // Two matchers of one label must both hold, which a list of values cannot express.
    if (chosen === undefined || values.has(label.text)) others.push(query.slice(label.from, text.to));
    else values.set(label.text, chosen);
    i += 2;
  }
  return { values, others };
}

export function selectorText({ values, others }: ChosenLabels): string {
  const matchers = [...values].map(([label, chosen]) =>
    chosen.length === 1
      ? `${label}=${quoted(chosen[0])}`
      : `${label}=~${quoted(chosen.map(escapeExpression).join('|'))}`,
  );
  return `{${[...matchers, ...others].join(', ')}}`;
}

/** Replaces the first selector of a query. */
export function withSelector(query: string, selector: string): string {
  const span = spanOf(query);
  return span === undefined ? selector : `${query.slice(0, span.from)}${selector}${query.slice(span.to)}`;
}

/** Text after the first selector. */
export function restOf(query: string): string {
  const span = spanOf(query);
  return span === undefined ? '' : query.slice(span.to).trim();
}

function spanOf(query: string): { readonly from: number; readonly to: number } | undefined {
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  const open = tokens.find(({ text }) => text === '{');
  const close = tokens.find(({ text, from }) => text === '}' && open !== undefined && from > open.from);
  return open === undefined || close === undefined ? undefined : { from: open.from, to: close.to };
}

/** Adds the value, or removes it if it was chosen. */
export function toggled(selection: ChosenLabels, label: string, value: string): ChosenLabels {
  const before = selection.values.get(label) ?? [];
  const after = before.includes(value) ? before.filter(known => known !== value) : [...before, value];
  const values = new Map(selection.values);
  if (after.length === 0) values.delete(label);
  else values.set(label, after);
  return { ...selection, values };
}

export function withoutLabel(selection: ChosenLabels, label: string): ChosenLabels {
  const values = new Map(selection.values);
  values.delete(label);
  return { ...selection, values };
}

export function withoutOther({ values, others }: ChosenLabels, matcher: string): ChosenLabels {
  return { values, others: others.filter(known => known !== matcher) };
}

export function isEmptySelection({ values, others }: ChosenLabels): boolean {
  return values.size === 0 && others.length === 0;
}

function chosenBy(operator: string, value: string): readonly string[] | undefined {
  // `a=""` matches streams without a.
  if (operator === '=') return value === '' ? undefined : [value];
  return operator === '=~' ? alternativesOf(value) : undefined;
}

/** Alternatives of a regular expression that only lists texts; undefined for any other expression. */
function alternativesOf(expression: string): readonly string[] | undefined {
  const found: string[] = [];
  let text = '';
  for (let i = 0; i <= expression.length; i++) {
    const character = expression[i];
    if (character === undefined || character === '|') {
      if (text === '' || found.includes(text)) return undefined;
      found.push(text);
      text = '';
    } else if (character === '\\') {
      i++;
      // A backslash before a letter or digit is a class, not a character.
      if (expression[i] === undefined || /[A-Za-z0-9]/.test(expression[i])) return undefined;
      text += expression[i];
    } else if (/[\^$.*+?()[\]{}]/.test(character)) return undefined;
    else text += character;
  }
  return found;
}

function escapeExpression(value: string): string {
  return value.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
