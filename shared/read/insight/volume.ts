/**
 * Computes volumes: the bytes of lines and structured metadata of matching streams, by series
 * (docs/dev/wire-format.md#volumes). It reads indexes and footers, never lines. Delete requests that are not
 * applied yet do not count (docs/dev/wire-format.md#life-of-a-request); expired entries are excluded. A
 * bucket that cuts a run of a stream gets its share of the run by time (stream-runs.ts), as in the reference.
 *
 *     start        k * step      (k+1) * step        end
 *       |------- bucket -|-- bucket --|--- bucket ----|      times: the end of a bucket less 1 ms, and the end itself
 */

import { binaryFirst } from '../../base/model/binary-search.ts';
import { NS_PER_DAY, NS_PER_MS } from '../../base/model/time-units.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { TimeRange } from '../query/day-plan.ts';
import type { VisibleOf } from '../query/visibility.ts';
import type { DayCache } from './day-cache.ts';
import { type DayPart, dayParts, holdsAll } from './day-parts.ts';
import { checkSeries, type VolumeGrouping, type VolumeSeries, volumeQuestion } from './volume-day.ts';

interface VolumeRequest {
  readonly tenants: readonly string[];
  readonly matchers: readonly Matcher[];
  /** Both ends inclusive. */
  readonly range: TimeRange;
  readonly grouping: VolumeGrouping;
  /** Undefined: one bucket for the whole range. */
  readonly stepNs: bigint | undefined;
  readonly maxSeries: number;
  readonly visibleOf: VisibleOf;
  readonly signal: AbortSignal;
}

export interface VolumeOfSeries extends VolumeSeries {
  /**
   * Bytes of each bucket, parallel to the times. Whole bytes, 0 if less than half a byte, NaN if there are
   * none.
   */
  readonly bytes: Float64Array;
  readonly totalBytes: number;
}

export interface Volumes {
  /** Unix ms. */
  readonly timesMs: Float64Array;
  /** Unordered. No series is all zeros and NaN. */
  readonly series: readonly VolumeOfSeries[];
}

/**
 * Step from which on cells of five minutes are fine enough: a 32nd of a bucket, in a fifth of the memory.
 * Days in which the range begins or ends have cells of a minute anyway.
 */
const COARSE_STEP_NS = 160n * 60_000n * NS_PER_MS;
const COARSE_MINUTES = 5;

/**
 * Maximum series times samples of one response, 8 bytes each: more than the default limits allow for the
 * finest step.
 */
const MAX_SAMPLES = 16_000_000;

/** Throws ClientError if there are too many series, errors of the stores, and the signal's reason. */
export async function findVolumes(
  catalog: Catalog,
  cache: DayCache,
  { stepNs, grouping, signal, ...request }: VolumeRequest,
): Promise<Volumes> {
  const range = { startNs: request.range.startNs, endNs: request.range.endNs + 1n };
  const { edgesNs, timesMs } = bucketsOf(request.range, stepNs);
  const maxSeries = Math.min(request.maxSeries, Math.floor(MAX_SAMPLES / timesMs.length));
  const found = new Map<string, { readonly labels: VolumeSeries['labels']; readonly bytes: Float64Array }>();
  const cellMinutes = stepNs !== undefined && stepNs >= COARSE_STEP_NS ? COARSE_MINUTES : 1;
  const ofWholeDay = volumeQuestion(grouping, 0, maxSeries);
  const byCells = volumeQuestion(grouping, cellMinutes, maxSeries);
  const byMinutes = volumeQuestion(grouping, 1, maxSeries);
  const isInOneBucket = (part: DayPart, { edges }: DayBuckets) =>
    edges.length === 2 && holdsAll(part, part.records);
  const questionOf = (part: DayPart) => {
    if (isInOneBucket(part, bucketsOfDay(part, edgesNs))) return ofWholeDay;
    const isCut = part.from > 0 || part.to < Number(NS_PER_DAY);
    return isCut ? byMinutes : byCells;
  };
  const parts = dayParts(catalog, { ...request, range });
  for await (const { part, answers } of cache.answers(parts, questionOf, signal)) {
    const buckets = bucketsOfDay(part, edgesNs);
    const isWhole = isInOneBucket(part, buckets);
    for (const { series, curves } of answers) {
      for (let row = 0; row < series.length; row++) {
        const { text, labels } = series[row];
        let known = found.get(text);
        if (known === undefined) {
          known = { labels, bytes: new Float64Array(timesMs.length) };
          found.set(text, known);
          checkSeries(found.size, maxSeries);
        }
        if (isWhole) known.bytes[buckets.first] += curves.total[row];
        else addBuckets(known.bytes, buckets, (from, to) => curves.between(row, from, to));
      }
    }
  }
  return { timesMs, series: wholeBytes(found) };
}

