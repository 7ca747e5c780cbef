/** Changes to a query that a click makes: one more condition, in the place where it belongs. */
import { quoted, type Token, tokensOf, valueOfString } from './tokens.ts';

export interface Condition {
  readonly name: string;
  readonly value: string;
  readonly op: '=' | '!=';
  /**
   * Labels of the stream go into the selector; what lies beside or in the line becomes a filter. `json` and `logfmt` are fields
   * that the query has not parsed yet.
   */
  readonly place: 'stream' | 'entry' | 'json' | 'logfmt';
  /** The value is a number in the line: `=` compares numbers. `!=` never does, because it would drop lines without the field. */
  readonly numeric?: boolean;
}

/** Numbers that LogQL and JavaScript read alike, without a sign or an exponent. */
const NUMBER = /^(?:0|[1-9]\d{0,11})(?:\.\d{1,3})?$/;

export function isNumeric(value: string): boolean {
  return NUMBER.test(value);
}

/** The query with the condition. An opposite one of the same name and value is taken away instead of contradicting it. */
export function withCondition(query: string, condition: Condition): string {
  const { name, value, op, place, numeric = false } = condition;
  if (place === 'stream') return withMatcher(query, condition);
  const parser = place === 'entry' || hasStage(query, place) ? '' : ` | ${place}`;
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

/** The query with a line filter at the end of its pipeline. */
export function withLineFilter(query: string, text: string): string {
  const at = endOfPipeline(query);
  const after = query.slice(at);
  return `${query.slice(0, at).trimEnd()} |= ${quoted(text)}${after === '' ? '' : ` ${after.trimStart()}`}`;
}

/** The query with a filter for lines of a pattern (`|>`), or for all others (`!>`), at the end of its pipeline. */
export function withPatternFilter(query: string, pattern: string, op: '|>' | '!>'): string {
  const text = pattern.includes('"') && !pattern.includes('`') ? `\`${pattern}\`` : quoted(pattern);
  if (query.includes(`${op} ${text}`)) return query;
  const at = endOfPipeline(query);
  const after = query.slice(at);
  return `${query.slice(0, at).trimEnd()} ${op} ${text}${after === '' ? '' : ` ${after.trimStart()}`}`;
}

/** The first selector of the query; undefined where there is none. */
export function selectorOf(query: string): string | undefined {
  const tokens = tokensOf(query);
  const open = tokens.find(({ text }) => text === '{');
  const close = tokens.find(({ text, from }) => text === '}' && open !== undefined && from > open.from);
  return open === undefined || close === undefined ? undefined : query.slice(open.from, close.to);
}

/** A selector that takes one stream alone. */
export function selectorOfStream(labels: Readonly<Record<string, string>>): string {
  const matchers = Object.entries(labels).map(([name, value]) => `${name}=${quoted(value)}`);
  return `{${matchers.join(', ')}}`;
}

function withMatcher(query: string, { name, value, op }: Condition): string {
  const tokens = tokensOf(query);
  const open = tokens.findIndex(({ text }) => text === '{');
  const close = tokens.findIndex(({ text }, i) => text === '}' && i > open);
  if (open === -1 || close === -1) return `{${name}${op}${quoted(value)}} ${query}`.trimEnd();
  const matchers: string[] = [];
  let selects = op === '=';
  // A matcher is a name, an operator, a string.
  for (let i = open + 1; i + 2 < close; i++) {
    const [label, operator, text] = tokens.slice(i, i + 3);
    if (label.kind !== 'word' || text.kind !== 'string') continue;
    const same = label.text === name && valueOfString(text) === value && isEquality(operator);
    // One label has one value: `=` gives way to another `=`.
    const gives = same || (op === '=' && label.text === name && operator.text === '=');
    if (gives) continue;
    matchers.push(query.slice(label.from, text.to));
    selects ||= !operator.text.startsWith('!');
  }
  // A selector has to say what it wants, not only what it does not want.
  if (!selects) matchers.push(`${name}=~".+"`);
  matchers.push(`${name}${op}${quoted(value)}`);
  return `${query.slice(0, tokens[open].to)}${matchers.join(', ')}${query.slice(tokens[close].from)}`;
}

function isEquality({ text }: Token): boolean {
  return text === '=' || text === '!=';
}

/** Whether the filter is in the query as a whole: `| a=5` is not in `| a=50`. */
function hasText(query: string, filter: string): boolean {
  const at = query.indexOf(filter);
  return at !== -1 && !/^[\w.]/.test(query.slice(at + filter.length));
}

export function hasStage(query: string, stage: string): boolean {
  const tokens = tokensOf(query);
  return tokens.some(({ text }, i) => text === stage && tokens[i - 1]?.text === '|');
}

/** Where the first pipeline ends: before its range in a metric query, at the end of the query otherwise. */
function endOfPipeline(query: string): number {
  const tokens = tokensOf(query);
  const range = tokens.find(({ text }) => text === '[');
  if (range !== undefined) return range.from;
  const last = tokens.findLast(({ kind }) => kind !== 'comment');
  return last === undefined ? query.length : last.to;
}
