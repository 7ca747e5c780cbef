/**
 * Aggregates the streams of one tenant and day over its chunks: from the day index for the chunks that it
 * covers, otherwise from footers. Minutes are read only for chunks for which the sink requests them.
 *
 * Pitfall: an entry in two chunks, as after a repeated push, is counted twice until compaction removes one
 * (docs/reference/known-gaps.md).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Stream } from '../../base/model/page.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { countsOf, type LevelCounts } from '../../storage/chunk/format.ts';
import type { ChunkPresence } from '../../storage/index/format.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import { presenceOfFooter } from '../../storage/index/presence.ts';
import type { ChunkSource } from '../query/chunk-source.ts';

/** Maximum footers read at once: on S3 each takes 30 ms, and files do not wait. */
const FOOTERS_AT_ONCE = 32;
/** Pairs of stream and chunk processed before the thread yields: each takes about 0.1 µs. */
const PRESENCES_PER_SLICE = 50_000;

/** Index of a stream that is not counted. */
export const NO_INDEX = -1;
const UNKNOWN = -2;

/** Sums over entries. */
export interface DaySums {
  entries: number;
  lineBytes: number;
  metadataBytes: number;
}

/** Receives the streams of a day. Times are ns since the start of the day. */
export interface DaySink {
  /** Returns the index of a stream, or NO_INDEX. Called at least once per stream. */
  indexOf(stream: Stream): number;
  /** Whether entries from `first` to `last` are needed by minute. */
  wantsMinutes(first: number, last: number): boolean;
  /** Adds one stream of one chunk, if minutes are not needed. The sums are valid only during the call. */
  add(index: number, first: number, last: number, sums: DaySums): void;
  /** Adds one stream of one chunk by minute. */
  addMinutes(index: number, first: number, last: number, counts: readonly LevelCounts[]): void;
  /** Adds one chunk: the bounds of its counted streams. */
  addChunk(first: number, last: number): void;
}

interface DayWalk {
  readonly source: ChunkSource;
  readonly records: readonly ChunkRecord[];
  /** If undefined, every footer is read. */
  readonly index: IndexOfDay | undefined;
  readonly signal: AbortSignal;
}

/** Throws errors of the store, CorruptionError, errors of the sink, and the signal's reason. */
export async function walkDay(walk: DayWalk, sink: DaySink): Promise<void> {
  const { records, index } = walk;
  const covered = index === undefined ? [] : records.filter(({ id }) => index.covers(id));
  if (index !== undefined && covered.length > 0) await walkIndex(walk, index, covered, sink);
  const uncovered = covered.length === 0 ? records : records.filter(({ id }) => !index!.covers(id));
  await walkFooters(walk, uncovered, sink);
}

async function walkIndex(
  { signal }: DayWalk,
  index: IndexOfDay,
  records: readonly ChunkRecord[],
  sink: DaySink,
): Promise<void> {
  const known = new Int32Array(index.streams.length).fill(UNKNOWN);
  const indexOf = (s: number): number => {
    if (known[s] === UNKNOWN) known[s] = sink.indexOf(index.streams[s]);
    return known[s];
  };
  const byMinute: string[] = [];
  let sinceYield = 0;
  for (const { id } of records) {
    const presence = index.presenceOf(id)!;
    if (addPresence(sink, presence, indexOf)) byMinute.push(id);
    sinceYield += presence.streams.length;
    if (sinceYield < PRESENCES_PER_SLICE) continue;
    sinceYield = 0;
    signal.throwIfAborted();
    await nextTurn();
  }
  for await (const [id, { counts }] of index.countsOf(byMinute)) {
    const presence = index.presenceOf(id)!;
    addMinutes(sink, presence, counts, indexOf);
    sinceYield += presence.streams.length;
    if (sinceYield < PRESENCES_PER_SLICE) continue;
    sinceYield = 0;
    signal.throwIfAborted();
    await nextTurn();
  }
}

async function walkFooters(
  { source, signal }: DayWalk,
  records: readonly ChunkRecord[],
  sink: DaySink,
): Promise<void> {
  // Streams of footers are interned. One footer has each of its streams once.
  const known = records.length > 1 ? new Map<Stream, number>() : undefined;
  for (let i = 0; i < records.length; i += FOOTERS_AT_ONCE) {
    signal.throwIfAborted();
    const footers = await Promise.all(
      records.slice(i, i + FOOTERS_AT_ONCE).map(record => source.footer(record)),
    );
    for (const footer of footers) {
      const ofFooter = new Int32Array(footer.streams.length).fill(UNKNOWN);
      const indexOf = (s: number): number => {
        if (ofFooter[s] !== UNKNOWN) return ofFooter[s];
        const stream = footer.streams[s];
        let index = known?.get(stream);
        if (index === undefined) {
          index = sink.indexOf(stream);
          known?.set(stream, index);
        }
        ofFooter[s] = index;
        return index;
      };
      const presence = presenceOfFooter(footer);
      if (!addPresence(sink, presence, indexOf)) continue;
      const counts = Array.from(presence.streams, s => countsOf(footer, s));
      addMinutes(sink, presence, counts, indexOf);
    }
    await nextTurn();
  }
}

/** Returns true if minutes of some stream are needed. */
function addPresence(sink: DaySink, presence: ChunkPresence, indexOf: (s: number) => number): boolean {
  const { streams, first, last, entries, lineBytes, metadataBytes } = presence;
  // One object for all, because there may be a million.
  const sums: DaySums = { entries: 0, lineBytes: 0, metadataBytes: 0 };
  let isByMinute = false;
  let earliest = Infinity;
  let latest = -1;
  for (let i = 0; i < streams.length; i++) {
    const index = indexOf(streams[i]);
    if (index === NO_INDEX) continue;
    if (first[i] < earliest) earliest = first[i];
    if (last[i] > latest) latest = last[i];
    if (sink.wantsMinutes(first[i], last[i])) isByMinute = true;
    else {
      sums.entries = entries[i];
      sums.lineBytes = lineBytes[i];
      sums.metadataBytes = metadataBytes[i];
      sink.add(index, first[i], last[i], sums);
    }
  }
  if (latest >= 0) sink.addChunk(earliest, latest);
  return isByMinute;
}

/** @param counts parallel to the presence's streams */
function addMinutes(
  sink: DaySink,
  { streams, first, last }: ChunkPresence,
  counts: readonly (readonly LevelCounts[])[],
  indexOf: (s: number) => number,
): void {
  for (let i = 0; i < streams.length; i++) {
    const index = indexOf(streams[i]);
    if (index === NO_INDEX || !sink.wantsMinutes(first[i], last[i])) continue;
    sink.addMinutes(index, first[i], last[i], counts[i]);
  }
}