interface Buckets {
  /** Start of each bucket in Unix ns, followed by the exclusive end of the last. */
  readonly edgesNs: readonly bigint[];
  readonly timesMs: Float64Array;
}

function bucketsOf({ startNs, endNs }: TimeRange, stepNs: bigint | undefined): Buckets {
  const edgesNs = [startNs];
  if (stepNs !== undefined) {
    const beyond = ((startNs % stepNs) + stepNs) % stepNs;
    for (let edge = startNs - beyond + stepNs; edge < endNs; edge += stepNs) edgesNs.push(edge);
  }
  const timesMs = Float64Array.from(edgesNs, (_, i) =>
    Number(i + 1 < edgesNs.length ? edgesNs[i + 1] / NS_PER_MS - 1n : endNs / NS_PER_MS),
  );
  return { edgesNs: [...edgesNs, endNs + 1n], timesMs };
}

/** Buckets that overlap a part of a day. */
interface DayBuckets {
  /** Number of the first bucket. */
  readonly first: number;
  /** Start of each bucket and the end of the last, as time of day in ns, inside the part. */
  readonly edges: readonly number[];
}

function bucketsOfDay({ day, from, to }: DayPart, edgesNs: readonly bigint[]): DayBuckets {
  const dayStartNs = BigInt(day.day) * NS_PER_DAY;
  const fromNs = dayStartNs + BigInt(from);
  const toNs = dayStartNs + BigInt(to);
  const first = binaryFirst(edgesNs.length - 1, i => edgesNs[i + 1] > fromNs);
  const edges = [from];
  for (let i = first + 1; i < edgesNs.length - 1 && edgesNs[i] < toNs; i++) {
    edges.push(Number(edgesNs[i] - dayStartNs));
  }
  edges.push(to);
  return { first, edges };
}

function addBuckets(
  bytes: Float64Array,
  { first, edges }: DayBuckets,
  between: (from: number, to: number) => number,
): void {
  for (let i = 0; i + 1 < edges.length; i++) bytes[first + i] += between(edges[i], edges[i + 1]);
}

/**
 * A bucket with less than this share of its series is empty: the remainder is an error of floating-point
 * sums.
 */
const NOISE = 1e-12;
const MIN_BYTES = 1e-3;

function wholeBytes(found: ReadonlyMap<string, Pick<VolumeOfSeries, 'labels' | 'bytes'>>): VolumeOfSeries[] {
  const series: VolumeOfSeries[] = [];
  for (const [text, { labels, bytes }] of found) {
    const exact = bytes.reduce((sum, value) => sum + value, 0);
    const minBytes = Math.max(MIN_BYTES, exact * NOISE);
    let totalBytes = 0;
    for (let i = 0; i < bytes.length; i++) {
      bytes[i] = bytes[i] < minBytes ? Number.NaN : Math.round(bytes[i]);
      if (bytes[i] > 0) totalBytes += bytes[i];
    }
    if (totalBytes > 0) series.push({ labels, text, bytes, totalBytes });
  }
  return series;
}
