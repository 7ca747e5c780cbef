/**
 * A fingerprint of a set of entries that does not depend on their order, nor on their pages and chunks. Equal
 * sets have equal fingerprints. A row that was lost, duplicated, changed or moved to another stream changes
 * it. A merge compares what it read with what it wrote before the result is published.
 *
 * Pitfall: the hash finds defects and does not resist deliberate collisions. Before an entry is dropped as a
 * duplicate, its bytes are compared.
 */
import { type HashWords, hashLines } from '../../base/kernels/row-hash.ts';
import type { MetadataColumn, PageRows, Stream } from '../../base/model/page.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';

export interface Fingerprint {
  readonly rows: number;
  readonly lineBytes: number;
  /** Bytes of names and values. */
  readonly metadataBytes: number;
  /** Sums of two hashes of each row, modulo 2^32. */
  readonly one: number;
  readonly two: number;
}

/** Values that the fingerprint sums up, for each row of a page. */
export interface RowHashes extends HashWords {
  readonly metadataBytes: Float64Array;
}

/** Odd, with about as many ones as zeros. */
const FACTOR_ONE = 0x9e3779b1;
const FACTOR_TWO = 0x7feb352d;

export function sameFingerprint(a: Fingerprint, b: Fingerprint): boolean {
  return (
    a.rows === b.rows &&
    a.lineBytes === b.lineBytes &&
    a.metadataBytes === b.metadataBytes &&
    a.one === b.one &&
    a.two === b.two
  );
}

export class FingerprintSum {
  #rows = 0;
  #lineBytes = 0;
  #metadataBytes = 0;
  #one = 0;
  #two = 0;

  addRow(hashes: RowHashes, row: number, lineBytes: number): void {
    this.#rows++;
    this.#lineBytes += lineBytes;
    this.#metadataBytes += hashes.metadataBytes[row];
    this.#one = (this.#one + hashes.one[row]) | 0;
    this.#two = (this.#two + hashes.two[row]) | 0;
  }

  addPage({ rows, lineOffsets }: PageRows, hashes: RowHashes): void {
    for (let row = 0; row < rows; row++) this.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
  }

  add(other: Fingerprint): void {
    this.#rows += other.rows;
    this.#lineBytes += other.lineBytes;
    this.#metadataBytes += other.metadataBytes;
    this.#one = (this.#one + other.one) | 0;
    this.#two = (this.#two + other.two) | 0;
  }

  clear(): void {
    this.#rows = 0;
    this.#lineBytes = 0;
    this.#metadataBytes = 0;
    this.#one = 0;
    this.#two = 0;
  }

  get value(): Fingerprint {
    const rows = this.#rows;
    const lineBytes = this.#lineBytes;
    const metadataBytes = this.#metadataBytes;
    const one = this.#one;
    const two = this.#two;
    return { rows, lineBytes, metadataBytes, one: one >>> 0, two: two >>> 0 };
  }
}

/** Hashes rows. Caches the hash of each stream as long as the stream is in memory. */
export class RowHasher {
  readonly #streams = new WeakMap<Stream, HashPair>();

  /** Hashes all columns of the page. Equal entries have equal hashes. */
  hash(page: PageRows): RowHashes {
    const { rows } = page;
    const hashes: RowHashes = {
      one: new Uint32Array(rows),
      two: new Uint32Array(rows),
      metadataBytes: new Float64Array(rows),
    };
    for (const column of page.metadata) addMetadata(hashes, column, rows);
    // Rounded down, also before 1970: an entry's day and time of day must not depend on where its page
    // begins.
    const base = Number(((page.baseNs % NS_PER_DAY) + NS_PER_DAY) % NS_PER_DAY);
    const day = Number((page.baseNs - BigInt(base)) / NS_PER_DAY);
    for (const { stream, firstRow, rows: ofRun } of page.runs) {
      let pair = this.#streams.get(stream);
      if (pair === undefined) {
        pair = textHash(stream.text);
        this.#streams.set(stream, pair);
      }
      addTimes(hashes, page.times, base, firstRow, firstRow + ofRun, pair.one ^ day, pair.two + day);
    }
    hashLines(hashes, page.lines, page.lineOffsets, rows);
    return hashes;
  }
}

interface HashPair {
  readonly one: number;
  readonly two: number;
}

/** Hashes the UTF-16 units. Two texts are equal if their UTF-8 is. */
function textHash(text: string): HashPair {
  let one = text.length ^ FACTOR_TWO;
  let two = text.length ^ FACTOR_ONE;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    one = Math.imul(one ^ unit, FACTOR_ONE);
    one ^= one >>> 15;
    two = Math.imul(two + unit, FACTOR_TWO);
    two = (two << 13) | (two >>> 19);
  }
  return { one: settle(one), two: settle(two) };
}

/** Mixes the bits, so that every input bit affects every output bit. */
function settle(hash: number): number {
  let mixed = Math.imul(hash ^ (hash >>> 16), FACTOR_TWO);
  mixed = Math.imul(mixed ^ (mixed >>> 15), FACTOR_ONE);
  return mixed ^ (mixed >>> 16);
}

/** Adds up hashes, so that the order of names does not matter. A row has each name once. */
function addMetadata({ one, two, metadataBytes }: RowHashes, column: MetadataColumn, rows: number): void {
  const { ids, count } = column;
  const name = textHash(column.name);
  const nameBytes = Buffer.byteLength(column.name);
  const ones = new Int32Array(count + 1);
  const twos = new Int32Array(count + 1);
  const bytes = new Float64Array(count + 1);
  for (let v = 0; v < count; v++) {
    const text = column.valueAt(v);
    const value = textHash(text);
    ones[v + 1] = settle(Math.imul(name.one, FACTOR_TWO) ^ value.one);
    twos[v + 1] = settle(Math.imul(name.two, FACTOR_ONE) + value.two);
    bytes[v + 1] = nameBytes + Buffer.byteLength(text);
  }
  for (let row = 0; row < rows; row++) {
    const id = ids[row];
    one[row] += ones[id];
    two[row] += twos[id];
    metadataBytes[row] += bytes[id];
  }
}

/** Adds times and streams. Their bits are mixed when the line is added. */
function addTimes(
  { one, two }: RowHashes,
  times: Float64Array,
  base: number,
  from: number,
  to: number,
  streamOne: number,
  streamTwo: number,
): void {
  for (let row = from; row < to; row++) {
    const time = base + times[row];
    const high = Math.floor(time / 2 ** 32);
    one[row] += streamOne ^ Math.imul(time | 0, FACTOR_ONE) ^ high;
    two[row] += streamTwo + Math.imul(time | 0, FACTOR_TWO) + high;
  }
}
