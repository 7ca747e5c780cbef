/**
 * Accepted pushes of one tenant to sorted rows, one set per UTC day: what the chunk writer takes. Entries that were
 * pushed twice (same stream, timestamp, line and metadata) become one row.
 */

import { LEVEL_NAME } from '../chunk/format.ts';
import type { ChunkRows } from '../chunk/rows.ts';
import { compareUtf8, equalRange } from '../model/bytes.ts';
import type { Stream } from '../model/page.ts';
import type { AcceptedPush } from './push-columns.ts';

export interface DayRows {
  /** UTC day since 1970-01-01. */
  readonly day: number;
  readonly rows: ChunkRows;
}

/** Entries by push and place: parallel arrays. */
interface Refs {
  readonly push: Uint16Array;
  readonly entry: Uint32Array;
}

/** Most pushes of one group: `Refs` and the rows' sources number them in 16 bits. */
export const MAX_GROUPED_PUSHES = 4096;

/** Rows of each day that the pushes touch, days ascending. */
export function segmentsOf(pushes: readonly AcceptedPush[]): DayRows[] {
  const days = new Map<number, number>();
  for (const { columns, entries } of pushes) {
    for (let i = 0; i < entries.length; i++) {
      const day = columns.day[entries[i]];
      days.set(day, (days.get(day) ?? 0) + 1);
    }
  }
  return [...days.keys()]
    .sort((a, b) => a - b)
    .map(day => ({ day, rows: rowsOfDay(pushes, day, days.get(day)!, days.size === 1) }));
}

function rowsOfDay(pushes: readonly AcceptedPush[], day: number, total: number, onlyDay: boolean): ChunkRows {
  const { streams, placeOf } = streamsOf(pushes);
  const starts = new Uint32Array(streams.length + 1);
  forEachEntry(pushes, day, onlyDay, (p, e) => {
    starts[placeOf[p][pushes[p].columns.streamOf[e]] + 1]++;
  });
  for (let s = 0; s < streams.length; s++) starts[s + 1] += starts[s];
  const refs: Refs = { push: new Uint16Array(total), entry: new Uint32Array(total) };
  const next = starts.slice();
  forEachEntry(pushes, day, onlyDay, (p, e) => {
    const at = next[placeOf[p][pushes[p].columns.streamOf[e]]]++;
    refs.push[at] = p;
    refs.entry[at] = e;
  });
  for (let s = 0; s < streams.length; s++) sortByTime(pushes, refs, starts[s], starts[s + 1]);
  const pairs = internPairs(pushes, refs, total);
  const keep = withoutDuplicates(pushes, refs, starts, pairs);
  return gather(pushes, streams, starts, refs, pairs, keep);
}

function forEachEntry(
  pushes: readonly AcceptedPush[],
  day: number,
  onlyDay: boolean,
  visit: (push: number, entry: number) => void,
): void {
  for (let p = 0; p < pushes.length; p++) {
    const { columns, entries } = pushes[p];
    for (let i = 0; i < entries.length; i++)
      if (onlyDay || columns.day[entries[i]] === day) visit(p, entries[i]);
  }
}

/** The streams of all pushes in order of their text, and where each push's own numbers are among them. */
function streamsOf(pushes: readonly AcceptedPush[]): { streams: Stream[]; placeOf: Uint32Array[] } {
  const byText = new Map<string, Stream>();
  for (const { columns } of pushes) for (const stream of columns.streams) byText.set(stream.text, stream);
  const streams = [...byText.values()].sort((a, b) => compareUtf8(a.text, b.text));
  const place = new Map(streams.map((stream, i) => [stream.text, i]));
  const placeOf = pushes.map(({ columns }) => Uint32Array.from(columns.streams, s => place.get(s.text)!));
  return { streams, placeOf };
}

