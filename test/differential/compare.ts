/** One query to the product and to the oracle, and the difference of their results. */

import { BadRequestError } from '../../shared/base/model/errors.ts';
import type { Labels } from '../../shared/base/model/labels.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { QueryEngine, QueryResult } from '../../shared/read/query/engine.ts';
import { DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { CORPUS_SECONDS, FIRST_SECOND } from './corpus.ts';
import { toBytes } from './oracle/bytes.ts';
import { MatchingFailure } from './oracle/metrics.ts';
import type { Oracle, OracleLine, OraclePoint } from './oracle/oracle.ts';
import { PipelineFailure } from './oracle/range.ts';
import type { SeriesLabels } from './oracle/series.ts';

/** Parameters of a query in addition to its text. */
export interface Asking {
  readonly instant: boolean;
  /** Seconds of the day. */
  readonly startS: number;
  readonly endS: number;
  readonly stepS: number;
  readonly limit: number;
  readonly backward: boolean;
  readonly categorize: boolean;
}

/** The whole corpus and a little more. */
export const WHOLE: Asking = {
  instant: false,
  startS: FIRST_SECOND - 600,
  endS: FIRST_SECOND + CORPUS_SECONDS + 600,
  stepS: 600,
  limit: 5_000,
  backward: true,
  categorize: true,
};

const ns = (seconds: number) => DAY_START_NS + BigInt(seconds) * NS_PER_SECOND;

/** Result of the oracle, prepared for many comparisons. */
export type Expected =
  | { readonly kind: 'failure'; readonly message: string }
  | { readonly kind: 'lines'; readonly lines: readonly OracleLine[] }
  | { readonly kind: 'points'; readonly points: readonly OraclePoint[]; readonly isSorted: boolean };

/** Throws Undecided. */
export function expectedOf(oracle: Oracle, text: string, asking: Asking): Expected {
  const expr = parseQuery(text);
  try {
    if (expr.kind === 'log')
      return { kind: 'lines', lines: oracle.lines(expr, ns(asking.startS), ns(asking.endS)) };
    const instants: bigint[] = [];
    if (asking.instant) instants.push(ns(asking.endS));
    else for (let at = asking.startS; at <= asking.endS; at += asking.stepS) instants.push(ns(at));
    const isSorted = asking.instant && expr.kind === 'vectorAggregation' && expr.op.startsWith('sort');
    return { kind: 'points', points: oracle.points(expr, instants), isSorted };
  } catch (error) {
    if (!(error instanceof PipelineFailure || error instanceof MatchingFailure)) throw error;
    return { kind: 'failure', message: error.message };
  }
}

/** Resolves to undefined if the product agrees, otherwise to a description of the difference. */
export async function difference(
  engine: QueryEngine,
  text: string,
  asking: Asking,
  expected: Expected,
): Promise<string | undefined> {
  let result: QueryResult;
  try {
    result = await answerOf(engine, text, asking);
  } catch (error) {
    // Which of several failures is met first is a matter of the order of evaluation.
    if (expected.kind === 'failure' && error instanceof BadRequestError) return undefined;
    return `product fails: ${String(error).split('\n')[0]}\noracle: ${summaryOf(expected)}`;
  }
  switch (expected.kind) {
    case 'failure':
      return `oracle fails: ${expected.message}\nproduct: ${JSON.stringify(result.kind)}`;
    case 'lines':
      return differenceOfLines(result, expected.lines, asking);
    case 'points':
      return differenceOfPoints(result, expected.points, expected.isSorted);
  }
}

function summaryOf(expected: Expected): string {
  if (expected.kind === 'lines') return `${expected.lines.length} lines`;
  return expected.kind === 'points' ? `${expected.points.length} points` : `fails: ${expected.message}`;
}

async function answerOf(engine: QueryEngine, text: string, asking: Asking): Promise<QueryResult> {
  const limits = { ...requester().limits, maxEntriesLimitPerQuery: 0, maxQuerySeries: 1_000_000 };
  const query = rangeQuery(text, {
    startNs: ns(asking.startS),
    endNs: ns(asking.endS),
    stepNs: BigInt(asking.stepS) * NS_PER_SECOND,
    limit: asking.limit,
    backward: asking.backward,
    categorize: asking.categorize,
  });
  if (!asking.instant || query.expr.kind === 'log')
    return (await engine.range(query, requester({ limits }))).result;
  return (await engine.instant({ text, expr: query.expr, timeNs: query.endNs }, requester({ limits })))
    .result;
}

// Lines.

interface Timed {
  readonly timeNs: bigint;
}

interface ShownLine extends Timed {
  readonly key: string;
}

function differenceOfLines(
  result: QueryResult,
  lines: readonly OracleLine[],
  { limit, backward, categorize }: Asking,
): string | undefined {
  if (result.kind !== 'streams') return `a ${result.kind} instead of streams`;
  const isBefore = (a: Timed, b: Timed) => (backward ? a.timeNs > b.timeNs : a.timeNs < b.timeNs);
  for (const { entries } of result.streams) {
    const index = entries.findIndex((entry, i) => i > 0 && isBefore(entry, entries[i - 1]));
    if (index > 0) return `order: entry ${index} of a stream is ${entries[index].timeNs - DAY_START_NS}`;
  }
  const got: ShownLine[] = result.streams.flatMap(({ labels, entries }) =>
    entries.map(({ timeNs, line, structuredMetadata, parsed }) => ({
      timeNs,
      key: keyOfLine(timeNs, toBytes(line), [labels, structuredMetadata, parsed].map(textOfLabels)),
    })),
  );
  const all = lines.map(({ timeNs, line, stream, metadata, parsed }) => {
    const lists = categorize ? [stream, metadata, parsed] : [new Map([...stream, ...metadata, ...parsed])];
    return { timeNs, key: keyOfLine(timeNs, line, lists.map(textOfMap)) };
  });
  const order = all.toSorted((a, b) => Number(isBefore(b, a)) - Number(isBefore(a, b)));
  // Which entries of the last time are among the first is not the oracle's to say, only how many.
  const last = order[limit - 1];
  const isCut = all.length > limit;
  const sure = isCut ? order.filter(one => isBefore(one, last)) : order;
  const possible = isCut ? order.filter(({ timeNs }) => timeNs === last.timeNs) : [];
  const missing = subtract(sure, got);
  const extra = subtract(got, [...sure, ...possible]);
  const wanted = Math.min(limit, all.length);
  if (missing.length === 0 && extra.length === 0 && got.length === wanted) return undefined;
  return [
    `product has ${got.length} lines, oracle ${wanted}`,
    ...missing.slice(0, 3).map(({ key }) => `missing: ${key}`),
    ...extra.slice(0, 3).map(({ key }) => `extra:   ${key}`),
  ].join('\n');
}

function keyOfLine(timeNs: bigint, line: string, labels: readonly string[]): string {
  const text = labels.filter(list => list !== '{}').join(' + ');
  const shown = line.length > 300 ? `${line.slice(0, 300)}...(${line.length} bytes)` : line;
  return `${timeNs - DAY_START_NS} ${JSON.stringify(shown)} ${text}`;
}

function textOfLabels(labels: Labels | undefined): string {
  return textOfMap(new Map((labels ?? []).map(({ name, value }) => [toBytes(name), toBytes(value)])));
}

function textOfMap(labels: SeriesLabels): string {
  return JSON.stringify(Object.fromEntries([...labels].sort(([a], [b]) => (a < b ? -1 : 1))));
}

/** Multiset difference: lines of `a` that are not in `b`. */
function subtract(a: readonly ShownLine[], b: readonly ShownLine[]): ShownLine[] {
  const left = new Map<string, number>();
  for (const { key } of b) left.set(key, (left.get(key) ?? 0) + 1);
  return a.filter(({ key }) => {
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}

// Points.

interface Point {
  readonly key: string;
  readonly value: number;
}

function differenceOfPoints(
  result: QueryResult,
  points: readonly OraclePoint[],
  isSorted: boolean,
): string | undefined {
  const got = pointsOf(result);
  if (got === undefined) return `${result.kind} instead of points`;
  const want = points.map(({ timeMs, labels, value }) => ({ key: `${timeMs} ${textOfMap(labels)}`, value }));
  const byKey = (list: readonly Point[]) => {
    const groups = new Map<string, number[]>();
    for (const { key, value } of list) groups.set(key, [...(groups.get(key) ?? []), value]);
    for (const values of groups.values()) values.sort(byValue);
    return groups;
  };
  const [gotByKey, wantByKey] = [byKey(got), byKey(want)];
  const lines: string[] = [];
  for (const key of new Set([...gotByKey.keys(), ...wantByKey.keys()])) {
    const [a, b] = [gotByKey.get(key) ?? [], wantByKey.get(key) ?? []];
    if (a.length !== b.length || a.some((value, i) => !isClose(value, b[i]))) {
      lines.push(`${key}: product ${JSON.stringify(a.map(String))}, oracle ${JSON.stringify(b.map(String))}`);
    }
  }
  if (lines.length > 0) return [`${lines.length} points differ`, ...lines.slice(0, 4)].join('\n');
  if (isSorted && got.some(({ value }, i) => !isClose(value, want[i].value))) {
    return `order: product ${got.map(({ value }) => value).join()}, oracle ${want.map(({ value }) => value).join()}`;
  }
  return undefined;
}

function pointsOf(result: QueryResult): Point[] | undefined {
  const key = (timeMs: number, labels: Labels) => `${timeMs} ${textOfLabels(labels)}`;
  switch (result.kind) {
    case 'streams':
      return undefined;
    case 'scalar':
      return [{ key: key(result.timeMs, []), value: result.value }];
    case 'vector':
      return result.samples.map(({ labels, value }) => ({ key: key(result.timeMs, labels), value }));
    case 'matrix':
      return result.series.flatMap(({ labels, timesMs, values }) =>
        Array.from(values, (value, i) => ({ key: key(timesMs[i], labels), value })),
      );
  }
}

function byValue(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a === b ? 0 : a - b;
}

/** Sums in another order differ in their last digits, and differences of large numbers by more. */
function isClose(a: number, b: number): boolean {
  if (Object.is(a, b) || a === b) return true;
  return Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b), 1e-3);
}
