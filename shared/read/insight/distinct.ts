/**
 * Counts distinct texts in 4 KiB, however many there are: exact up to MAX_EXACT, an estimate within a few
 * percent above. Counts of several days can be merged.
 */

import { HyperLogLog } from '../../base/model/hyperloglog.ts';

/** Hashes in a set take about 30 bytes each. Above this number the estimate, 1.6% off, is smaller. */
const MAX_EXACT = 1024;

export class Distinct {
  #exact: Set<number> | undefined = new Set();
  #estimate: HyperLogLog | undefined;

  /** @param hash of hashOfText (model/text-hash.ts) */
  add(hash: number): void {
    if (this.#exact === undefined) {
      this.#estimate!.add(hash);
      return;
    }
    this.#exact.add(hash);
    if (this.#exact.size > MAX_EXACT) this.#toEstimate();
  }

  merge(other: Distinct): void {
    if (other.#exact !== undefined) {
      for (const hash of other.#exact) this.add(hash);
      return;
    }
    if (this.#exact !== undefined) this.#toEstimate();
    this.#estimate!.merge(other.#estimate!);
  }

  count(): number {
    return this.#exact?.size ?? Math.round(this.#estimate!.count());
  }

  get weightBytes(): number {
    return this.#exact === undefined ? 4096 : 100 + this.#exact.size * 30;
  }

  #toEstimate(): void {
    this.#estimate = new HyperLogLog();
    for (const hash of this.#exact!) this.#estimate.add(hash);
    this.#exact = undefined;
  }
}
