/**
 * A fingerprint of a set of entries that does not depend on their order, nor on their pages and chunks. Equal
 * sets have equal fingerprints. A row that was lost, duplicated, changed or moved to another stream changes
 * it. A merge compares what it read with what it encodes before the result is published.
 *
 * Pitfall: the hash finds defects and does not resist deliberate collisions. Before an entry is dropped as a
 * duplicate, its bytes are compared.
 */
import { hashLines } from '../../base/kernels/row-hash.ts';
import { invariant } from '../../base/model/errors.ts';
import type { MetadataColumn, PageRows, Stream } from '../../base/model/page.ts';
import { returnStoredBytes, takeStoredBytes } from '../../base/model/stored-bytes.ts';
import type { ChunkRows } from '../../storage/chunk/rows.ts';

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
export interface RowHashes {
  /** Two words for each row. */
  readonly words: Uint32Array;
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
    this.#one = (this.#one + hashes.words[2 * row]) | 0;
    this.#two = (this.#two + hashes.words[2 * row + 1]) | 0;
  }

  addPage(page: PageRows, hashes: RowHashes): void {
    this.addRun(page, hashes, { firstRow: 0, rows: page.rows });
  }

  addRun(
    { lineOffsets }: PageRows,
    hashes: RowHashes,
    { firstRow, rows }: { readonly firstRow: number; readonly rows: number },
  ): void {
    for (let row = firstRow; row < firstRow + rows; row++) {
      this.addRow(hashes, row, lineOffsets[row + 1] - lineOffsets[row]);
    }
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
  readonly #streams = new WeakMap<Stream, bigint>();

  /** Hashes all columns of the page. Equal entries have equal hashes. Call `releaseHashes` after their last use. */
  hash(page: PageRows): RowHashes {
    const { rows } = page;
    const { words, metadataBytes } = newHashes(rows);
    const seeds = new BigUint64Array(words.buffer, 0, rows);
    for (const { stream, firstRow, rows: ofRun } of page.runs) {
      seeds.fill(this.#seedOf(stream), firstRow, firstRow + ofRun);
    }
    for (const column of page.metadata) addMetadata(words, metadataBytes, column, rows);
    hashLines(words, page);
    return { words, metadataBytes };
  }

  /**
   * Returns the fingerprint of rows that are encoded next, from their bytes. Their lines follow each other in one source.
   * @param dayStartNs start of their day, Unix ns
   */
  fingerprintOf(input: ChunkRows, dayStartNs: bigint): Fingerprint {
    const { rows, streams, streamOf, times, sources, lineStart, lineEnd } = input;
    const hashes = newHashes(rows);
    const seeds = new BigUint64Array(hashes.words.buffer, 0, rows);
    for (let row = 0; row < rows; ) {
      const first = row;
      while (row < rows && streamOf[row] === streamOf[first]) row++;
      seeds.fill(this.#seedOf(streams[streamOf[first]]), first, row);
    }
    addPairs(hashes, input);
    const lineOffsets = new Uint32Array(rows + 1);
    lineOffsets[0] = lineStart[0];
    lineOffsets.set(lineEnd, 1);
    hashLines(hashes.words, { rows, baseNs: dayStartNs, times, lines: sources[0], lineOffsets });
    const sum = new FingerprintSum();
    for (let row = 0; row < rows; row++) {
      invariant(lineStart[row] === lineOffsets[row], 'lines of a merge follow each other');
      sum.addRow(hashes, row, lineEnd[row] - lineStart[row]);
    }
    releaseHashes(hashes);
    return sum.value;
  }

  #seedOf(stream: Stream): bigint {
    let seed = this.#streams.get(stream);
    if (seed === undefined) {
      const { one, two } = textHash(stream.text);
      seed = BigInt.asUintN(32, BigInt(one)) | (BigInt.asUintN(32, BigInt(two)) << 32n);
      this.#streams.set(stream, seed);
    }
    return seed;
  }
}

function newHashes(rows: number): RowHashes {
  const words = new Uint32Array(takeStoredBytes(8 * rows).buffer, 0, 2 * rows);
  const metadataBytes = new Float64Array(takeStoredBytes(8 * rows).buffer, 0, rows).fill(0);
  return { words, metadataBytes };
}

/** Returns the memory of hashes, which nothing may use afterwards. */
export function releaseHashes({ words, metadataBytes }: RowHashes): void {
  for (const { buffer } of [words, metadataBytes]) returnStoredBytes(new Uint8Array(buffer));
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
function addMetadata(
  words: Uint32Array,
  metadataBytes: Float64Array,
  column: MetadataColumn,
  rows: number,
): void {
  const { ids, count } = column;
  const name = textHash(column.name);
  const nameBytes = Buffer.byteLength(column.name);
  const ones = new Int32Array(count + 1);
  const twos = new Int32Array(count + 1);
  const bytes = new Float64Array(count + 1);
  for (let v = 0; v < count; v++) {
    const text = column.valueAt(v);
    const { one, two } = pairHash(name, textHash(text));
    ones[v + 1] = one;
    twos[v + 1] = two;
    bytes[v + 1] = nameBytes + Buffer.byteLength(text);
  }
  for (let row = 0; row < rows; row++) {
    const id = ids[row];
    words[2 * row] += ones[id];
    words[2 * row + 1] += twos[id];
    metadataBytes[row] += bytes[id];
  }
}

/** Works as `addMetadata` for each name of the rows. */
function addPairs({ words, metadataBytes }: RowHashes, input: ChunkRows): void {
  const { rows, names, values, firstPair, pairName, pairValue } = input;
  const hashesOfNames = names.map(textHash);
  const nameBytes = names.map(name => Buffer.byteLength(name));
  const hashesOfValues = values.map(value => textHash(value.toString('utf8')));
  for (let row = 0; row < rows; row++) {
    for (let p = firstPair[row]; p < firstPair[row + 1]; p++) {
      const { one, two } = pairHash(hashesOfNames[pairName[p]], hashesOfValues[pairValue[p]]);
      words[2 * row] += one;
      words[2 * row + 1] += two;
      metadataBytes[row] += nameBytes[pairName[p]] + values[pairValue[p]].length;
    }
  }
}

function pairHash(name: HashPair, value: HashPair): HashPair {
  return {
    one: settle(Math.imul(name.one, FACTOR_TWO) ^ value.one),
    two: settle(Math.imul(name.two, FACTOR_ONE) + value.two),
  };
}
