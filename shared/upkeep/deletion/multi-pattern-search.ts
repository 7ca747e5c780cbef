/**
 * Searches many needles in one pass over bytes, so that all delete requests for a text need one search.
 *
 * From each needle, a window of `stride` + 3 bytes is chosen. Wherever the needle occurs, one of the window's
 * blocks of four bytes begins at a multiple of the stride. The search only needs to check these blocks:
 *
 *     text      ...b y   u s e r - 1 7 3 2   f r o m...
 *                      |         |         |                checked: a block at each multiple of the stride
 *     window             . . . [s e r -] . .                one of its blocks matches
 *
 * A block is looked up by hash, and bytes are compared only if a needle contains it. Steps do not depend on
 * each other, which makes this faster than algorithms that skip by what they find. A match means equal bytes.
 * The caller must check whether it crosses the end of a line.
 */
import { enlarged } from '../../base/model/enlarged.ts';

const BLOCK_BYTES = 4;
/** Longer strides gain little and fill the table. */
const MAX_STRIDE = 16;
/**
 * From this needle length, the window is shorter than the needle, so that common parts (`user-`) can stay
 * outside.
 */
const CHOICE_BYTES = 5;
/** 32 KiB of marks fit the L1 cache. */
const MIN_TABLE_BITS = 15;
/** 1 MiB: 10,000 needles fill one eighth of it. */
const MAX_TABLE_BITS = 20;
/** Table slots per block, so that one lookup in eight is a false positive. */
const SLOTS_PER_BLOCK = 8;
/** Large and odd: the high bits of the product depend on all bits of the block. */
const HASH_FACTOR = 0x9e3779b1 | 0;

export class MultiPatternSearch {
  /** Matches of the last search in parallel arrays: start, and index of the needle. They are not sorted. */
  positions = new Uint32Array(64);
  needlesAt = new Uint32Array(64);
  #found = 0;
  readonly #needles: readonly Buffer[];
  /**
   * Needles searched one by one with the native search, which is faster for a single needle. The shortest
   * have no blocks.
   */
  readonly #single: readonly number[];
  readonly #blocks: Blocks | undefined;

  /** @param needles not empty, and without duplicates */
  constructor(needles: readonly Buffer[]) {
    if (needles.some(({ length }) => length === 0)) throw new RangeError('a needle must not be empty');
    this.#needles = needles;
    const indexes = needles.map((_, i) => i);
    const long = indexes.filter(i => needles[i].length >= BLOCK_BYTES);
    const isMany = long.length > 1;
    this.#single = isMany ? indexes.filter(i => needles[i].length < BLOCK_BYTES) : indexes;
    this.#blocks = isMany ? new Blocks(needles, long) : undefined;
  }

