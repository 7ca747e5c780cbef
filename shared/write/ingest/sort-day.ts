/**
 * Groups the entries of a day by stream, and sorts those of each stream by time. All work runs in steps.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Steps } from '../../base/model/steps.ts';
import type { AcceptedPush } from './push-columns.ts';
import { orderOfTimes, sortItems } from './sort-in-steps.ts';
import type { Refs } from './sorted-rows.ts';

/** Entries per step: 0.2 ms. */
const ENTRIES_A_STEP = 16_384;
const STREAMS_A_STEP = 1024;

/** Entries of a day, grouped by stream and sorted by time. */
export interface SortedDay {
  /** Streams with entries. */
  readonly streams: readonly Stream[];
  /** Start of the entries of each stream, followed by their total number. */
  readonly starts: Uint32Array;
  readonly refs: Refs;
  readonly times: Float64Array;
}

/** @param arrived entries of one day, in the order of their arrival */
export function* sortDay(
  pushes: readonly AcceptedPush[],
  arrived: Refs,
  { all, indexesOf, localOf }: Streams,
): Steps<SortedDay> {
  const total = arrived.entry.length;
  const { count, start, streamOf } = yield* runsOf(pushes, arrived, indexesOf);
  // `localOf` is all zeros between two days.
  const found: number[] = [];
  for (let r = 0; r < count; r++) {
    if (localOf[streamOf[r]] === 0) found.push(streamOf[r]);
    localOf[streamOf[r]] += start[r + 1] - start[r];
    if (r % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  const used = Uint32Array.from(found).sort();
  const starts = new Uint32Array(used.length + 1);
  for (let s = 0; s < used.length; s++) {
    starts[s + 1] = starts[s] + localOf[used[s]];
    localOf[used[s]] = s;
  }
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  const times = new Float64Array(total);
  const next = starts.slice();
  let left = ENTRIES_A_STEP;
  for (let r = 0; r < count; r++) {
    const [from, to] = [start[r], start[r + 1]];
    const p = arrived.push[from];
    const { timeOfDay } = pushes[p].columns;
    const local = localOf[streamOf[r]];
    let at = next[local];
    next[local] += to - from;
    for (let i = from; i < to; i++) {
      const e = arrived.entry[i];
      refs.push[at] = p;
      refs.entry[at] = e;
      times[at++] = timeOfDay[e];
    }
    left -= to - from;
    if (left > 0) continue;
    left = ENTRIES_A_STEP;
    yield;
  }
  for (const index of used) localOf[index] = 0;
  yield* sortStreams(refs, times, starts);
  const streams = Array.from(used, index => all[index]);
  return { streams, starts, refs, times };
}

/** Entries of one push and stream that arrived one after the other: most streams of a push are one run. */
interface Runs {
  readonly count: number;
  /** First entry of each run, followed by the number of entries. */
  readonly start: Uint32Array;
  /** Stream index of each run. */
  readonly streamOf: Uint32Array;
}

function* runsOf(
  pushes: readonly AcceptedPush[],
  { push, entry }: Refs,
  indexesOf: Streams['indexesOf'],
): Steps<Runs> {
  const start = new Uint32Array(entry.length + 1);
  const streamOf = new Uint32Array(entry.length);
  let count = 0;
  for (let i = 0; i < entry.length; ) {
    // Adjacent entries usually have the same push: its columns are looked up once per run of them.
    const p = push[i];
    const { streamOf: streamOfEntry } = pushes[p].columns;
    const indexes = indexesOf[p];
    const stop = Math.min(entry.length, i + ENTRIES_A_STEP);
    while (i < stop && push[i] === p) {
      const stream = streamOfEntry[entry[i]];
      start[count] = i;
      streamOf[count++] = indexes[stream];
      for (i++; i < stop && push[i] === p && streamOfEntry[entry[i]] === stream; i++);
    }
    if (i === stop) yield;
  }
  start[count] = entry.length;
  return { count, start, streamOf };
}

interface Streams {
  /** Streams of all pushes in the order of their text. */
  readonly all: readonly Stream[];
  /** Index of each push's streams among them. */
  readonly indexesOf: readonly Uint32Array[];
  /** Scratch numbers by stream index, for one day at a time. */
  readonly localOf: Uint32Array;
}

export function* streamsOf(pushes: readonly AcceptedPush[]): Steps<Streams> {
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
