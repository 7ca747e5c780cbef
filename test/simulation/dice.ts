/**
 * Choices of a simulated run, all from its seed. Every party gets separate dice, so that one more throw of
 * one party does not change the others.
 */
import { seededRandom } from '../../shared/base/ports/memory/random.ts';

const UINT32 = 0x1_0000_0000;

export class Dice {
  /** Returns a number in [0, 1). */
  readonly next: () => number;

  constructor(seed: number) {
    this.next = seededRandom(seed);
  }

  /** A whole number from 0, below `end`. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** A whole number from `least` to `most`, both inclusive. */
  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new RangeError('nothing to pick from');
    return list[this.below(list.length)];
  }

  /** Seed of another party's dice. */
  seed(): number {
    return this.below(UINT32);
  }

  fork(): Dice {
    return new Dice(this.seed());
  }
}
