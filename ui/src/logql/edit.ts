/** Query edits by click: adds a condition where it belongs. */
import { quoted, type Token, tokensOf, valueOfString } from './tokens.ts';

export interface FieldCondition {
  readonly name: string;
  readonly value: string;
  readonly op: '=' | '!=';
  /**
   * Source of the value. Stream labels go into the selector; everything else becomes a filter. `json` and
   * `logfmt` are fields that the query has not parsed yet.
   */
  readonly source: 'stream' | 'entry' | 'json' | 'logfmt';
  /**
   * True if the value is a number in the line, so that `=` compares numbers. `!=` never does, because it
   * would drop lines without the field.
   */
  readonly numeric?: boolean;
}

/** Numbers that LogQL and JavaScript parse alike, without sign and exponent. */
const NUMBER = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,3})?$/;

export function isNumeric(value: string): boolean {
  return NUMBER.test(value);
}

/** Adds a condition. Removes an opposite condition of the same name and value instead of contradicting it. */
export function withCondition(query: string, condition: FieldCondition): string {
  const { name, value, op, source, numeric = false } = condition;
  if (source === 'stream') return withMatcher(query, condition);
  const parser = source === 'entry' || hasStage(query, source) ? '' : ` | ${source}`;
  const written = numeric && isNumeric(value) ? value : quoted(value);
  const only = `| ${name}=${written}`;
  const without = `| ${name}!=${quoted(value)}`;
  const [filter, opposite] = op === '=' ? [only, without] : [without, only];
  if (hasText(query, filter)) return query;
  if (hasText(query, opposite)) return query.replace(opposite, () => filter);
  const at = endOfPipeline(query);
  const before = query.slice(0, at).trimEnd();
  const after = query.slice(at);
  return `${before}${parser} ${filter}${after === '' ? '' : ` ${after.trimStart()}`}`;
}

/** Adds a pattern filter at the end of the pipeline: `|>` keeps matching lines, `!>` all others. */
export function withPatternFilter(query: string, pattern: string, op: '|>' | '!>'): string {
  const text = pattern.includes('"') && !pattern.includes('`') ? `\`${pattern}\`` : quoted(pattern);
  if (query.includes(`${op} ${text}`)) return query;
  const at = endOfPipeline(query);
  const after = query.slice(at);
  return `${query.slice(0, at).trimEnd()} ${op} ${text}${after === '' ? '' : ` ${after.trimStart()}`}`;
}

/** First selector of the query; undefined if there is none. */
export function selectorOf(query: string): string | undefined {
  const tokens = tokensOf(query);
  const open = tokens.find(({ text }) => text === '{');
  const close = tokens.find(({ text, from }) => text === '}' && open !== undefined && from > open.from);
  return open === undefined || close === undefined ? undefined : query.slice(open.from, close.to);
}

/** Selector that matches exactly one stream. */
export function selectorOfStream(labels: Readonly<Record<string, string>>): string {
  const matchers = Object.entries(labels).map(([name, value]) => `${name}=${quoted(value)}`);
  return `{${matchers.join(', ')}}`;
}

function withMatcher(query: string, { name, value, op }: FieldCondition): string {
  const tokens = tokensOf(query);
  const open = tokens.findIndex(({ text }) => text === '{');
  const close = tokens.findIndex(({ text }, i) => text === '}' && i > open);
  if (open === -1 || close === -1) return `{${name}${op}${quoted(value)}} ${query}`.trimEnd();
  const matchers: string[] = [];
  let selects = op === '=';
  // A matcher consists of a name, an operator and a string.
  for (let i = open + 1; i + 2 < close; i++) {
    const [label, operator, text] = tokens.slice(i, i + 3);
    if (label.kind !== 'word' || text.kind !== 'string') continue;
    const same = label.text === name && valueOfString(text) === value && isEquality(operator);
    // A label has one value, so a new `=` replaces an existing `=`.
    const gives = same || (op === '=' && label.text === name && operator.text === '=');
    if (gives) continue;
    matchers.push(query.slice(label.from, text.to));
    selects ||= !operator.text.startsWith('!');
  }
  // A selector needs at least one positive matcher.
  if (!selects) matchers.push(`${name}=~".+"`);
  matchers.push(`${name}${op}${quoted(value)}`);
  return `${query.slice(0, tokens[open].to)}${matchers.join(', ')}${query.slice(tokens[close].from)}`;
}

function isEquality({ text }: Token): boolean {
  return text === '=' || text === '!=';
}

/** True if the query has the whole filter: `| a=5` is not in `| a=50`. */
function hasText(query: string, filter: string): boolean {
  const at = query.indexOf(filter);
  return at !== -1 && !/^[\w.]/.test(query.slice(at + filter.length));
}

export function hasStage(query: string, stage: string): boolean {
  const tokens = tokensOf(query);
  return tokens.some(({ text }, i) => text === stage && tokens[i - 1]?.text === '|');
}

/** End of the first pipeline: before the range in a metric query, else at the end of the query. */
function endOfPipeline(query: string): number {
  const tokens = tokensOf(query);
  const range = tokens.find(({ text }) => text === '[');
  if (range !== undefined) return range.from;
  const last = tokens.findLast(({ kind }) => kind !== 'comment');
  return last === undefined ? query.length : last.to;
}
