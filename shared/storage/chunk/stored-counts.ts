/**
 * The counts of a footer as they are stored: unpacked stream by stream when somebody asks. As arrays they take 30 to 300 bytes
 * for each minute, stream and level, and 7 as stored; of what a process keeps footers of, a query asks for few.
 *
 * What a reader would get wrong: streams with many minutes, those of merged chunks, stay unpacked once they were asked for: their
 * arrays are long and take five times as much as what is stored, and a query of all of them would unpack a day each time (20 ms
 * of CPU for 109,000 buckets). Short ones are unpacked again: what they would take is not numbers but the heads of arrays.
 */
import { CorruptionError, invariant } from '../../base/model/errors.ts';
import { ByteReader, readVarints } from '../codec/byte-io.ts';
import type { CountColumns } from './count-columns.ts';
import type { CountsByStream, LevelCounts, MinuteRange } from './format.ts';

const ALL: MinuteRange = Object.freeze({ from: 0, to: Infinity });

/** Stored bytes of a stream whose counts stay unpacked: 70 buckets or so. */
const KEPT_FROM_BYTES = 512;
/** What they take then, for each stored byte. */
const UNPACKED_FACTOR = 6;

/** Varints of a bucket: minute, entries, line bytes, metadata bytes. */
const VARINTS_OF_BUCKET = 4;

export class StoredCounts implements CountsByStream {
  readonly length: number;
  /** Of each stream, where its counts begin in the bytes; and the end of the last one. */
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
   * Takes what stands next in the reader, a copy of it. Throws CorruptionError where it does not hold together; a number above
   * 2^53 is found when its stream is asked for.
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
    // Not of Node's pool: a small part would keep all of a slab.
    const bytes = Buffer.allocUnsafeSlow(starts[streams]);
    bytes.set(reader.since(begin));
    return new StoredCounts(starts, bytes, what);
  }

  /** Bytes that this holds once all was asked for. */
  get heldBytes(): number {
    let bytes = this.#starts.byteLength + this.#bytes.length;
    for (let s = 0; s < this.length; s++) {
      const stored = this.#starts[s + 1] - this.#starts[s];
      if (stored >= KEPT_FROM_BYTES) bytes += UNPACKED_FACTOR * stored;
    }
    return bytes;
  }

  /** Throws CorruptionError. */
  at(stream: number, stretch = ALL): readonly LevelCounts[] {
    invariant(stream >= 0 && stream < this.length, `${this.#what} counts ${this.length} streams`);
    const stored = this.#starts[stream + 1] - this.#starts[stream];
    if (stored < KEPT_FROM_BYTES) return this.#unpack(stream, stretch);
    let known = this.#unpacked.get(stream);
    if (known === undefined) {
      known = this.#unpack(stream, ALL);
      this.#unpacked.set(stream, known);
    }
    return known;
  }

  /** Adds those of a stream to the columns. Throws CorruptionError. */
  addTo(columns: CountColumns, stream: number): void {
    invariant(stream >= 0 && stream < this.length, `${this.#what} counts ${this.length} streams`);
    const [start, end] = [this.#starts[stream], this.#starts[stream + 1]];
    if (end - start >= KEPT_FROM_BYTES) {
      for (const counts of this.at(stream)) columns.add(counts);
      return;
    }
    readVarints(this.#bytes, start, end, numbers);
    addLevels(columns, numbers);
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

  *[Symbol.iterator](): Generator<readonly LevelCounts[]> {
    for (let stream = 0; stream < this.length; stream++) yield this.at(stream);
  }
}

/** All numbers of a stream, each of a byte or more. */
const numbers = new Float64Array(KEPT_FROM_BYTES);

/** @param stored numbers of a stream, which `read` has found to hold together */
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
