/**
 * Counts of a footer in stored form, decoded stream by stream on demand. As arrays they use 30 to 300 bytes
 * for each minute, stream and level, against 7 bytes stored. A process caches many footers, but queries need
 * the counts of few.
 *
 * Pitfall: counts of streams with many minutes, as in merged chunks, stay decoded after the first use. Their
 * arrays use five times their stored size. Decoding them again would make a query of all streams decode a day
 * each time (20 ms of CPU for 109,000 buckets). Short counts are decoded at each use, because most of their
 * memory would be array headers.
 */
import { CorruptionError, invariant } from '../../base/model/errors.ts';
import { ByteReader, readVarints } from '../codec/byte-io.ts';
import type { CountColumns } from './count-columns.ts';
import type { CountsByStream, LevelCounts, MinuteRange } from './format.ts';

const ALL: MinuteRange = Object.freeze({ from: 0, to: Infinity });

/** Minimum stored bytes of a stream whose counts stay decoded: about 70 buckets. */
const KEPT_FROM_BYTES = 512;
/** Memory of decoded counts per stored byte. */
const UNPACKED_FACTOR = 6;

/** Varints per bucket: minute, entries, line bytes, metadata bytes. */
const VARINTS_OF_BUCKET = 4;

export class StoredCounts implements CountsByStream {
  readonly length: number;
  /** Start of each stream's counts in the bytes, and the end of the last one. */
  readonly #starts: Uint32Array;
  readonly #bytes: Buffer;
  readonly #what: string;
  readonly #unpacked = new Map<number, readonly LevelCounts[]>();

  private constructor(starts: Uint32Array, bytes: Buffer, what: string) {
    this.length = starts.length - 1;
    this.#starts = starts;
    this.#bytes = bytes;
    this.#what = what;
  }

  /**
   * Reads and copies the counts at the reader's position. Throws CorruptionError if they are inconsistent. A
   * number above 2^53 is detected when its stream is decoded.
   */
  static read(reader: ByteReader, streams: number, levels: number, what: string): StoredCounts {
    const starts = new Uint32Array(streams + 1);
    const begin = reader.position;
    for (let s = 0; s < streams; s++) {
      starts[s] = reader.position - begin;
      for (let left = reader.count(2); left > 0; left--) {
        const level = reader.varint();
        if (level >= levels) throw new CorruptionError(`${what}: counts name level ${level}`);
        reader.skipVarints(VARINTS_OF_BUCKET * reader.count(VARINTS_OF_BUCKET));
      }
    }
    starts[streams] = reader.position - begin;
    // Do not allocate from Node.js's pool: a small part would retain a whole slab.
    const bytes = Buffer.allocUnsafeSlow(starts[streams]);
    bytes.set(reader.since(begin));
    return new StoredCounts(starts, bytes, what);
  }

  get storedBytes(): number {
    return this.#bytes.length;
  }

  /** Bytes used after all counts were requested. */
  get heldBytes(): number {
    let bytes = this.#starts.byteLength + this.#bytes.length;
    for (let s = 0; s < this.length; s++) {
      const stored = this.#starts[s + 1] - this.#starts[s];
      if (stored >= KEPT_FROM_BYTES) bytes += UNPACKED_FACTOR * stored;
    }
    return bytes;
  }

  /** Throws CorruptionError. */
  at(stream: number, range = ALL): readonly LevelCounts[] {
    invariant(stream >= 0 && stream < this.length, `${this.#what} counts ${this.length} streams`);
    const stored = this.#starts[stream + 1] - this.#starts[stream];
    if (stored < KEPT_FROM_BYTES) return this.#unpack(stream, range);
    let known = this.#unpacked.get(stream);
    if (known === undefined) {
      known = this.#unpack(stream, ALL);
      this.#unpacked.set(stream, known);
    }
    return known;
  }

  /** Adds the counts of a stream to the columns. Throws CorruptionError. */
  addTo(columns: CountColumns, stream: number): void {
    invariant(stream >= 0 && stream < this.length, `${this.#what} counts ${this.length} streams`);
    const [start, end] = [this.#starts[stream], this.#starts[stream + 1]];
    if (end - start >= KEPT_FROM_BYTES) {
      for (const counts of this.at(stream)) columns.add(counts);
      return;
    }
    readVarints(this.#bytes, start, end, NUMBERS);
    addLevels(columns, NUMBERS);
  }

  #unpack(stream: number, { from, to }: MinuteRange): readonly LevelCounts[] {
    const reader = new ByteReader(this.#bytes, this.#starts[stream], this.#starts[stream + 1]);
    const found: LevelCounts[] = [];
    for (let left = reader.count(2); left > 0; left--) {
      const counts = readLevel(reader, from, to);
      if (counts.minutes.length > 0) found.push(counts);
    }
    return found;
  }

  /** Counts stay stored: an iteration is rare, and meets all streams. Throws CorruptionError. */
  *[Symbol.iterator](): Generator<readonly LevelCounts[]> {
    for (let stream = 0; stream < this.length; stream++) {
      yield this.#unpacked.get(stream) ?? this.#unpack(stream, ALL);
    }
  }
}

/** Scratch array for all numbers of a stream, each of which has at least one byte. */
const NUMBERS = new Float64Array(KEPT_FROM_BYTES);

/** @param stored Numbers of a stream, checked by `read` */
function addLevels(columns: CountColumns, stored: Float64Array): void {
  const { from, to, counted } = columns;
  const amountAt = counted === 'entries' ? 1 : 2;
  let at = 1;
  for (let [levels] = stored; levels > 0; levels--) {
    const level = stored[at];
    const start = columns.buckets;
    const end = at + 2 + stored[at + 1] * VARINTS_OF_BUCKET;
    let minute = 0;
    for (at += 2; at < end; at += VARINTS_OF_BUCKET) {
      minute += stored[at];
      if (minute >= from && minute <= to) columns.push(minute, stored[at + amountAt]);
    }
    columns.close(level, start);
  }
}

function readLevel(reader: ByteReader, from: number, to: number): LevelCounts {
  const level = reader.varint();
  const minutes: number[] = [];
  const entries: number[] = [];
  const lineBytes: number[] = [];
  const metadataBytes: number[] = [];
  let minute = 0;
  for (let left = reader.count(VARINTS_OF_BUCKET); left > 0; left--) {
    minute += reader.varint();
    if (minute < from || minute > to) {
      reader.skipVarints(VARINTS_OF_BUCKET - 1);
      continue;
    }
    minutes.push(minute);
    entries.push(reader.varint());
    lineBytes.push(reader.varint());
    metadataBytes.push(reader.varint());
  }
  return { level, minutes, entries, lineBytes, metadataBytes };
}
