/**
 * Converts accepted pushes of one tenant to sorted rows for the chunk writer, one or more sets per UTC day.
 * Entries that were pushed twice (same stream, timestamp, line and metadata) become one row.
 *
 * All work runs in steps, and rows are created for one part of a day at a time. The part bounds the memory
 * that a push of a million entries needs in addition to its columns. Usual pushes are one part.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Steps } from '../../base/model/steps.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';
import { PairInterner, PushNumbers } from './pair-interner.ts';
import type { AcceptedPush } from './push-columns.ts';
import { withoutDuplicates } from './segment-duplicates.ts';
import { orderOfTimes, sortItems } from './sort-in-steps.ts';
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
const STREAMS_A_STEP = 1024;

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
      for (let i = from; i < to; i++) {
        const at = days.length === 1 ? next[0]++ : next[indexOfDay.get(columns.day[entries[i]])!]++;
        refs.push[at] = p;
        refs.entry[at] = entries[i];
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

/** Entries of a day, grouped by stream and sorted by time. */
interface SortedDay {
  /** Streams with entries. */
  readonly streams: readonly Stream[];
  /** Start of the entries of each stream, followed by their total number. */
  readonly starts: Uint32Array;
  readonly refs: Refs;
  readonly times: Float64Array;
}

/** @param arrived entries of one day, in the order of their arrival */
function* sortDay(
  pushes: readonly AcceptedPush[],
  arrived: Refs,
  { all, indexesOf, localOf }: Streams,
): Steps<SortedDay> {
  const total = arrived.entry.length;
  const indexes = new Uint32Array(total);
  for (let i = 0; i < total; ) {
    // Adjacent entries usually have the same push: its columns are looked up once per run of them.
    const p = arrived.push[i];
    const indexesOfPush = indexesOf[p];
    const { streamOf } = pushes[p].columns;
    const stop = Math.min(total, i + ENTRIES_A_STEP);
    for (; i < stop && arrived.push[i] === p; i++) indexes[i] = indexesOfPush[streamOf[arrived.entry[i]]];
    if (i === stop) yield;
  }
  // `localOf` is all zeros between two days.
  const found: number[] = [];
  for (let i = 0; i < total; i++) {
    if (localOf[indexes[i]]++ === 0) found.push(indexes[i]);
    if (i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  const used = Uint32Array.from(found).sort();
  const starts = new Uint32Array(used.length + 1);
  for (let s = 0; s < used.length; s++) {
    starts[s + 1] = starts[s] + localOf[used[s]];
    localOf[used[s]] = s;
  }
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  const next = starts.slice();
  for (let i = 0; i < total; i++) {
    const at = next[localOf[indexes[i]]]++;
    refs.push[at] = arrived.push[i];
    refs.entry[at] = arrived.entry[i];
    if (i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  for (const index of used) localOf[index] = 0;
  const times = yield* timesOf(pushes, refs);
  yield* sortStreams(refs, times, starts);
  const streams = Array.from(used, index => all[index]);
  return { streams, starts, refs, times };
}

interface Streams {
  /** Streams of all pushes in the order of their text. */
  readonly all: readonly Stream[];
  /** Index of each push's streams among them. */
  readonly indexesOf: readonly Uint32Array[];
  /** Scratch numbers by stream index, for one day at a time. */
  readonly localOf: Uint32Array;
}

function* streamsOf(pushes: readonly AcceptedPush[]): Steps<Streams> {
  const byText = new Map<string, Stream>();
  for (const { columns } of pushes) {
    for (const stream of columns.streams) {
      byText.set(stream.text, stream);
      if (byText.size % STREAMS_A_STEP === 0) yield;
    }
  }
  const all = yield* sortItems([...byText.values()], (a, b) => compareUtf8(a.text, b.text));
  const indexOf = new Map<string, number>();
  for (let i = 0; i < all.length; i++) {
    indexOf.set(all[i].text, i);
    if (i % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
  }
  const indexesOf: Uint32Array[] = [];
  for (const { columns } of pushes) {
    const indexes = new Uint32Array(columns.streams.length);
    for (let s = 0; s < indexes.length; s++) {
      indexes[s] = indexOf.get(columns.streams[s].text)!;
      if (s % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
    }
    indexesOf.push(indexes);
  }
  return { all, indexesOf, localOf: new Uint32Array(all.length) };
}

function* timesOf(pushes: readonly AcceptedPush[], { push, entry }: Refs): Steps<Float64Array> {
  const times = new Float64Array(entry.length);
  for (let i = 0; i < times.length; ) {
    const p = push[i];
    const { timeOfDay } = pushes[p].columns;
    const stop = Math.min(times.length, i + ENTRIES_A_STEP);
    for (; i < stop && push[i] === p; i++) times[i] = timeOfDay[entry[i]];
    if (i === stop) yield;
  }
  return times;
}

/**
 * Sorts the entries and times of each stream by time. Entries with equal times keep their order of arrival.
 */
function* sortStreams(refs: Refs, times: Float64Array, starts: Uint32Array): Steps<void> {
  let left = ENTRIES_A_STEP;
  for (let s = 0; s + 1 < starts.length; s++) {
    const [from, to] = [starts[s], starts[s + 1]];
    let at = from + 1;
    while (at < to && times[at] >= times[at - 1]) {
      at++;
      if (--left > 0) continue;
      left = ENTRIES_A_STEP;
      yield;
    }
    if (at < to) yield* sortStream(refs, times, from, to);
    if (--left > 0) continue;
    left = ENTRIES_A_STEP;
    yield;
  }
}

function* sortStream(refs: Refs, allTimes: Float64Array, from: number, to: number): Steps<void> {
  const times = allTimes.slice(from, to);
  const order = yield* orderOfTimes(times);
  const push = refs.push.slice(from, to);
  const entry = refs.entry.slice(from, to);
  for (let i = 0; i < order.length; i++) {
    refs.push[from + i] = push[order[i]];
    refs.entry[from + i] = entry[order[i]];
    allTimes[from + i] = times[order[i]];
    if (i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
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
 * number of its pairs, including those of levels.
 */
function* partEnd(
  pushes: readonly AcceptedPush[],
  { push, entry }: Refs,
  from: number,
  limits: PartLimits,
): Steps<{ readonly to: number; readonly pairs: number }> {
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
