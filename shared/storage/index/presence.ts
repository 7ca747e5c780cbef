/**
 * Presence: the streams of a chunk, from its footer, encoded and decoded. All chunks share one block. The
 * directory stores the number of bytes per chunk, so that one chunk can be decoded without the others.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import type { Footer } from '../chunk/format.ts';
import { ByteReader, type ByteWriter } from '../codec/byte-io.ts';
import type { ChunkPresence, ChunkSummary } from './format.ts';

/** Minimum bytes of one stream: six varints. */
export const MIN_PRESENCE_BYTES = 6;

/**
 * Allocates all columns in one buffer. Each buffer outside the heap costs over a microsecond, and a day has
 * 10,000.
 */
function emptyPresence(streams: number): ChunkPresence {
  const buffer = new ArrayBuffer(streams * (5 * 8 + 4));
  const column = (i: number) => new Float64Array(buffer, i * streams * 8, streams);
  return {
    streams: new Uint32Array(buffer, 5 * streams * 8, streams),
    first: column(0),
    last: column(1),
    entries: column(2),
    lineBytes: column(3),
    metadataBytes: column(4),
  };
}

/**
 * Adds up the runs of all pages by stream. The indexes are those of the footer's streams; streams without
 * entries are omitted.
 */
export function presenceOfFooter(footer: Footer): ChunkPresence {
  const all = emptyPresence(footer.streams.length);
  all.first.fill(Infinity);
  for (const page of footer.pages) {
    for (const run of page.runs) {
      const s = run.stream;
      if (run.first < all.first[s]) all.first[s] = run.first;
      if (run.last > all.last[s]) all.last[s] = run.last;
      all.entries[s] += run.rows;
      all.lineBytes[s] += run.lineBytes;
      all.metadataBytes[s] += run.metadataBytes;
    }
  }
  for (let s = 0; s < all.streams.length; s++) all.streams[s] = s;
  // Our writer lists only streams with entries, but a footer may contain others.
  return all.entries.includes(0) ? withEntries(all) : all;
}

function withEntries({
  first,
  last,
  entries,
  lineBytes,
  metadataBytes,
  streams,
}: ChunkPresence): ChunkPresence {
  const present = streams.filter(s => entries[s] > 0);
  const pick = (column: Float64Array) => Float64Array.from(present, s => column[s]);
  return {
    streams: present,
    first: pick(first),
    last: pick(last),
    entries: pick(entries),
    lineBytes: pick(lineBytes),
    metadataBytes: pick(metadataBytes),
  };
}

/** @param chunkFirst Time of day of the chunk's earliest entry; times are relative to it */
export function writePresence(out: ByteWriter, presence: ChunkPresence, chunkFirst: number): void {
  const { streams, first, last, entries, lineBytes, metadataBytes } = presence;
  let before = 0;
  for (let i = 0; i < streams.length; i++) {
    out.varint(streams[i] - before);
    before = streams[i];
    out.varint(first[i] - chunkFirst);
    out.varint(last[i] - first[i]);
    out.varint(entries[i]);
    out.varint(lineBytes[i]);
    out.varint(metadataBytes[i]);
  }
}

export interface PresenceRange {
  readonly start: number;
  readonly end: number;
  /** Number of streams of the chunk. */
  readonly streams: number;
}

/**
 * Decodes the presence of one chunk. Throws CorruptionError if it contradicts the chunk's summary.
 *
 * @param known Number of streams of the index
 */
export function readPresence(
  block: Buffer,
  { start, end, streams }: PresenceRange,
  chunk: ChunkSummary,
  known: number,
  what: string,
): ChunkPresence {
  const reader = new ByteReader(block, start, end);
  const presence = emptyPresence(streams);
  let stream = 0;
  let rows = 0;
  let lineBytes = 0;
  let metadataBytes = 0;
  let earliest = Infinity;
  let latest = 0;
  for (let i = 0; i < streams; i++) {
    const step = reader.varint();
    stream += step;
    if (stream >= known || (i > 0 && step === 0)) {
      throw new CorruptionError(`${what}: names stream ${stream} of ${known} out of order`);
    }
    presence.streams[i] = stream;
    presence.first[i] = chunk.first + reader.varint();
    presence.last[i] = presence.first[i] + reader.varint();
    presence.entries[i] = reader.varint();
    presence.lineBytes[i] = reader.varint();
    presence.metadataBytes[i] = reader.varint();
    rows += presence.entries[i];
    lineBytes += presence.lineBytes[i];
    metadataBytes += presence.metadataBytes[i];
    if (presence.first[i] < earliest) earliest = presence.first[i];
    if (presence.last[i] > latest) latest = presence.last[i];
  }
  const agrees =
    reader.remaining === 0 &&
    rows === chunk.rows &&
    lineBytes === chunk.lineBytes &&
    metadataBytes === chunk.metadataBytes &&
    earliest === chunk.first &&
    latest === chunk.last;
  if (!agrees) throw new CorruptionError(`${what}: its streams do not add up to the chunk`);
  return presence;
}
