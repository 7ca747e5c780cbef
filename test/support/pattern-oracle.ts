/**
 * `| pattern` and filters on its captures, plainly, on single lines (docs/dev/logql-semantics.md#pattern). Lines and values are latin1
 * texts: each character is a byte.
 */
import { captureTexts } from './pattern-captures.ts';

type Values = ReadonlyMap<string, string>;

export interface OracleEntry {
  readonly line: string;
  readonly stream: Values;
  readonly metadata: Values;
}

export type CaptureFilter =
  | { readonly op: '=' | '!='; readonly name: string; readonly value: string }
  /** `value` is a regular expression that JavaScript reads as RE2 does. */
  | { readonly op: '=~' | '!~'; readonly name: string; readonly value: string }
  | { readonly op: '==' | '>' | '>=' | '<' | '<='; readonly name: string; readonly value: number }
  | { readonly op: 'no error' };

export interface OracleQuery {
  readonly lineFilters: readonly { readonly op: '|=' | '!='; readonly text: string }[];
  readonly patterns: readonly string[];
  readonly filters: readonly CaptureFilter[];
}

export interface PassedEntry {
  readonly labels: Values;
  readonly isFailed: boolean;
}

/** Captures that are set, in the order of the pattern. */
export function capturesOf(pattern: string, line: string): Map<string, string> {
  const set = new Map<string, string>();
  const [lead, ...parts] = pattern.split(/<([a-zA-Z_]\w*)>/);
  const names = parts.filter((_, i) => i % 2 === 0);
  const literals = parts.filter((_, i) => i % 2 === 1);
  // The last capture may have no literal.
  if (literals.at(-1) === '') literals.pop();
  const texts = captureTexts(line, lead, literals);
  for (const [i, name] of names.entries()) if (name !== '_' && i < texts.length) set.set(name, texts[i]);
  return set;
}

/** Returns undefined if the query drops the entry. */
export function passed(query: OracleQuery, { line, stream, metadata }: OracleEntry): PassedEntry | undefined {
  if (!query.lineFilters.every(({ op, text }) => line.includes(text) === (op === '|='))) return undefined;
  const parsed = new Map<string, string>();
  for (const pattern of query.patterns) {
    for (const [name, value] of capturesOf(pattern, line)) {
      const isTaken = stream.has(name) || (metadata.has(name) && !parsed.has(name));
      const target = isTaken ? `${name}_extracted` : name;
      if (!parsed.has(target)) parsed.set(target, value);
    }
  }
  const labels = new Map([...stream, ...metadata, ...parsed]);
  let isFailed = false;
  for (const filter of query.filters) {
    if (filter.op === 'no error') {
      if (isFailed) return undefined;
      continue;
    }
    const value = labels.get(filter.name);
    if (typeof filter.value === 'string') {
      if (!passesText(filter.op, value ?? '', filter.value)) return undefined;
      continue;
    }
    if (value === undefined) return undefined;
    const number = numberOf(value);
    if (number === undefined) isFailed = true;
    else if (!compare(number, filter.op, filter.value)) return undefined;
  }
  return { labels, isFailed };
}

function passesText(op: string, value: string, wanted: string): boolean {
  if (op === '=' || op === '!=') return (value === wanted) === (op === '=');
  return new RegExp(`^(?:${wanted})$`, 's').test(value) === (op === '=~');
}

function compare(value: number, op: string, limit: number): boolean {
  switch (op) {
    case '==':
      return value === limit;
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<':
      return value < limit;
    default:
      return value <= limit;
  }
}

/** Returns the number that Go's ParseFloat reads, or undefined if it refuses the text. */
export function numberOf(text: string): number | undefined {
  if (/^[+-]?(inf|infinity|nan)$/i.test(text))
    return Number(text.replace(/i.*/i, 'Infinity').replace(/nan/i, 'NaN'));
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined;
  const number = Number(text);
  return Number.isFinite(number) ? number : undefined;
}
