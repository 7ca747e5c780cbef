/**
 * Accepted pushes of one tenant to sorted rows, one set per UTC day: what the chunk writer takes. Entries that were
 * pushed twice (same stream, timestamp, line and metadata) become one row.
 */

import { LEVEL_NAME } from '../chunk/format.ts';
import type { ChunkRows } from '../chunk/rows.ts';
import { compareUtf8 } from '../model/bytes.ts';
import type { Stream } from '../model/page.ts';
import type { AcceptedPush } from './push-columns.ts';
import { withoutDuplicates } from './segment-duplicates.ts';
import { type InternedPairs, type Refs, type SortedRows, selectRows } from './sorted-rows.ts';

export interface DayRows {
  /** UTC day since 1970-01-01. */
  readonly day: number;
  readonly rows: ChunkRows;
  /** Entries that are no row, because an equal one is. */
  readonly duplicates: number;
}

/** Most pushes of one group: `Refs` and the rows' sources number them in 16 bits. */
export const MAX_GROUPED_PUSHES = 4096;

/**
 * Rows of each day that the pushes touch, days ascending. What is made once here is made for all days: a push may
 * hold a hundred thousand streams, or entries of twenty thousand days, and the work must not be their product.
 */
export function segmentsOf(pushes: readonly AcceptedPush[]): DayRows[] {
  const counts = new Map<number, number>();
  let total = 0;
  for (const { columns, entries } of pushes) {
    total += entries.length;
    countDays(columns.day, entries, counts);
  }
  const days = [...counts.keys()].sort((a, b) => a - b);
  const placeOfDay = new Map(days.map((day, i) => [day, i]));
  const starts = new Uint32Array(days.length + 1);
  for (let i = 0; i < days.length; i++) starts[i + 1] = starts[i] + counts.get(days[i])!;
  const next = starts.slice();
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  for (let p = 0; p < pushes.length; p++) {
    const { columns, entries } = pushes[p];
    for (let i = 0; i < entries.length; i++) {
      const at = days.length === 1 ? next[0]++ : next[placeOfDay.get(columns.day[entries[i]])!]++;
      refs.push[at] = p;
      refs.entry[at] = entries[i];
    }
  }
  const streams = streamsOf(pushes);
  const interner = new Interner(pushes);
  const sources = pushes.map(push => push.columns.bytes);
  return days.map((day, i) => {
    const ofDay = {
      push: refs.push.subarray(starts[i], starts[i + 1]),
      entry: refs.entry.subarray(starts[i], starts[i + 1]),
    };
    const rows = rowsOfDay(pushes, ofDay, streams, interner, sources);
    return { day, rows, duplicates: ofDay.entry.length - rows.rows };
  });
}

/** Adds the entries of each day; neighbours are of one day most often, so a map is asked once for each run of them. */
function countDays(days: Int32Array, entries: Uint32Array, counts: Map<number, number>): void {
  for (let from = 0; from < entries.length; ) {
    const day = days[entries[from]];
    let to = from + 1;
    while (to < entries.length && days[entries[to]] === day) to++;
    counts.set(day, (counts.get(day) ?? 0) + to - from);
    from = to;
  }
}

