/** Completion context at the cursor, derived from the tokens before it. */
import { type Token, tokensOf } from './tokens.ts';

export type CursorContext =
  /** Label name in a selector. `selector` has the other matchers, if any. */
  | { readonly kind: 'label'; readonly from: number; readonly selector: string | undefined }
  /** Inside the string of a matcher; `from` is after the quote. */
  | {
      readonly kind: 'value';
      readonly from: number;
      readonly label: string;
      readonly selector: string | undefined;
      readonly quote: string;
    }
  /** After a pipe: a stage, or a field to filter by. */
  | { readonly kind: 'stage'; readonly from: number; readonly selector: string | undefined }
  /** Only a field name: in `by (...)`, after `unwrap`, `keep`, `drop`, `and`, `or`. */
  | { readonly kind: 'field'; readonly from: number; readonly selector: string | undefined }
  /** Function, aggregation or selector. */
  | { readonly kind: 'expression'; readonly from: number }
  /** After a selector or a stage: a pipe or a line filter. */
  | { readonly kind: 'pipe'; readonly from: number }
  | { readonly kind: 'range'; readonly from: number }
  | { readonly kind: 'none' };

const NONE: CursorContext = { kind: 'none' };
const TAKES_FIELD = new Set(['unwrap', 'keep', 'drop', 'and', 'or', 'by', 'without', 'on', 'ignoring']);
const MATCHES = new Set(['=', '!=', '=~', '!~']);
const OPERATORS = new Set(['+', '-', '*', '/', '%', '^', '==', '>', '<', '>=', '<=']);

export function contextAt(query: string, cursor: number): CursorContext {
  const tokens = tokensOf(query.slice(0, cursor)).filter(({ kind }) => kind !== 'comment');
  const last = tokens.at(-1);
  // A comment reaches the cursor.
  if (/#[^\n"`]*$/.test(query.slice(0, cursor)) && (last === undefined || last.to < cursor)) {
    const line = query.slice(query.lastIndexOf('\n', cursor - 1) + 1, cursor);
    if (line.trimStart().startsWith('#')) return NONE;
  }
  const open = openOf(tokens);
  const selector = lastSelector(query, cursor);
  if (last === undefined) return { kind: 'expression', from: cursor };

  if (last.kind === 'open-string') {
    const [label, operator] = [tokens.at(-3), tokens.at(-2)];
    if (open?.text !== '{' || label?.kind !== 'word' || operator === undefined || !MATCHES.has(operator.text))
      return NONE;
    return {
      kind: 'value',
      from: last.from + 1,
      label: label.text,
      selector: othersIn(query, open, label.from),
      quote: last.text[0],
    };
  }

  const isTyping = last.kind === 'word' && last.to === cursor;
  const before = isTyping ? tokens.at(-2) : last;
  const from = isTyping ? last.from : cursor;
  if (last.kind === 'number' && last.to === cursor && open?.text !== '[') return NONE;
  if (open?.text === '[') return { kind: 'range', from: open.to };
  if (open?.text === '{') {
    return before === open || before?.text === ','
      ? { kind: 'label', from, selector: othersIn(query, open, from) }
      : NONE;
  }
  if (before === undefined) return { kind: 'expression', from };
  if (before.text === '|') return { kind: 'stage', from, selector };
  if (open !== undefined && isGrouping(tokens, open) && (before === open || before.text === ',')) {
    return { kind: 'field', from, selector: selector ?? selectorAfter(query, cursor) };
  }
  if (before.kind === 'word' && TAKES_FIELD.has(before.text)) {
    return before.text === 'or' &&
      tokens.at(isTyping ? -3 : -2)?.kind === 'string' &&
      !isInLabelFilter(tokens)
      ? NONE
      : { kind: 'field', from, selector };
  }
  if (before.text === '(' || before.text === ',' || OPERATORS.has(before.text))
    return { kind: 'expression', from };
  const ends = before.text === '}' || before.kind === 'string' || before.kind === 'word';
  if (ends && !isTyping && selector !== undefined && before.to < cursor) return { kind: 'pipe', from };
  return NONE;
}

/** Innermost bracket that is open at the end. */
function openOf(tokens: readonly Token[]): Token | undefined {
  const open: Token[] = [];
  for (const token of tokens) {
    if (token.kind !== 'mark') continue;
    if ('{(['.includes(token.text)) open.push(token);
    else if ('})]'.includes(token.text)) open.pop();
  }
  return open.at(-1);
}

function isGrouping(tokens: readonly Token[], open: Token): boolean {
  const word = tokens[tokens.indexOf(open) - 1]?.text;
  return (
    word !== undefined && ['by', 'without', 'on', 'ignoring', 'group_left', 'group_right'].includes(word)
  );
}

/** True in a label filter: `| a="x" or` continues with a field, `|= "x" or` with a text. */
function isInLabelFilter(tokens: readonly Token[]): boolean {
  const start = tokens.findLast(({ text }) => /^(?:\||\|=|\|~|!=|!~|\|>|!>)$/.test(text));
  return start?.text === '|';
}

/** Complete matchers of an open selector, except the one that begins at `editedFrom`. */
function othersIn(query: string, open: Token, editedFrom: number): string | undefined {
  const tokens = tokensOf(query).filter(({ from }) => from > open.from);
  const matchers: string[] = [];
  for (let i = 0; i + 2 < tokens.length && tokens[i].text !== '}'; i++) {
    const [label, operator, value] = tokens.slice(i, i + 3);
    if (label.kind !== 'word' || !MATCHES.has(operator.text) || value.kind !== 'string') continue;
    if (label.from !== editedFrom) matchers.push(query.slice(label.from, value.to));
  }
  return matchers.length === 0 ? undefined : `{${matchers.join(', ')}}`;
}

/** Last complete selector before the cursor. */
function lastSelector(query: string, cursor: number): string | undefined {
  const tokens = tokensOf(query.slice(0, cursor));
  const close = tokens.findLastIndex(({ text }) => text === '}');
  const open = tokens.findLastIndex(({ text }, i) => text === '{' && i < close);
  return open === -1 || close === -1 ? undefined : query.slice(tokens[open].from, tokens[close].to);
}

/** Selector after the cursor: `sum by (|) (rate({...}[1m]))`. */
function selectorAfter(query: string, cursor: number): string | undefined {
  const tokens = tokensOf(query).filter(({ from }) => from >= cursor);
  const open = tokens.find(({ text }) => text === '{');
  const close = tokens.find(({ text }) => text === '}');
  return open === undefined || close === undefined ? undefined : query.slice(open.from, close.to);
}
