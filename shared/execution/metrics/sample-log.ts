/**
 * Stores all samples for the aggregations that no fixed-size state supports: quantile_over_time (values) and
 * rate_counter (values and times). Samples are appended in order of arrival with their slot, and grouped once
 * at the end.
 */

import { enlarged } from '../../base/model/enlarged.ts';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import type { SampleBatch } from '../../base/model/samples.ts';

const FIRST_SAMPLES = 256;

/**
 * Samples grouped by position in an order of slots: those of position p are `starts[p]` to `starts[p + 1] -
 * 1`.
 */
export interface GroupedSamples {
  readonly starts: Uint32Array;
  readonly values: Float64Array;
  /** Query times, ns; empty if the log does not store times. */
  readonly times: Float64Array;
}

export class SampleLog {
  readonly keepsTimes: boolean;
  count = 0;
  #slots = new Uint32Array(FIRST_SAMPLES);
  #values = new Float64Array(FIRST_SAMPLES);
  #times: Float64Array;
  readonly #budget: MemoryBudget;

  constructor(keepsTimes: boolean, budget: MemoryBudget) {
    this.keepsTimes = keepsTimes;
    this.#budget = budget;
    this.#times = new Float64Array(keepsTimes ? FIRST_SAMPLES : 0);
    budget.reserve(FIRST_SAMPLES * this.#bytesPerSample);
  }

  get #bytesPerSample(): number {
    return this.keepsTimes ? 20 : 12;
  }

  #reserve(more: number): void {
    const needed = this.count + more;
    const capacity = this.#slots.length;
    if (needed <= capacity) return;
    const larger = Math.max(needed, capacity * 2);
    this.#budget.reserve((larger - capacity) * this.#bytesPerSample);
    this.#slots = enlarged(this.#slots, new Uint32Array(larger));
    this.#values = enlarged(this.#values, new Float64Array(larger));
    if (this.keepsTimes) this.#times = enlarged(this.#times, new Float64Array(larger));
  }

  /** Adds samples `from` to `to - 1` of a batch. */
  addBatch(slot: number, batch: SampleBatch, from: number, to: number, shift: number): void {
    this.#reserve(to - from);
    const { rows, times, values } = batch;
    const base = this.count - from;
    this.#slots.fill(slot, this.count, this.count + to - from);
    for (let i = from; i < to; i++) this.#values[base + i] = values === undefined ? 1 : values[i];
    if (this.keepsTimes) for (let i = from; i < to; i++) this.#times[base + i] = times[rows[i]] + shift;
    this.count += to - from;
  }

  add(slot: number, value: number, time: number): void {
    this.#reserve(1);
    this.#slots[this.count] = slot;
    this.#values[this.count] = value;
    if (this.keepsTimes) this.#times[this.count] = time;
    this.count++;
  }

  /** Appends another log; `slotMap` maps its slots to this log's slots. */
  append(other: SampleLog, slotMap: Uint32Array): void {
    this.#reserve(other.count);
    for (let i = 0; i < other.count; i++) this.#slots[this.count + i] = slotMap[other.#slots[i]];
    this.#values.set(other.#values.subarray(0, other.count), this.count);
    if (this.keepsTimes) this.#times.set(other.#times.subarray(0, other.count), this.count);
    this.count += other.count;
  }

  /**
   * Groups the samples in the given order of slots. Within a slot, they are ordered by time and value if times are
   * stored, otherwise by arrival.
   */
  grouped(order: Uint32Array, slotCount: number): GroupedSamples {
    const { count } = this;
    const slots = this.#slots;
    this.#budget.reserve(count * this.#bytesPerSample);
    const indexOf = new Uint32Array(slotCount);
    for (let index = 0; index < order.length; index++) indexOf[order[index]] = index;
    const starts = new Uint32Array(order.length + 1);
    for (let i = 0; i < count; i++) starts[indexOf[slots[i]] + 1]++;
    for (let index = 0; index < order.length; index++) starts[index + 1] += starts[index];
    const next = starts.slice();
    const from = new Uint32Array(count);
    for (let i = 0; i < count; i++) from[next[indexOf[slots[i]]]++] = i;
    if (this.keepsTimes) sortByTime(from, starts, this.#times, this.#values);
    const values = new Float64Array(count);
    for (let i = 0; i < count; i++) values[i] = this.#values[from[i]];
    const times = new Float64Array(this.keepsTimes ? count : 0);
    for (let i = 0; i < times.length; i++) times[i] = this.#times[from[i]];
    this.#budget.release(count * this.#bytesPerSample);
    return { starts, values, times };
  }
}

/**
 * Sorts each group of sample positions by time, and equal times by value. So the order does not depend on what was
 * added first.
 */
function sortByTime(
  indexes: Uint32Array,
  starts: Uint32Array,
  times: Float64Array,
  values: Float64Array,
): void {
  const compare = (x: number, y: number) => times[x] - times[y] || values[x] - values[y] || x - y;
  for (let group = 0; group + 1 < starts.length; group++) {
    const part = indexes.subarray(starts[group], starts[group + 1]);
    let ascending = true;
    for (let i = 1; i < part.length && ascending; i++) ascending = compare(part[i - 1], part[i]) < 0;
    if (!ascending) part.sort(compare);
  }
}
