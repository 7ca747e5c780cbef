/**
 * Compresses the rows of a page column by column. The columns of one page are compressed in parallel in the
 * thread pool. Their bytes have a fixed order: times, low times, metadata, lengths, field columns, residual
 * fields, lines in either form. A query that needs no lines therefore reads one range at the start of the
 * page.
 */

import { setImmediate as nextRound } from 'node:timers/promises';
import { BufferPool } from '../../base/model/buffer-pool.ts';
import { atOnce, type Pace, runPaced, type Steps } from '../../base/model/steps.ts';
import { returnIfPooled, takeStoredBytes } from '../../base/model/stored-bytes.ts';
import {
  type BlockHandle,
  borrowStoredBlock,
  COMPACTION_COMPRESSION,
  type Compression,
  type StoredBlock,
  storeBlock,
  storeRaw,
} from '../codec/compression.ts';
import { writeFrameTail } from '../columns/split-frame.ts';
import type { ChunkIndexer, ExtraColumn } from './chunk-indexer.ts';
import { ColumnKind, type ColumnMeta, type PageMeta, type RunMeta } from './format.ts';
import { encodeFixedLengths, encodeLengths } from './length-column.ts';
import { encodeMetadata } from './metadata-column.ts';
import type { ChunkRows } from './rows.ts';
import { type CutSplit, cutSplit, packSplit, trySplit } from './split-page.ts';
import { encodePackedTimes, encodeTimes } from './time-column.ts';

/**
 * Minimum size of columns other than lines to compress, if they are merged soon. A call of zstd takes 20 µs, and such columns are 3%
 * of a page of a push.
 */
const MIN_COMPRESSED_BYTES = 1024;
/** Buffers for raw lines that are copied for the pages in progress. */
const POOL = new BufferPool(16 * 1024 * 1024);

export interface PackedPage {
  /** Metadata of the page, with offset 0; the caller sets the offset. */
  readonly meta: PageMeta;
  /** Stored bytes in memory of exactly their size. */
  readonly bytes: Uint8Array;
  /** Lines, if they were requested. Call `releaseLines` after their last use. */
  readonly lines?: Buffer | undefined;
}

/** Returns the memory of lines to the writer, unless they are those of its input. Nothing may use them afterward. */
export function releaseLines(lines: readonly Buffer[]): void {
  for (const one of lines) POOL.give(one);
}

/**
 * Minimum bytes of lines for which the writer yields within the page, because it takes a few milliseconds.
 */
const LONG_PAGE_BYTES = 96 * 1024;
/** Rows per step: 0.2 ms. */
const ROWS_A_STEP = 4096;
const PAIRS_A_STEP = 16_384;

export interface PackOptions {
  /** Time slices of the work. Default: none. */
  readonly pace?: Pace | undefined;
  /** Whether the result has the lines. */
  readonly keepsLines?: boolean;
  /** Whether this thread compresses large blocks too. Default: the thread pool does. */
  readonly isHere?: boolean;
}

/**
 * Compresses the rows `from` (inclusive) to `to` (exclusive) as one page. The indexer is called before this
 * returns.
 */