/** Sorts one stream's entries by time; those of equal time keep their order of arrival. */
function sortByTime(pushes: readonly AcceptedPush[], refs: Refs, from: number, to: number): void {
  const times = new Float64Array(to - from);
  let sorted = true;
  for (let i = from; i < to; i++) {
    times[i - from] = pushes[refs.push[i]].columns.timeOfDay[refs.entry[i]];
    if (i > from && times[i - from] < times[i - from - 1]) sorted = false;
  }
  if (sorted) return;
  const order = Uint32Array.from(times, (_, i) => i).sort((a, b) => times[a] - times[b] || a - b);
  const push = refs.push.slice(from, to);
  const entry = refs.entry.slice(from, to);
  for (let i = 0; i < order.length; i++) {
    refs.push[from + i] = push[order[i]];
    refs.entry[from + i] = entry[order[i]];
  }
}

interface Pairs {
  readonly names: string[];
  readonly values: Buffer[];
  readonly first: Uint32Array;
  readonly name: Uint32Array;
  readonly value: Uint32Array;
}

/** Numbers metadata names and values across the pushes, so that equal texts are equal numbers from here on. */
function internPairs(pushes: readonly AcceptedPush[], refs: Refs, total: number): Pairs {
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
  const nameOf = pushes.map(({ columns }) => Uint32Array.from(columns.names, nameId));
  const levelName = pushes.some(push => push.levels.length > 0) ? nameId(LEVEL_NAME) : 0;
  const levelOf = pushes.map(({ levels }) =>
    Uint32Array.from(levels, level => {
      const bytes = Buffer.from(level);
      return valueId(bytes.latin1Slice(), () => bytes);
    }),
  );

  let count = 0;
  for (let i = 0; i < total; i++) {
    const { columns, levelOf: added } = pushes[refs.push[i]];
    const e = refs.entry[i];
    count += columns.firstPair[e + 1] - columns.firstPair[e] + (added[e] > 0 ? 1 : 0);
  }
  const first = new Uint32Array(total + 1);
  const name = new Uint32Array(count);
  const value = new Uint32Array(count);
  let at = 0;
  for (let i = 0; i < total; i++) {
    const p = refs.push[i];
    const e = refs.entry[i];
    const { columns, levelOf: added } = pushes[p];
    first[i] = at;
    for (let pair = columns.firstPair[e]; pair < columns.firstPair[e + 1]; pair++) {
      const { bytes } = columns;
      const start = columns.pairStart[pair];
      const end = columns.pairEnd[pair];
      name[at] = nameOf[p][columns.pairName[pair]];
      value[at] = valueId(bytes.latin1Slice(start, end), () => bytes.subarray(start, end));
      at++;
    }
    if (added[e] > 0) {
      name[at] = levelName;
      value[at] = levelOf[p][added[e] - 1];
      at++;
    }
  }
  first[total] = at;
  return { names, values, first, name, value };
}

/** Ties up to this many are compared pair by pair; above it a map of lines finds the equal ones. */
const COMPARED_TIES = 8;

/** 1 for each row to keep: of equal entries the first. */
function withoutDuplicates(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  starts: Uint32Array,
  pairs: Pairs,
): Uint8Array {
  const total = refs.entry.length;
  const keep = new Uint8Array(total).fill(1);
  for (let s = 0; s + 1 < starts.length; s++) {
    let tie = starts[s];
    for (let i = starts[s] + 1; i <= starts[s + 1]; i++) {
      if (i < starts[s + 1] && timeAt(pushes, refs, i) === timeAt(pushes, refs, tie)) continue;
      if (i - tie > COMPARED_TIES) dropEqualInMap(pushes, refs, pairs, tie, i, keep);
      else if (i - tie > 1) dropEqualInPairs(pushes, refs, pairs, tie, i, keep);
      tie = i;
    }
  }
  return keep;
}

function timeAt(pushes: readonly AcceptedPush[], refs: Refs, i: number): number {
  return pushes[refs.push[i]].columns.timeOfDay[refs.entry[i]];
}

