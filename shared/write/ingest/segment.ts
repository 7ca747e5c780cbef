/**
 * Converts accepted pushes of one tenant to sorted rows for the chunk writer, one or more sets per UTC day.
 * Entries that were pushed twice (same stream, timestamp, line and metadata) become one row.
 *
 * All work runs in steps, and rows are created for one part of a day at a time. The part bounds the memory
 * that a push of a million entries needs in addition to its columns. Usual pushes are one part.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import type { Steps } from '../../base/model/steps.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import { PairInterner, PushNumbers } from './pair-interner.ts';
import type { AcceptedPush } from './push-columns.ts';
import { withoutDuplicates } from './segment-duplicates.ts';
import { type SortedDay, sortDay, streamsOf } from './sort-day.ts';
import { type Refs, type SortedRows, selectRows } from './sorted-rows.ts';

export interface DayRows {
  /** UTC day since 1970-01-01. */
  readonly day: number;
  readonly rows: ChunkRows;
  /** Number of entries that were dropped as duplicates of a row. */
  readonly duplicates: number;
}

/** Maximum pushes of one group: `Refs` and the rows' sources number them in 16 bits. */
export const MAX_GROUPED_PUSHES = 4096;

/** Entries per step: 0.2 ms. */
const ENTRIES_A_STEP = 16_384;

export interface PartLimits {
  readonly rows: number;
  readonly lineBytes: number;
  readonly streams: number;
  readonly pairs: number;
  /** Maximum different metadata values. */
  readonly values: number;
}

/**
 * Limits of one part: 30 MB of arrays and objects, and a chunk that can be read at once. A group of pushes
 * has 4 MiB of bodies, so it is rarely split.
 */
const PART_LIMITS: PartLimits = {
  rows: 262_144,
  lineBytes: 16 * 1024 * 1024,
  streams: 4096,
  pairs: 1_048_576,
  values: 131_072,
};

/**
 * Yields the rows of each day that the pushes contain, days ascending, rows by stream and time. Yields
 * undefined between steps.
 *
 * Shared tables are created once for all days. A push may contain a hundred thousand streams, or entries of
 * thousands of days, and the work must not grow with their product.
 */
export function* segmentsOf(
  pushes: readonly AcceptedPush[],
  limits: PartLimits = PART_LIMITS,
): Generator<DayRows | undefined, void, undefined> {
  const counts = new Map<number, number>();
  let total = 0;
  for (const { columns, entries } of pushes) {
    total += entries.length;
    yield* countDays(columns.day, entries, counts);
  }
  const days = [...counts.keys()].sort((a, b) => a - b);
  const indexOfDay = new Map(days.map((day, i) => [day, i]));
  const starts = new Uint32Array(days.length + 1);
  for (let i = 0; i < days.length; i++) starts[i + 1] = starts[i] + counts.get(days[i])!;
  const next = starts.slice();
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  for (let p = 0; p < pushes.length; p++) {
    const { columns, entries } = pushes[p];
    for (let from = 0; from < entries.length; from += ENTRIES_A_STEP) {
      const to = Math.min(entries.length, from + ENTRIES_A_STEP);
      if (days.length === 1) {
        refs.push.fill(p, next[0], next[0] + to - from);
        refs.entry.set(entries.subarray(from, to), next[0]);
        next[0] += to - from;
      } else {
        for (let i = from; i < to; i++) {
          const at = next[indexOfDay.get(columns.day[entries[i]])!]++;
          refs.push[at] = p;
          refs.entry[at] = entries[i];
        }
      }
      yield;
    }
  }
  const streams = yield* streamsOf(pushes);
  const numbers = new PushNumbers(pushes);
  const sources = pushes.map(push => push.columns.bytes);
  for (let i = 0; i < days.length; i++) {
    const arrived = {
      push: refs.push.subarray(starts[i], starts[i + 1]),
      entry: refs.entry.subarray(starts[i], starts[i + 1]),
    };
    const sorted = yield* sortDay(pushes, arrived, streams);
    for (let from = 0; from < sorted.times.length; ) {
      const part = yield* partOf(pushes, sorted, from, numbers, limits);
      const keep = yield* withoutDuplicates(pushes, part);
      const rows = yield* gather(pushes, sources, keep === undefined ? part : selectRows(part, keep));
      const entries = part.times.length;
      yield { day: days[i], rows, duplicates: entries - rows.rows };
      from += entries;
    }
  }
}

/**
 * Counts the entries of each day. Adjacent entries usually have the same day, so the map is accessed once per
 * run of them.
 */
function* countDays(days: Int32Array, entries: Uint32Array, counts: Map<number, number>): Steps<void> {
  for (let from = 0; from < entries.length; ) {
    const day = days[entries[from]];
    const last = Math.min(entries.length, from + ENTRIES_A_STEP);
    let to = from + 1;
    while (to < last && days[entries[to]] === day) to++;
    counts.set(day, (counts.get(day) ?? 0) + to - from);
    if (to === last || to % ENTRIES_A_STEP === 0) yield;
    from = to;
  }
}