export async function packPage(
  input: ChunkRows,
  from: number,
  to: number,
  compression: Compression,
  indexer?: ChunkIndexer,
  { pace, keepsLines = false, isHere = false }: PackOptions = {},
): Promise<PackedPage> {
  const rows = to - from;
  const { lines, lengths, isCopy } = gatherLines(input, from, to);
  const columnsOfNames = metadataColumns(input, from, to);
  const isPaced = pace !== undefined && indexer === undefined;
  const metadata = isPaced ? await runPaced(columnsOfNames, pace) : atOnce(columnsOfNames);
  const large = metadata.filter(({ encoded }) => encoded.dictionary === undefined);
  const lineOffsets = offsetsOf(lengths);
  // Split only merged chunks, which are read often and rewritten rarely. For data that is compressed again
  // within minutes, splitting costs more than it saves.
  const isLasting = compression === COMPACTION_COMPRESSION;
  const dayTimes = input.times.subarray(from, to);
  const tried = isLasting ? trySplit({ lines, offsets: lineOffsets, rows, times: dayTimes }) : undefined;
  const origin = { input, from, split: tried?.isSure ? tried.split : undefined };
  const extras = indexer?.page(lines, lineOffsets, rows, large, origin) ?? [];
  const cut = tried && cutSplit(tried, columnsApart(extras));
  const packing = cut && handled(packSplit(cut, lines, compression));
  if (pace?.due()) await pace.yieldIfDue();
  else if (pace === undefined && lines.length >= LONG_PAGE_BYTES) await nextRound();
  const runs = runsOf(input, from, to);
  let base = Infinity;
  for (const run of runs) if (run.first < base) base = run.first;
  const offsets = new Float64Array(rows);
  for (let i = 0; i < rows; i++) offsets[i] = input.times[from + i] - base;
  const runStarts = new Uint8Array(rows);
  for (const run of runs) runStarts[run.firstRow] = 1;
  const times = (isLasting ? encodePackedTimes : encodeTimes)(offsets, rows, runStarts);

  const {
    times: timesKind,
    metadata: metadataKind,
    lengths: lengthsKind,
    fixedLengths: fixedKind,
    field: fieldKind,
    residuals: residualsKind,
    lines: linesKind,
    splitLines: splitKind,
  } = ColumnKind;
  const lowKind = isLasting ? ColumnKind.packedTimes : ColumnKind.lowTimes;
  const split = await packing;
  if (pace?.due()) await pace.yieldIfDue();
  const raws: RawColumn[] = [
    { kind: timesKind, name: '', constant: false, bytes: times.high },
    ...(times.low.length > 0 ? [{ kind: lowKind, name: '', constant: false, bytes: times.low }] : []),
    ...metadata.map(({ name, encoded: { dictionary, constant, payload } }) => {
      return { kind: metadataKind, name, dictionary, constant, bytes: payload };
    }),
    isLasting
      ? { kind: fixedKind, name: '', constant: false, bytes: encodeFixedLengths(lengths, rows) }
      : { kind: lengthsKind, name: '', constant: false, bytes: encodeLengths(lengths, rows) },
    ...extras.map(extra => {
      const { kind = fieldKind, name } = extra;
      const { bytes, ends } = partOf(extra, extras, cut);
      return { kind, name, constant: false, bytes, ends };
    }),
    split
      ? { kind: splitKind, name: '', constant: false, bytes: split, isTimed: cut?.isTimed === true }
      : { kind: linesKind, name: '', constant: false, bytes: lines },
  ];
  const storing: Promise<StoredBlock>[] = [];
  const isLinesHere = isHere && split === undefined;
  for (const { kind, bytes, ends } of isLinesHere ? raws.slice(0, -1) : raws) {
    const isPacked = kind === fieldKind || kind === residualsKind || kind === splitKind;
    const isSmall = !isLasting && kind !== linesKind && bytes.length < MIN_COMPRESSED_BYTES;
    storing.push(
      handled(
        isPacked || isSmall ? Promise.resolve(storeRaw(bytes)) : storeBlock(bytes, compression, isHere, ends),
      ),
    );
    if (pace?.due()) await pace.yieldIfDue();
  }
  const stored = await Promise.all(storing);
  // Copied into the page below, before this thread compresses another block.
  if (isLinesHere)
    stored.push(borrowStoredBlock(lines, compression) ?? (await storeBlock(lines, compression)));
  const columns = layOut(raws, stored);
  const storedBytes = stored.reduce((sum, block) => sum + block.bytes.length, 0);
  const page = joined(stored, storedBytes, isLasting);
  for (const { bytes } of stored) returnIfPooled(bytes);
  for (const { bytes } of raws) returnIfPooled(bytes);
  if (isCopy && !keepsLines) POOL.give(lines);
  return {
    meta: { offset: 0, storedBytes, rows, lineBytes: lines.length, base, scale: times.scale, runs, columns },
    bytes: page,
    lines: keepsLines ? lines : undefined,
  };
}

/**
 * Copy small blocks, because they are slices of slabs that Node.js shares among buffers. Until a chunk of 100
 * MB is written, they would retain almost twice its size.
 * @param isLasting Whether the page is written to a file, which then returns its memory
 */
function joined(blocks: readonly StoredBlock[], bytes: number, isLasting: boolean): Uint8Array {
  const page = isLasting ? takeStoredBytes(bytes) : Buffer.allocUnsafeSlow(bytes);
  let at = 0;
  for (const block of blocks) {
    page.set(block.bytes, at);
    at += block.bytes.length;
  }
  return page;
}

/** Marks a promise that is awaited later, so that an earlier failure is not reported as unhandled. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

function offsetsOf(lengths: Uint32Array): Uint32Array {
  const offsets = new Uint32Array(lengths.length + 1);
  for (let i = 0; i < lengths.length; i++) offsets[i + 1] = offsets[i] + lengths[i];
  return offsets;
}

/** Returns the columns of split lines that have separate blocks, or undefined if the frame has none. */
function columnsApart(extras: readonly ExtraColumn[]): ReadonlySet<number> | undefined {
  if (!extras.some(({ kind }) => kind === ColumnKind.splitFrame)) return undefined;
  return new Set(splitColumnsOf(extras));
}

function splitColumnsOf(extras: readonly ExtraColumn[]): number[] {
  return extras.map(({ splitColumn }) => splitColumn).filter(column => column !== undefined);
}

/** Returns the bytes of an extra column. Those of the split lines are added. */
function partOf(
  { kind, bytes, splitColumn }: ExtraColumn,
  extras: readonly ExtraColumn[],
  cut: CutSplit | undefined,
): Pick<RawColumn, 'bytes' | 'ends'> {
  if (splitColumn !== undefined) return cut!.columns.get(splitColumn)!;
  if (kind !== ColumnKind.splitFrame) return { bytes };
  return { bytes: Buffer.concat([cut!.frame, writeFrameTail(bytes, splitColumnsOf(extras))]) };
}