  /** Finds all matches inside `bytes[from, to)` and returns their number. */
  search(bytes: Buffer, from: number, to: number): number {
    this.#found = 0;
    const span = to === bytes.length ? bytes : bytes.subarray(0, to);
    for (const needle of this.#single) {
      const wanted = this.#needles[needle];
      for (let at = span.indexOf(wanted, from); at >= 0; at = span.indexOf(wanted, at + 1))
        this.#add(at, needle);
    }
    if (this.#blocks !== undefined) this.#searchBlocks(this.#blocks, bytes, from, to);
    return this.#found;
  }

  #searchBlocks(blocks: Blocks, bytes: Buffer, from: number, to: number): void {
    const { stride, marks, shift, first, next, blockOf, offsetOf, lengthOf, needlesOf } = blocks;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const last = to - BLOCK_BYTES;
    for (let at = from; ; at += stride) {
      at = nextMarked(view, at, last, stride, marks, shift);
      if (at > last) return;
      const block = view.getInt32(at, true);
      for (let i = first[Math.imul(block, HASH_FACTOR) >>> shift]; i >= 0; i = next[i]) {
        const start = at - offsetOf[i];
        const end = start + lengthOf[i];
        if (blockOf[i] !== block || start < from || end > to) continue;
        const known = needlesOf[i];
        const alike = typeof known === 'number' ? known : known.get(hashOf(bytes, start, end));
        if (alike === undefined) continue;
        for (let needle = alike; needle >= 0; needle = blocks.nextAlike[needle]) {
          if (isAt(bytes, start, this.#needles[needle])) this.#add(start, needle);
        }
      }
    }
  }

  #add(position: number, needle: number): void {
    if (this.#found === this.positions.length) {
      const length = this.#found * 2;
      this.positions = enlarged(this.positions, new Uint32Array(length));
      this.needlesAt = enlarged(this.needlesAt, new Uint32Array(length));
    }
    this.positions[this.#found] = position;
    this.needlesAt[this.#found++] = needle;
  }
}

/** Blocks of the windows of needles, each at least one block long. */
class Blocks {
  readonly stride: number;
  /** Indexed by hash of a block: 1 if a needle has a block with that hash. */
  readonly marks: Uint8Array;
  readonly shift: number;
  /** First kind per block hash, and the next kind per kind; -1 for none. */
  readonly first: Int32Array;
  readonly next: number[] = [];
  /** Block of each kind. A kind is a block at one offset in needles of one length. */
  readonly blockOf: number[] = [];
  readonly offsetOf: number[] = [];
  readonly lengthOf: number[] = [];
  /** Needles of each kind: the only one, or a map by the hash of their bytes. */
  readonly needlesOf: (number | Map<number, number>)[] = [];
  /** Next needle of the same length and hash, per needle; -1 for none. */
  readonly nextAlike: Int32Array;
  /** First needle per length and hash. */
  readonly #alike = new Map<string, number>();
  readonly #kinds = new Map<string, number>();

  /** @param indexes indexes of needles, without duplicates */
  constructor(needles: readonly Buffer[], indexes: readonly number[]) {
    const shortest = Math.min(...indexes.map(index => needles[index].length));
    const most = shortest - BLOCK_BYTES + 1;
    this.stride = Math.min(MAX_STRIDE, shortest < CHOICE_BYTES ? most : Math.floor((most * 3) / 4));
    const bits = Math.ceil(Math.log2(indexes.length * this.stride * SLOTS_PER_BLOCK));
    this.shift = 32 - Math.min(MAX_TABLE_BITS, Math.max(MIN_TABLE_BITS, bits));
    this.marks = new Uint8Array(2 ** (32 - this.shift));
    this.first = new Int32Array(this.marks.length).fill(-1);
    this.nextAlike = new Int32Array(needles.length).fill(-1);
    for (const index of indexes) {
      const key = alikeKey(needles[index]);
      this.nextAlike[index] = this.#alike.get(key) ?? -1;
      this.#alike.set(key, index);
    }
    const shared = countBlocks(indexes.map(index => needles[index]));
    for (const index of indexes) {
      const from = leastShared(needles[index], this.stride, shared);
      for (let offset = from; offset < from + this.stride; offset++) this.#enter(needles, index, offset);
    }
    this.#kinds.clear();
    this.#alike.clear();
  }

  #enter(needles: readonly Buffer[], index: number, offset: number): void {
    const needle = needles[index];
    const block = needle.readInt32LE(offset);
    const key = `${block} ${offset} ${needle.length}`;
    const kind = this.#kinds.get(key);
    if (kind === undefined) {
      const slot = Math.imul(block, HASH_FACTOR) >>> this.shift;
      this.#kinds.set(key, this.next.length);
      this.marks[slot] = 1;
      this.next.push(this.first[slot]);
      this.first[slot] = this.next.length - 1;
      this.blockOf.push(block);
      this.offsetOf.push(offset);
      this.lengthOf.push(needle.length);
      this.needlesOf.push(index);
      return;
    }
    const known = this.needlesOf[kind];
    const byHash = typeof known === 'number' ? new Map<number, number>() : known;
    if (typeof known === 'number') this.#enterAlike(byHash, needles[known]);
    this.#enterAlike(byHash, needle);
    this.needlesOf[kind] = byHash;
  }

  #enterAlike(byHash: Map<number, number>, needle: Buffer): void {
    byHash.set(hashOf(needle, 0, needle.length), this.#alike.get(alikeKey(needle))!);
  }
}

function alikeKey(needle: Buffer): string {
  return `${needle.length} ${hashOf(needle, 0, needle.length)}`;
}

/** FNV-1a hash. */
function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash;
}

/** Number of occurrences of each block in the needles. */
function countBlocks(needles: readonly Buffer[]): ReadonlyMap<number, number> {
  const counts = new Map<number, number>();
  for (const needle of needles) {
    for (let i = 0; i + BLOCK_BYTES <= needle.length; i++) {
      const block = needle.readInt32LE(i);
      counts.set(block, (counts.get(block) ?? 0) + 1);
    }
  }
  return counts;
}

/** Start of the `stride` consecutive blocks that the fewest needles share. */
function leastShared(needle: Buffer, stride: number, shared: ReadonlyMap<number, number>): number {
  const countAt = (i: number) => shared.get(needle.readInt32LE(i))!;
  let sum = 0;
  for (let i = 0; i < stride; i++) sum += countAt(i);
  let best = 0;
  let least = sum;
  for (let from = 1; from + stride + BLOCK_BYTES - 1 <= needle.length; from++) {
    sum += countAt(from + stride - 1) - countAt(from - 1);
    if (sum >= least) continue;
    least = sum;
    best = from;
  }
  return best;
}

/**
 * First position at or after `from`, in steps of the stride, with a marked block; past `last` if none exists.
 */
function nextMarked(
  view: DataView,
  from: number,
  last: number,
  stride: number,
  marks: Uint8Array,
  shift: number,
): number {
  let at = from;
  while (at <= last && marks[Math.imul(view.getInt32(at, true), HASH_FACTOR) >>> shift] === 0) at += stride;
  return at;
}

function isAt(bytes: Buffer, start: number, needle: Buffer): boolean {
  for (let i = needle.length - 1; i >= 0; i--) if (bytes[start + i] !== needle[i]) return false;
  return true;
}