/** `arrived`: the entries of one day, in the order of their arrival. */
function rowsOfDay(
  pushes: readonly AcceptedPush[],
  arrived: Refs,
  { all, placeOf, localOf }: Streams,
  interner: Interner,
  sources: readonly Buffer[],
): ChunkRows {
  const total = arrived.entry.length;
  const places = new Uint32Array(total);
  for (let i = 0; i < total; ) {
    // Neighbours are of one push most often: what leads to its columns is looked up once for each run of them.
    const p = arrived.push[i];
    const placeOfPush = placeOf[p];
    const { streamOf } = pushes[p].columns;
    for (; i < total && arrived.push[i] === p; i++) places[i] = placeOfPush[streamOf[arrived.entry[i]]];
  }
  // `localOf` is all zeros between two days.
  const used: number[] = [];
  for (let i = 0; i < total; i++) if (localOf[places[i]]++ === 0) used.push(places[i]);
  used.sort((a, b) => a - b);
  const starts = new Uint32Array(used.length + 1);
  for (let s = 0; s < used.length; s++) {
    starts[s + 1] = starts[s] + localOf[used[s]];
    localOf[used[s]] = s;
  }
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  const next = starts.slice();
  for (let i = 0; i < total; i++) {
    const at = next[localOf[places[i]]]++;
    refs.push[at] = arrived.push[i];
    refs.entry[at] = arrived.entry[i];
  }
  for (const place of used) localOf[place] = 0;
  const times = timesOf(pushes, refs);
  for (let s = 0; s < used.length; s++) sortByTime(refs, times, starts[s], starts[s + 1]);
  const pairs = internPairs(pushes, refs, total, interner);
  const streams = used.map(place => all[place]);
  const stored = { streams, starts, refs, times, pairs };
  const keep = withoutDuplicates(pushes, stored);
  return gather(pushes, sources, keep === undefined ? stored : selectRows(stored, keep));
}

interface Streams {
  /** The streams of all pushes in order of their text. */
  readonly all: readonly Stream[];
  /** Where each push's own numbers are among them. */
  readonly placeOf: readonly Uint32Array[];
  /** By place; for the use of one day at a time. */
  readonly localOf: Uint32Array;
}