interface RawColumn extends Omit<ColumnMeta, 'block'> {
  readonly bytes: Uint8Array;
  /** Offsets at which the statistics of the bytes change, if any. */
  readonly ends?: readonly number[] | undefined;
}

function layOut(raws: readonly RawColumn[], stored: readonly StoredBlock[]): ColumnMeta[] {
  let offset = 0;
  return raws.map(({ kind, name, dictionary, constant, isTimed }, i) => {
    const { bytes, rawBytes, codec, crc } = stored[i];
    const block: BlockHandle = { offset, storedBytes: bytes.length, rawBytes, codec, crc };
    offset += bytes.length;
    const column = { kind, name, block, dictionary, constant };
    return isTimed ? { ...column, isTimed } : column;
  });
}

interface PageLines {
  /** Lines of the page, one after the other. */
  readonly lines: Buffer;
  /** Bytes of each line. */
  readonly lengths: Uint32Array;
  /** Whether the lines were copied to memory of the pool. */
  readonly isCopy: boolean;
}

/** Returns lines that already follow each other as they are. Rows of a merge do, those of a push do not. */
function gatherLines(input: ChunkRows, from: number, to: number): PageLines {
  const { lineStart, lineEnd, sources, sourceOf } = input;
  const lengths = new Uint32Array(to - from);
  let total = 0;
  let isAdjacent = true;
  for (let row = from; row < to; row++) {
    const length = lineEnd[row] - lineStart[row];
    lengths[row - from] = length;
    total += length;
    if (row > from && (lineStart[row] !== lineEnd[row - 1] || sourceOf[row] !== sourceOf[row - 1]))
      isAdjacent = false;
  }
  if (isAdjacent && to > from) {
    const lines = sources[sourceOf[from]].subarray(lineStart[from], lineEnd[to - 1]);
    return { lines, lengths, isCopy: false };
  }
  const lines = POOL.take(total);
  let at = 0;
  for (let row = from; row < to; row++) {
    sources[sourceOf[row]].copy(lines, at, lineStart[row], lineEnd[row]);
    at += lengths[row - from];
  }
  return { lines, lengths, isCopy: true };
}

function runsOf(input: ChunkRows, from: number, to: number): RunMeta[] {
  const { streamOf, times, lineStart, lineEnd, firstPair, pairName, pairValue, names, values } = input;
  // Sum bytes by name once: a page has few of the names.
  const nameBytes = new Uint32Array(names.length);
  const runs: RunMeta[] = [];
  let start = from;
  let lineBytes = 0;
  let metadataBytes = 0;
  for (let row = from; row < to; row++) {
    lineBytes += lineEnd[row] - lineStart[row];
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      const name = pairName[p];
      if (nameBytes[name] === 0) nameBytes[name] = Buffer.byteLength(names[name]);
      metadataBytes += nameBytes[name] + values[pairValue[p]].length;
    }
    if (row + 1 < to && streamOf[row + 1] === streamOf[start]) continue;
    runs.push({
      stream: streamOf[start],
      firstRow: start - from,
      rows: row + 1 - start,
      first: times[start],
      last: times[row],
      lineBytes,
      metadataBytes,
    });
    start = row + 1;
    lineBytes = 0;
    metadataBytes = 0;
  }
  return runs;
}

interface NamedColumn {
  readonly name: string;
  readonly values: readonly Buffer[];
  readonly encoded: ReturnType<typeof encodeMetadata>;
}

interface GrowingColumn {
  readonly ids: Uint32Array;
  readonly local: Map<number, number>;
  readonly values: Buffer[];
}

function* metadataColumns(input: ChunkRows, from: number, to: number): Steps<NamedColumn[]> {
  const { firstPair } = input;
  const rows = to - from;
  const byName = new Map<number, GrowingColumn>();
  for (let row = from; row < to; ) {
    let stop = Math.min(to, row + ROWS_A_STEP);
    while (stop > row + 1 && firstPair[stop] - firstPair[row] > PAIRS_A_STEP) stop = (row + stop) >>> 1;
    addMetadata(input, from, to, byName, row, stop);
    row = stop;
    if (row < to) yield;
  }
  const columns: NamedColumn[] = [];
  for (const [name, { ids, values }] of byName) {
    if (columns.length > 0) yield;
    columns.push({ name: input.names[name], values, encoded: encodeMetadata(ids, rows, values) });
  }
  return columns.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Adds the metadata pairs of rows `first` to `last` to the page of rows `from` to `to`. */
function addMetadata(
  input: ChunkRows,
  from: number,
  to: number,
  byName: Map<number, GrowingColumn>,
  first: number,
  last: number,
): void {
  const { firstPair, pairName, pairValue } = input;
  for (let row = first; row < last; row++) {
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      let column = byName.get(pairName[p]);
      if (column === undefined) {
        column = { ids: new Uint32Array(to - from), local: new Map(), values: [] };
        byName.set(pairName[p], column);
      }
      const value = pairValue[p];
      let id = column.local.get(value);
      if (id === undefined) {
        column.values.push(input.values[value]);
        id = column.values.length;
        column.local.set(value, id);
      }
      column.ids[row - from] = id;
    }
  }
}
