/**
 * Assigns slots to panes with samples: a hash table from (series, pane) to a dense number. It is sparse: 500
 * series of 11,000 steps have 11 million panes, but never more non-empty ones than samples.
 */
import type { MemoryBudget } from '../../base/model/memory-budget.ts';

const FIRST_SLOTS = 64;
/**
 * Memory per slot: two 4-byte columns and two 4-byte entries of the hash index (load factor at most one
 * half).
 */
const BYTES_PER_SLOT = 16;

export class PaneTable {
  /** Series and pane of each slot; valid below `count`. */
  seriesOf = new Uint32Array(FIRST_SLOTS);
  paneOf = new Int32Array(FIRST_SLOTS);
  count = 0;
  /** Largest series number plus 1. */
  seriesCount = 0;
  #index = new Int32Array(FIRST_SLOTS * 2);
  /** Latest slot plus 1, by series: consecutive samples of a series are mostly in one pane. */
  #recent = new Int32Array(FIRST_SLOTS);
  readonly #budget: MemoryBudget;

  constructor(budget: MemoryBudget) {
    this.#budget = budget;
    budget.reserve(FIRST_SLOTS * (BYTES_PER_SLOT + 4));
  }

  get capacity(): number {
    return this.seriesOf.length;
  }

  /** Returns the slot of a pane. Creates it if it is new, which increments `count`. */
  slotOf(series: number, pane: number): number {
    if (series >= this.seriesCount) this.#admit(series);
    const near = this.#recent[series] - 1;
    if (near >= 0 && this.paneOf[near] === pane) return near;
    const mask = this.#index.length - 1;
    let bucket = hash(series, pane) & mask;
    for (;;) {
      const slot = this.#index[bucket] - 1;
      if (slot < 0) break;
      if (this.seriesOf[slot] === series && this.paneOf[slot] === pane) {
        this.#recent[series] = slot + 1;
        return slot;
      }
      bucket = (bucket + 1) & mask;
    }
    if (this.count === this.capacity) {
      this.#grow();
      return this.slotOf(series, pane);
    }
    const slot = this.count++;
    this.seriesOf[slot] = series;
    this.paneOf[slot] = pane;
    this.#index[bucket] = slot + 1;
    this.#recent[series] = slot + 1;
    return slot;
  }

  #admit(series: number): void {
    if (series >= this.#recent.length) {
      const larger = Math.max(series + 1, this.#recent.length * 2);
      this.#budget.reserve((larger - this.#recent.length) * 4);
      const recent = new Int32Array(larger);
      recent.set(this.#recent);
      this.#recent = recent;
    }
    this.seriesCount = series + 1;
  }

  #grow(): void {
    const capacity = this.capacity * 2;
    this.#budget.reserve(this.capacity * BYTES_PER_SLOT);
    const seriesOf = new Uint32Array(capacity);
    seriesOf.set(this.seriesOf);
    const paneOf = new Int32Array(capacity);
    paneOf.set(this.paneOf);
    const index = new Int32Array(capacity * 2);
    const mask = index.length - 1;
    for (let slot = 0; slot < this.count; slot++) {
      let bucket = hash(seriesOf[slot], paneOf[slot]) & mask;
      while (index[bucket] !== 0) bucket = (bucket + 1) & mask;
      index[bucket] = slot + 1;
    }
    this.seriesOf = seriesOf;
    this.paneOf = paneOf;
    this.#index = index;
  }

  /**
   * Returns all slots ordered by series, then pane, and the start of each series in that order (`seriesCount
   * + 1` elements).
   */
  inOrder(): { readonly order: Uint32Array; readonly starts: Uint32Array } {
    const { count, seriesOf, paneOf } = this;
    const starts = new Uint32Array(this.seriesCount + 1);
    for (let slot = 0; slot < count; slot++) starts[seriesOf[slot] + 1]++;
    for (let series = 0; series < this.seriesCount; series++) starts[series + 1] += starts[series];
    const next = starts.slice();
    const order = new Uint32Array(count);
    for (let slot = 0; slot < count; slot++) order[next[seriesOf[slot]]++] = slot;
    for (let series = 0; series < this.seriesCount; series++) {
      const part = order.subarray(starts[series], starts[series + 1]);
      if (!ascends(part, paneOf)) part.sort((x, y) => paneOf[x] - paneOf[y]);
    }
    return { order, starts };
  }
}

function ascends(slots: Uint32Array, paneOf: Int32Array): boolean {
  for (let i = 1; i < slots.length; i++) if (paneOf[slots[i]] < paneOf[slots[i - 1]]) return false;
  return true;
}

function hash(series: number, pane: number): number {
  let mixed = Math.imul(series, 0x9e3779b1) ^ Math.imul(pane + 1, 0x85ebca6b);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x2c1b3c6d);
  return mixed ^ (mixed >>> 13);
}
