/**
 * Joins rows of a few batches into one batch, in separate memory. Used for pages whose rows arrive in several
 * batches, and for rows that outlive the buffers of their batch. Streams, names and values occur once in the
 * result, and only if its rows use them. Equal values must have one number, because a page builds its
 * dictionaries by number.
 */
import { BufferPool } from '../../base/model/buffer-pool.ts';
import type { Stream } from '../../base/model/page.ts';
import { PAGE_TARGET_BYTES } from './format.ts';
import type { ChunkRows } from './rows.ts';

/** Lines of the open pages of a few chunks. Each has the memory of a full page, so that the next one can use it. */
const POOL = new BufferPool(4 * 1024 * 1024);

/** Rows `from` (inclusive) to `to` (exclusive) of a batch. */
export interface RowSlice {
  readonly rows: ChunkRows;
  readonly from: number;
  readonly to: number;
}

interface JoinedColumns {
  readonly lines: Buffer;
  readonly streamOf: Uint32Array;
  readonly times: Float64Array;
  readonly sourceOf: Uint16Array;
  readonly lineStart: Uint32Array;
  readonly lineEnd: Uint32Array;
  readonly firstPair: Uint32Array;
  readonly pairName: Uint32Array;
  readonly pairValue: Uint32Array;
}

/** Numbers of rows, bytes of lines and pairs that were joined. */
interface JoinedEnd {
  row: number;
  line: number;
  pair: number;
}

interface JoinedMetadata {
  readonly streams: Stream[];
  readonly names: string[];
  readonly nameIds: Map<string, number>;
  readonly values: Buffer[];
  /** Value numbers by the bytes as latin1, which maps each byte sequence to a different text. */
  readonly valueIds: Map<string, number>;
}

/**
 * Joins slices in the order of the chunk. The last stream of a slice may be the first of the next. Call `releaseJoined` after
 * the last use of the result.
 */
export function joinRows(slices: readonly RowSlice[]): ChunkRows {
  let rows = 0;
  let pairs = 0;
  let lineBytes = 0;
  for (const { rows: source, from, to } of slices) {
    rows += to - from;
    pairs += source.firstPair[to] - source.firstPair[from];
    for (let row = from; row < to; row++) lineBytes += source.lineEnd[row] - source.lineStart[row];
  }
  const lines = POOL.take(Math.max(lineBytes, PAGE_TARGET_BYTES)).subarray(0, lineBytes);
  const out: JoinedColumns = {
    lines,
    streamOf: new Uint32Array(rows),
    times: new Float64Array(rows),
    sourceOf: new Uint16Array(rows),
    lineStart: new Uint32Array(rows),
    lineEnd: new Uint32Array(rows),
    firstPair: new Uint32Array(rows + 1),
    pairName: new Uint32Array(pairs),
    pairValue: new Uint32Array(pairs),
  };
  const joined: JoinedMetadata = {
    streams: [],
    names: [],
    nameIds: new Map(),
    values: [],
    valueIds: new Map(),
  };
  const end: JoinedEnd = { row: 0, line: 0, pair: 0 };
  for (const slice of slices) append(slice, out, joined, end);
  const { streams, names, values } = joined;
  const { streamOf, times, sourceOf, lineStart, lineEnd, firstPair, pairName, pairValue } = out;
  // A literal in the order of a merge's batch: the functions that read rows then see one hidden class.
  return {
    streams,
    rows,
    streamOf,
    times,
    sources: [lines],
    sourceOf,
    lineStart,
    lineEnd,
    names,
    values,
    firstPair,
    pairName,
    pairValue,
  };
}

/** Appends a slice. A separate function, because V8 optimizes one that is called more often than a long loop. */
function append(
  { rows: source, from, to }: RowSlice,
  out: JoinedColumns,
  joined: JoinedMetadata,
  end: JoinedEnd,
): void {
  copyLines(source, from, to, out.lines, end.line);
  const idOfName = new Int32Array(source.names.length).fill(-1);
  const idOfValue = new Int32Array(source.values.length).fill(-1);
  let { row: at, line: lineAt, pair: pairAt } = end;
  for (let row = from; row < to; row++, at++) {
    out.streamOf[at] = indexOfStream(joined.streams, source.streams[source.streamOf[row]]);
    out.times[at] = source.times[row];
    out.lineStart[at] = lineAt;
    lineAt += source.lineEnd[row] - source.lineStart[row];
    out.lineEnd[at] = lineAt;
    for (let p = source.firstPair[row]; p < source.firstPair[row + 1]; p++) {
      const name = source.pairName[p];
      const value = source.pairValue[p];
      if (idOfName[name] < 0) idOfName[name] = nameIn(joined, source.names[name]);
      if (idOfValue[value] < 0) idOfValue[value] = valueIn(joined, source.values[value]);
      out.pairName[pairAt] = idOfName[name];
      out.pairValue[pairAt++] = idOfValue[value];
    }
    out.firstPair[at + 1] = pairAt;
  }
  end.row = at;
  end.line = lineAt;
  end.pair = pairAt;
}

/** Copies the lines of rows `from` to `to`. Lines that follow each other, as those of a merge do, are copied at once. */
function copyLines(
  { sources, sourceOf, lineStart, lineEnd }: ChunkRows,
  from: number,
  to: number,
  into: Buffer,
  at: number,
): void {
  for (let row = from; row < to; ) {
    const start = lineStart[row];
    const source = sourceOf[row];
    let end = lineEnd[row];
    for (row++; row < to && lineStart[row] === end && sourceOf[row] === source; row++) end = lineEnd[row];
    sources[source].copy(into, at, start, end);
    at += end - start;
  }
}

/** Returns the memory of lines that `joinRows` returned. Nothing may use them afterward. */
export function releaseJoined({ sources }: ChunkRows): void {
  for (const lines of sources) POOL.give(lines);
}

function indexOfStream(streams: Stream[], stream: Stream): number {
  const last = streams.length - 1;
  if (last >= 0 && (streams[last] === stream || streams[last].text === stream.text)) return last;
  return streams.push(stream) - 1;
}

function nameIn({ names, nameIds }: JoinedMetadata, name: string): number {
  const known = nameIds.get(name);
  if (known !== undefined) return known;
  nameIds.set(name, names.length);
  return names.push(name) - 1;
}

function valueIn({ values, valueIds }: JoinedMetadata, value: Buffer): number {
  const key = value.latin1Slice();
  const known = valueIds.get(key);
  if (known !== undefined) return known;
  valueIds.set(key, values.length);
  return values.push(Buffer.from(value)) - 1;
}