function dropEqualInPairs(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: Pairs,
  from: number,
  to: number,
  keep: Uint8Array,
): void {
  for (let i = from + 1; i < to; i++) {
    for (let j = from; j < i; j++) {
      if (keep[j] === 1 && sameLine(pushes, refs, i, j) && samePairs(pairs, i, j)) {
        keep[i] = 0;
        break;
      }
    }
  }
}

function sameLine(pushes: readonly AcceptedPush[], refs: Refs, i: number, j: number): boolean {
  const a = pushes[refs.push[i]].columns;
  const b = pushes[refs.push[j]].columns;
  const x = refs.entry[i];
  const y = refs.entry[j];
  return equalRange(a.bytes, a.lineStart[x], a.lineEnd[x], b.bytes, b.lineStart[y], b.lineEnd[y]);
}

function samePairs(pairs: Pairs, i: number, j: number): boolean {
  const count = pairs.first[i + 1] - pairs.first[i];
  if (count !== pairs.first[j + 1] - pairs.first[j]) return false;
  for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++) {
    let found = false;
    for (let y = pairs.first[j]; y < pairs.first[j + 1] && !found; y++) {
      found = pairs.name[x] === pairs.name[y] && pairs.value[x] === pairs.value[y];
    }
    if (!found) return false;
  }
  return true;
}

function dropEqualInMap(
  pushes: readonly AcceptedPush[],
  refs: Refs,
  pairs: Pairs,
  from: number,
  to: number,
  keep: Uint8Array,
): void {
  const seen = new Set<string>();
  for (let i = from; i < to; i++) {
    const { columns } = pushes[refs.push[i]];
    const e = refs.entry[i];
    const parts: string[] = [];
    for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++)
      parts.push(`${pairs.name[x]}=${pairs.value[x]}`);
    // The pairs hold digits only, so the first space ends them and the line may hold anything.
    const key = `${parts.sort().join()} ${columns.bytes.latin1Slice(columns.lineStart[e], columns.lineEnd[e])}`;
    if (seen.has(key)) keep[i] = 0;
    else seen.add(key);
  }
}

function gather(
  pushes: readonly AcceptedPush[],
  streams: readonly Stream[],
  starts: Uint32Array,
  refs: Refs,
  pairs: Pairs,
  keep: Uint8Array,
): ChunkRows {
  let rows = 0;
  for (let i = 0; i < keep.length; i++) rows += keep[i];
  const streamOf = new Uint32Array(rows);
  const times = new Float64Array(rows);
  const sourceOf = new Uint16Array(rows);
  const lineStart = new Uint32Array(rows);
  const lineEnd = new Uint32Array(rows);
  const firstPair = new Uint32Array(rows + 1);
  const pairName = new Uint32Array(pairs.name.length);
  const pairValue = new Uint32Array(pairs.value.length);
  const used: Stream[] = [];
  let at = 0;
  let pairAt = 0;
  for (let s = 0; s < streams.length; s++) {
    const before = at;
    for (let i = starts[s]; i < starts[s + 1]; i++) {
      if (keep[i] === 0) continue;
      const p = refs.push[i];
      const e = refs.entry[i];
      const { columns } = pushes[p];
      streamOf[at] = used.length;
      times[at] = columns.timeOfDay[e];
      sourceOf[at] = p;
      lineStart[at] = columns.lineStart[e];
      lineEnd[at] = columns.lineEnd[e];
      for (let x = pairs.first[i]; x < pairs.first[i + 1]; x++) {
        pairName[pairAt] = pairs.name[x];
        pairValue[pairAt] = pairs.value[x];
        pairAt++;
      }
      at++;
      firstPair[at] = pairAt;
    }
    if (at > before) used.push(streams[s]);
  }
  return {
    streams: used,
    rows,
    streamOf,
    times,
    sources: pushes.map(push => push.columns.bytes),
    sourceOf,
    lineStart,
    lineEnd,
    names: pairs.names,
    values: pairs.values,
    firstPair,
    pairName,
    pairValue,
  };
}
