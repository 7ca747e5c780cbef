/** Statistics of labels, structured metadata and fields of loaded lines: number of lines, and values. */
import { parseAnsi } from './ansi.ts';
import { fieldsOf } from './fields.ts';
import type { LogRow } from './rows.ts';

export type FieldType = 'string' | 'int' | 'float' | 'boolean' | 'duration' | 'bytes';

/** Source of a field, as in a condition of the query (logql/edit.ts). */
type FieldSource = 'stream' | 'entry' | 'json' | 'logfmt';

export interface Field {
  readonly name: string;
  readonly source: FieldSource;
  readonly type: FieldType;
  /** Share of the loaded lines that have it, 0 to 1; undefined if only the store found it. */
  readonly coverage: number | undefined;
  /** Minimum number of distinct values. */
  readonly cardinality: number;
}

/** Field that the store found, also in lines that are not loaded. */
export interface FoundField {
  readonly label: string;
  readonly type: FieldType;
  readonly cardinality: number;
  readonly parsers: readonly string[] | null;
}

interface Bucket {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** Maximum number of parsed lines. Parsing takes up to 20 µs per line. */
export const MAX_READ_ROWS = 2000;
const MAX_FIELDS = 500;
/** Matches numbers. A label is numeric if all its values match. */
const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;
const DURATION = /^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/;
const DURATION_PART = /(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)/g;
const SECONDS: Readonly<Record<string, number>> = {
  ns: 1e-9,
  us: 1e-6,
  µs: 1e-6,
  ms: 1e-3,
  s: 1,
  m: 60,
  h: 3600,
};
/** Labels that the pipeline adds. */
const INTERNAL = /^__.*__$|^__error/;

interface FieldTally {
  rows: number;
  readonly values: Set<string>;
  readonly sources: Map<FieldSource, number>;
}

/** Labels, then metadata, then fields of lines. Each group has the most lines first. */
export function fieldsOfRows(rows: readonly LogRow[], found: readonly FoundField[]): readonly Field[] {
  const read = rows.slice(0, MAX_READ_ROWS);
  const counts = new Map<string, FieldTally>();
  for (const row of read) {
    for (const [name, source, value] of namesOf(row)) {
      let count = counts.get(name);
      if (count === undefined) {
        if (counts.size >= MAX_FIELDS) continue;
        count = { rows: 0, values: new Set(), sources: new Map() };
        counts.set(name, count);
      }
      count.rows++;
      count.values.add(value);
      count.sources.set(source, (count.sources.get(source) ?? 0) + 1);
    }
  }
  const known = new Map(found.map(field => [field.label, field]));
  const fields: Field[] = [...counts].map(([name, { rows: lines, values, sources }]) => ({
    name,
    source: [...sources].sort((a, b) => b[1] - a[1])[0][0],
    type: known.get(name)?.type ?? typeOf(values),
    coverage: lines / read.length,
    cardinality: Math.max(values.size, known.get(name)?.cardinality ?? 0),
  }));
  for (const { label, type, cardinality, parsers } of found) {
    if (counts.has(label) || INTERNAL.test(label)) continue;
    const parser = parsers?.find(name => name === 'json' || name === 'logfmt');
    const source: FieldSource = parser === 'json' || parser === 'logfmt' ? parser : 'entry';
    fields.push({ name: label, source, type, coverage: undefined, cardinality });
  }
  const rank = ({ source }: Field) => (source === 'stream' ? 0 : source === 'entry' ? 1 : 2);
  return fields.sort(
    (a, b) => rank(a) - rank(b) || (b.coverage ?? 0) - (a.coverage ?? 0) || (a.name < b.name ? -1 : 1),
  );
}

/** Values of a field in the loaded lines, most frequent first. */
export function valuesOfRows(
  rows: readonly LogRow[],
  name: string,
): readonly { readonly value: string; readonly count: number }[] {
  const counts = new Map<string, number>();
  for (const row of rows.slice(0, MAX_READ_ROWS)) {
    for (const [field, , value] of namesOf(row))
      if (field === name) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  return [...counts]
    .map(([value, count]) => ({ value, count }))
    .sort((a, b) => b.count - a.count || (a.value < b.value ? -1 : 1));
}

/** Fewer lines do not show that a field has a value for each. */
const MIN_UNIQUE_LINES = 100;

/** True for fields such as IDs: most lines have a value that no other line has. */
export function isNearlyUnique(values: readonly { readonly count: number }[]): boolean {
  const lines = values.reduce((sum, { count }) => sum + count, 0);
  return lines >= MIN_UNIQUE_LINES && values.length > lines / 2;
}

/** Histogram of `count` equal buckets; empty if there are fewer than two distinct numbers. */
export function bucketsOf(values: readonly number[], count: number): readonly Bucket[] {
  const numbers = values.filter(value => Number.isFinite(value));
  const least = numbers.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = numbers.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  if (!(most > least)) return [];
  const width = (most - least) / count;
  const counts = new Array<number>(count).fill(0);
  for (const value of numbers) counts[Math.min(count - 1, Math.floor((value - least) / width))]++;
  return counts.map((lines, i) => ({ from: least + i * width, to: least + (i + 1) * width, count: lines }));
}

/** Numeric value as the store computes it: durations in seconds. NaN if it is not a number. */
export function numericValue(value: string, type: FieldType): number {
  if (NUMBER.test(value)) return Number(value);
  if (type !== 'duration' || !DURATION.test(value)) return Number.NaN;
  let seconds = 0;
  for (const [, amount, unit] of value.matchAll(DURATION_PART)) seconds += Number(amount) * SECONDS[unit];
  return seconds;
}

export function isNumericType(type: FieldType): boolean {
  return type !== 'string' && type !== 'boolean';
}

function* namesOf({ stream, metadata, parsed, line }: LogRow): Generator<[string, FieldSource, string]> {
  const seen = new Set<string>();
  for (const [labels, source] of [
    [stream, 'stream'],
    [metadata, 'entry'],
    [parsed, 'entry'],
  ] as const) {
    for (const [name, value] of Object.entries(labels)) {
      if (seen.has(name) || INTERNAL.test(name) || value === '') continue;
      seen.add(name);
      yield [name, source, value];
    }
  }
  const inLine = fieldsOf(parseAnsi(line).text);
  for (const [name, value] of inLine?.fields ?? []) {
    if (seen.has(name) || value === '') continue;
    seen.add(name);
    yield [name, inLine!.parser, value];
  }
}

function typeOf(values: ReadonlySet<string>): FieldType {
  const all = [...values];
  if (all.every(value => /^-?\d+$/.test(value))) return 'int';
  if (all.every(value => NUMBER.test(value))) return 'float';
  if (all.every(value => value === 'true' || value === 'false')) return 'boolean';
  return all.every(value => DURATION.test(value)) ? 'duration' : 'string';
}
