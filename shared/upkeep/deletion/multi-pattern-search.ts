/**
 * Looks for many needles in one pass over bytes: all delete requests that ask for a text are one search.
 *
 * Of each needle a window is chosen, `stride` + 3 bytes. Wherever the needle lies, one of the window's blocks of four bytes
 * begins at a multiple of the stride, so it is enough to look at those:
 *
 *     text      ...b y   u s e r - 1 7 3 2   f r o m...
 *                      |         |         |                looked at: a block at each multiple of the stride
 *     window             . . . [s e r -] . .                one of its blocks is there
 *
 * A block is looked up by hash; only where some needle has it, bytes are compared. Steps do not wait for each other, which
 * makes this faster than algorithms that skip by what they find. Hits are where bytes are equal; that a hit may lie across
 * the end of a line is the caller's to see.
 */

const BLOCK_BYTES = 4;
/** Longer strides gain little and fill the table. */
const MAX_STRIDE = 16;
/** From here on a window is shorter than its needle, so that what needles share (`user-`) can stay outside. */
const CHOICE_BYTES = 5;
/** 32 KiB of marks stay in the first cache. */
const MIN_TABLE_BITS = 15;
/** 1 MiB: 10,000 needles fill an eighth of it. */
const MAX_TABLE_BITS = 20;
/** Places of the table for each block: one look in eight is in vain. */
const PLACES_PER_BLOCK = 8;
/** Large and odd: the high bits of the product depend on all bits of the block. */
const HASH_FACTOR = 0x9e3779b1 | 0;

export class MultiPatternSearch {
  /** Hits of the last search, parallel: where they begin, and which needles they are; in no order. */
  positions = new Uint32Array(64);
  needlesAt = new Uint32Array(64);
  #found = 0;
  readonly #needles: readonly Buffer[];
  /** Searched one by one, natively: one needle is found faster so, and the shortest have no blocks. */
  readonly #single: readonly number[];
  readonly #blocks: Blocks | undefined;

  /** @param needles none is empty, and each is other than the others */
  constructor(needles: readonly Buffer[]) {
    if (needles.some(({ length }) => length === 0)) throw new RangeError('an empty needle');
    this.#needles = needles;
    const places = needles.map((_, i) => i);
    const long = places.filter(i => needles[i].length >= BLOCK_BYTES);
    const isMany = long.length > 1;
    this.#single = isMany ? places.filter(i => needles[i].length < BLOCK_BYTES) : places;
    this.#blocks = isMany ? new Blocks(needles, long) : undefined;
  }

  /** Finds all hits that lie in `bytes[from, to)`; how many. */
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
      this.positions = grown(this.positions);
      this.needlesAt = grown(this.needlesAt);
    }
    this.positions[this.#found] = position;
    this.needlesAt[this.#found++] = needle;
  }
}

/** The blocks of the windows of needles, each at least a block long. */
class Blocks {
  readonly stride: number;
  /** By hash of a block: 1 where a needle has one of that hash. */
  readonly marks: Uint8Array;
  readonly shift: number;
  /** By hash of a block, the first kind of it, and for each kind the next; -1 is none. */
  readonly first: Int32Array;
  readonly next: number[] = [];
  /** A kind is a block at one offset in needles of one length. */
  readonly blockOf: number[] = [];
  readonly offsetOf: number[] = [];
  readonly lengthOf: number[] = [];
  /** The needles of a kind: the only one, or by the hash of their bytes. */
  readonly needlesOf: (number | Map<number, number>)[] = [];
  /** For each needle the next of the same length and hash; -1 is none. */
  readonly nextAlike: Int32Array;
  /** By length and hash: the needle at which those begin. */
  readonly #alike = new Map<string, number>();
  readonly #kinds = new Map<string, number>();

  /** @param places of needles, each other than the others */
  constructor(needles: readonly Buffer[], places: readonly number[]) {
    const shortest = Math.min(...places.map(place => needles[place].length));
    const most = shortest - BLOCK_BYTES + 1;
    this.stride = Math.min(MAX_STRIDE, shortest < CHOICE_BYTES ? most : Math.floor((most * 3) / 4));
    const bits = Math.ceil(Math.log2(places.length * this.stride * PLACES_PER_BLOCK));
    this.shift = 32 - Math.min(MAX_TABLE_BITS, Math.max(MIN_TABLE_BITS, bits));
    this.marks = new Uint8Array(2 ** (32 - this.shift));
    this.first = new Int32Array(this.marks.length).fill(-1);
    this.nextAlike = new Int32Array(needles.length).fill(-1);
    for (const place of places) {
      const key = alikeKey(needles[place]);
      this.nextAlike[place] = this.#alike.get(key) ?? -1;
      this.#alike.set(key, place);
    }
    const shared = countBlocks(places.map(place => needles[place]));
    for (const place of places) {
      const from = leastShared(needles[place], this.stride, shared);
      for (let offset = from; offset < from + this.stride; offset++) this.#enter(needles, place, offset);
    }
    this.#kinds.clear();
    this.#alike.clear();
  }

  #enter(needles: readonly Buffer[], place: number, offset: number): void {
    const needle = needles[place];
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
      this.needlesOf.push(place);
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

/** FNV-1a. */
function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5 | 0;
  for (let i = start; i < end; i++) hash = Math.imul(hash ^ bytes[i], 0x01000193);
  return hash;
}

/** How many times each block stands in the needles. */
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

/** Where the `stride` consecutive blocks begin that the fewest needles share. */
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

/** The first place from `from` on, in steps of the stride, where a marked block begins; past `last` where there is none. */
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

function grown(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