/** Returns the next part of a day: rows from `from` on, up to the limits, with their metadata numbered. */
function* partOf(
  pushes: readonly AcceptedPush[],
  { streams, starts, refs, times }: SortedDay,
  from: number,
  numbers: PushNumbers,
  limits: PartLimits,
): Steps<SortedRows> {
  const firstStream = streamAt(starts, from);
  const { to: longest, pairs: pairCount } = yield* partEnd(pushes, refs, from, limits);
  const lastStart = starts[Math.min(firstStream + limits.streams, streams.length)];
  const interner = new PairInterner(pushes, refs, numbers, {
    from,
    to: Math.min(longest, lastStart),
    pairCount,
  });
  while (interner.row < interner.to && interner.valueCount < limits.values) {
    interner.run(limits.values);
    yield;
  }
  const to = partBoundary(times, starts, from, interner.row, limits.rows);
  interner.cutTo(to);
  const endStream = streamAt(starts, to - 1) + 1;
  const startsOfPart = new Uint32Array(endStream - firstStream + 1);
  for (let s = 0; s < startsOfPart.length; s++) {
    startsOfPart[s] = Math.min(Math.max(starts[firstStream + s], from), to) - from;
  }
  return {
    streams: streams.slice(firstStream, endStream),
    starts: startsOfPart,
    refs: { push: refs.push.subarray(from, to), entry: refs.entry.subarray(from, to) },
    times: times.subarray(from, to),
    pairs: interner.pairs(),
  };
}

/** Returns the stream of a row. */
function streamAt(starts: Uint32Array, row: number): number {
  return lowerBound(starts, 1, starts.length - 1, row + 1) - 1;
}

/**
 * Returns the maximum end of a part that starts at `from`, by its rows, lines and pairs. Also returns the
 * number of its pairs, including those of levels, or a higher one.
 */
function* partEnd(
  pushes: readonly AcceptedPush[],
  { push, entry }: Refs,
  from: number,
  limits: PartLimits,
): Steps<{ readonly to: number; readonly pairs: number }> {
  if (from === 0) {
    const bound = pairsOfOnePart(pushes, entry.length, limits);
    if (bound !== undefined) return { to: entry.length, pairs: bound };
  }
  const last = Math.min(entry.length, from + limits.rows);
  let lineBytes = 0;
  let pairs = 0;
  for (let i = from; i < last; ) {
    const p = push[i];
    const { columns, levelOf } = pushes[p];
    const { lineStart, lineEnd, firstPair } = columns;
    const stop = Math.min(last, i + ENTRIES_A_STEP);
    for (; i < stop && push[i] === p; i++) {
      const e = entry[i];
      const linesWith = lineBytes + lineEnd[e] - lineStart[e];
      const pairsWith = pairs + firstPair[e + 1] - firstPair[e] + (levelOf[e] > 0 ? 1 : 0);
      if (i > from && (linesWith > limits.lineBytes || pairsWith > limits.pairs)) return { to: i, pairs };
      lineBytes = linesWith;
      pairs = pairsWith;
    }
    if (i === stop) yield;
  }
  return { to: last, pairs };
}

/**
 * If the day has all entries of the pushes, and their totals are within the limits of one part, returns the maximum
 * number of their pairs. This is usual, and saves looking at each entry.
 */
function pairsOfOnePart(
  pushes: readonly AcceptedPush[],
  entriesOfDay: number,
  limits: PartLimits,
): number | undefined {
  let rows = 0;
  let lineBytes = 0;
  let pairs = 0;
  for (const push of pushes) {
    rows += push.entries.length;
    lineBytes += push.lineBytes;
    // An entry gets at most one level.
    pairs += push.columns.pairCount + push.entries.length;
  }
  const isOne =
    rows === entriesOfDay && rows <= limits.rows && lineBytes <= limits.lineBytes && pairs <= limits.pairs;
  return isOne ? pairs : undefined;
}

/**
 * Returns the end of a part that must end at or before row `to`. Entries of one stream and time stay
 * together, because duplicates are searched in one part. If they exceed half a part, they are split.
 * Duplicates may then be stored twice, and queries count them once.
 */
function partBoundary(
  times: Float64Array,
  starts: Uint32Array,
  from: number,
  to: number,
  maxRows: number,
): number {
  if (to === times.length) return to;
  const start = Math.max(from, starts[streamAt(starts, to)]);
  let at = to;
  while (at > start && to - at < maxRows / 2 && times[at] === times[at - 1]) at--;
  const isTie = at > start ? times[at] === times[at - 1] : false;
  return at === from || isTie ? to : at;
}

function* gather(
  pushes: readonly AcceptedPush[],
  sources: readonly Buffer[],
  { streams, starts, refs, times, pairs }: SortedRows,
): Steps<ChunkRows> {
  const rows = times.length;
  const streamOf = new Uint32Array(rows);
  const lineStart = new Uint32Array(rows);
  const lineEnd = new Uint32Array(rows);
  for (let s = 0; s < streams.length; s++) streamOf.fill(s, starts[s], starts[s + 1]);
  for (let i = 0; i < rows; ) {
    const p = refs.push[i];
    const { lineStart: startOf, lineEnd: endOf } = pushes[p].columns;
    const stop = Math.min(rows, i + ENTRIES_A_STEP);
    for (; i < stop && refs.push[i] === p; i++) {
      const e = refs.entry[i];
      lineStart[i] = startOf[e];
      lineEnd[i] = endOf[e];
    }
    if (i === stop && i < rows) yield;
  }
  return {
    streams,
    rows,
    streamOf,
    times,
    sources,
    sourceOf: refs.push,
    lineStart,
    lineEnd,
    names: pairs.names,
    values: pairs.values,
    firstPair: pairs.first,
    pairName: pairs.name,
    pairValue: pairs.value,
  };
}
