/**
 * The distinct facts of one page (or one needle) while they are collected: an open-addressing set of hashes, reused from
 * page to page. A page with more facts than the set holds keeps a half, a quarter, ... of them, chosen by the fact's own
 * bits: what a lookup then cannot ask for, it takes as present.
 */
import { invariant } from '../model/errors.ts';
import { maxSeenStretches, SeenStretches } from './seen-stretches.ts';

/** Halvings of one page: a page of 1 MiB holds at most 2^21 facts, 2^16 of which fit without any. */
export const maxThinning = 7;
/** Above the bits that say how many bits a fact sets. */
const thinningShift = 2;

/** True where a page thinned so often records the fact at all. */
export function isRecorded(fact: number, thinning: number): boolean {
  return ((fact >>> thinningShift) & ((1 << thinning) - 1)) === 0;
}

/** 64 KiB: stays in the second level of the cache, and holds four times what a page of logs has. */
const maxSeenGrams = 16_384;

/** Facts that are collected before they are looked up. */
const waitingFacts = 1024;

export class FactSet {
  /** Slot: a fact, or 0 where it is free. The fact 0 is recorded as `zeroStandIn`, at build and lookup alike. */
  readonly #slots: Uint32Array;
  readonly #mask: number;
  readonly #list: Uint32Array;
  readonly #capacity: number;
  /** Words of grams seen lately, each at its highest bits: most grams of a page are there, and need no look at the set. */
  readonly seenGrams: Int32Array;
  readonly seenShift: number;
  readonly #waiting = new Uint32Array(waitingFacts);
  #waitingCount = 0;
  #count = 0;
  #thinMask = 0;
  #thinning = 0;
  #overflowed = false;
  readonly #stretches: SeenStretches;
  /** Length of the longest run of letters and digits that holds a digit, bytes. */
  longestRun = 0;

  /** `capacity`: how many facts it holds before it thins out. */
  constructor(capacity: number) {
    const slots = 2 ** Math.ceil(Math.log2(capacity * 2));
    this.#capacity = capacity;
    this.#slots = new Uint32Array(slots);
    this.#mask = slots - 1;
    this.#list = new Uint32Array(capacity);
    this.seenGrams = new Int32Array(Math.min(slots, maxSeenGrams));
    this.seenShift = 32 - Math.log2(this.seenGrams.length);
    this.#stretches = new SeenStretches(Math.min(slots, maxSeenStretches));
  }

  /** Distinct facts in the order they came; valid until the next `clear`, or `facts` after an `add`. */
  get facts(): Uint32Array {
    this.#settle();
    return this.#list.subarray(0, this.#count);
  }

  get thinning(): number {
    this.#settle();
    return this.#thinning;
  }

  /** More facts than even the last thinning holds: the page cannot be told by its facts. */
  get overflowed(): boolean {
    this.#settle();
    return this.#overflowed;
  }

  /** Stretches of `bytes` whose grams were added since the last `clear`. */
  stretchesOf(bytes: Uint8Array): SeenStretches {
    this.#stretches.enter(bytes);
    return this.#stretches;
  }

  add(fact: number): void {
    this.#waiting[this.#waitingCount++] = fact;
    if (this.#waitingCount === waitingFacts) this.#settle();
  }

  /** Many lookups one behind the other: the processor waits for several slots at a time, not for each by itself. */
  #settle(): void {
    const count = this.#waitingCount;
    this.#waitingCount = 0;
    const waiting = this.#waiting;
    for (let i = 0; i < count; i++) this.#insert(waiting[i]);
  }

  #insert(fact: number): void {
    const slots = this.#slots;
    const mask = this.#mask;
    const wanted = fact === 0 ? zeroStandIn : fact;
    let slot = (wanted >>> 7) & mask;
    for (;;) {
      const found = slots[slot];
      if (found === wanted) return;
      if (found === 0) break;
      slot = (slot + 1) & mask;
    }
    if ((wanted & this.#thinMask) !== 0) return;
    if (this.#count === this.#capacity) {
      this.#thin();
      this.#insert(fact);
      return;
    }
    slots[slot] = wanted;
    this.#list[this.#count++] = wanted;
  }

  clear(): void {
    this.#slots.fill(0);
    this.seenGrams.fill(0);
    this.#stretches.clear();
    this.#waitingCount = 0;
    this.#count = 0;
    this.#thinning = 0;
    this.#thinMask = 0;
    this.#overflowed = false;
    this.longestRun = 0;
  }

  #thin(): void {
    const kept = this.#list.slice(0, this.#count);
    this.#slots.fill(0);
    this.#count = 0;
    if (this.#thinning === maxThinning) {
      // Nothing more is taken: no bit of a fact passes this mask.
      this.#overflowed = true;
      this.#thinMask = ~0;
      return;
    }
    this.#thinning++;
    this.#thinMask = ((1 << this.#thinning) - 1) << thinningShift;
    for (const fact of kept) this.#insert(fact);
    invariant(this.#count <= this.#capacity, 'a thinned fact set holds no more than before');
  }
}

/** Any other fact will do. */
export const zeroStandIn = 0x9e3779b2;