function streamsOf(pushes: readonly AcceptedPush[]): Streams {
  const byText = new Map<string, Stream>();
  for (const { columns } of pushes) for (const stream of columns.streams) byText.set(stream.text, stream);
  const all = [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
  const place = new Map(all.map((stream, i) => [stream.text, i]));
  const placeOf = pushes.map(({ columns }) => Uint32Array.from(columns.streams, s => place.get(s.text)!));
  return { all, placeOf, localOf: new Uint32Array(all.length) };
}

function timesOf(pushes: readonly AcceptedPush[], { push, entry }: Refs): Float64Array {
  const times = new Float64Array(entry.length);
  for (let i = 0; i < times.length; ) {
    const p = push[i];
    const { timeOfDay } = pushes[p].columns;
    for (; i < times.length && push[i] === p; i++) times[i] = timeOfDay[entry[i]];
  }
  return times;
}

/** Sorts one stream's entries and their times by time; those of equal time keep their order of arrival. */
function sortByTime(refs: Refs, allTimes: Float64Array, from: number, to: number): void {
  let at = from + 1;
  while (at < to && allTimes[at] >= allTimes[at - 1]) at++;
  if (at >= to) return;
  const times = allTimes.slice(from, to);
  const order = Uint32Array.from(times, (_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
  const push = refs.push.slice(from, to);
  const entry = refs.entry.slice(from, to);
  for (let i = 0; i < order.length; i++) {
    refs.push[from + i] = push[order[i]];
    refs.entry[from + i] = entry[order[i]];
    allTimes[from + i] = times[order[i]];
  }
}

/** What a number of a push (of a name, of a level) is in the day at hand: looked up at its first use there. */
interface Numbering {
  readonly id: Uint32Array;
  /** The day that `id` is of; days count from 1. */
  readonly day: Uint32Array;
}

class Interner {
  day = 0;
  readonly names: readonly Numbering[];
  readonly levels: readonly Numbering[];

  constructor(pushes: readonly AcceptedPush[]) {
    const numbering = (size: number) => ({ id: new Uint32Array(size), day: new Uint32Array(size) });
    this.names = pushes.map(({ columns }) => numbering(columns.names.length));
    this.levels = pushes.map(({ levels }) => numbering(levels.length));
  }

  /** The id of number `n`, or -1 where the day has not met it. */
  idOf({ id, day }: Numbering, n: number): number {
    return day[n] === this.day ? id[n] : -1;
  }

  setId({ id, day }: Numbering, n: number, made: number): number {
    day[n] = this.day;
    id[n] = made;
    return made;
  }
}

/**
 * Values whose number is remembered by where they lie: pairs of one resource share their ranges in all of its records,
 * and looking a value up by its text is half of the work on such a push. Direct-mapped, 64 KiB.
 */
const RECENT_RANGES = 4096;

/** Numbers metadata names and values across the pushes, so that equal texts are equal numbers from here on. */
function internPairs(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  total: number,
  interner: Interner,
): InternedPairs {
  interner.day++;
  const names: string[] = [];
  const nameIds = new Map<string, number>();
  const nameId = (name: string) => {
    let id = nameIds.get(name);
    if (id === undefined) {
      id = names.push(name) - 1;
      nameIds.set(name, id);
    }
    return id;
  };
  const values: Buffer[] = [];
  const valueIds = new Map<string, number>();
  const valueId = (key: string, bytes: () => Buffer) => {
    let id = valueIds.get(key);
    if (id === undefined) {
      id = values.push(bytes()) - 1;
      valueIds.set(key, id);
    }
    return id;
  };
  const recent = {
    push: new Uint32Array(RECENT_RANGES),
    start: new Uint32Array(RECENT_RANGES),
    end: new Uint32Array(RECENT_RANGES),
    value: new Uint32Array(RECENT_RANGES),
  };
  const levelId = (level: string) => {
    const bytes = Buffer.from(level);
    return valueId(bytes.latin1Slice(), () => bytes);
  };

  let count = 0;
  for (let i = 0; i < total; ) {
    const p = refs.push[i];
    const { columns, levelOf: added } = pushes[p];
    const { firstPair } = columns;
    for (; i < total && refs.push[i] === p; i++) {
      const e = refs.entry[i];
      count += firstPair[e + 1] - firstPair[e] + (added[e] > 0 ? 1 : 0);
    }
  }
  const first = new Uint32Array(total + 1);
  const name = new Uint32Array(count);
  const value = new Uint32Array(count);
  let at = 0;
  let levelName = -1;
  for (let i = 0; i < total; ) {
    const p = refs.push[i];
    const { columns, levelOf: added, levels } = pushes[p];
    const { bytes, firstPair, pairStart, pairEnd, pairName } = columns;
    const ofName = interner.names[p];
    const ofLevel = interner.levels[p];
    for (; i < total && refs.push[i] === p; i++) {
      const e = refs.entry[i];
      first[i] = at;
      for (let pair = firstPair[e]; pair < firstPair[e + 1]; pair++) {
        const start = pairStart[pair];
        const end = pairEnd[pair];
        const n = pairName[pair];
        const id = interner.idOf(ofName, n);
        name[at] = id >= 0 ? id : interner.setId(ofName, n, nameId(columns.names[n]));
        const slot = start % RECENT_RANGES;
        if (recent.push[slot] !== p + 1 || recent.start[slot] !== start || recent.end[slot] !== end) {
          recent.push[slot] = p + 1;
          recent.start[slot] = start;
          recent.end[slot] = end;
          recent.value[slot] = valueId(bytes.latin1Slice(start, end), () => bytes.subarray(start, end));
        }
        value[at] = recent.value[slot];
        at++;
      }
      if (added[e] === 0) continue;
      if (levelName < 0) levelName = nameId(LEVEL_NAME);
      name[at] = levelName;
      const n = added[e] - 1;
      const id = interner.idOf(ofLevel, n);
      value[at] = id >= 0 ? id : interner.setId(ofLevel, n, levelId(levels[n]));
      at++;
    }
  }
  first[total] = at;
  return { names, values, first, name, value };
}

function gather(
  pushes: readonly AcceptedPush[],
  sources: readonly Buffer[],
  { streams, starts, refs, times, pairs }: SortedRows,
): ChunkRows {
  const rows = times.length;
  const streamOf = new Uint32Array(rows);
  const lineStart = new Uint32Array(rows);
  const lineEnd = new Uint32Array(rows);
  for (let s = 0; s < streams.length; s++) streamOf.fill(s, starts[s], starts[s + 1]);
  for (let i = 0; i < rows; ) {
    const p = refs.push[i];
    const { lineStart: startOf, lineEnd: endOf } = pushes[p].columns;
    for (; i < rows && refs.push[i] === p; i++) {
      const e = refs.entry[i];
      lineStart[i] = startOf[e];
      lineEnd[i] = endOf[e];
    }
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
