/**
 * Counts of many streams as columns that grow: a piece for each level of a stream, a bucket for each of its minutes.
 *
 *     piece: level, first bucket    2, 0  |  3, 3  |  2, 5   |
 *     bucket: minute                7 8 9 |  7  8  |  7 8 9  |
 *             amount                4 1 6 |  2  1  |  9 3 3  |
 *
 * For whoever adds up what hundreds of footers say: the chunk of a push counts two or three minutes for each stream and level,
 * and arrays for each of them took five times as long as the numbers in them. The columns are used again (`reset`).
 */
import { firstPlace } from '../../base/model/binary-search.ts';
import type { LevelCounts, MinuteRange } from './format.ts';

/** Buckets of a day are 0 to this one. */
const LAST_MINUTE = 1440;

const FIRST_PIECES = 1024;
const FIRST_BUCKETS = 4096;

/** What is taken of a bucket. */
export type Counted = 'entries' | 'lineBytes';

export class CountColumns {
  counted: Counted = 'entries';
  /** Buckets outside are passed over. */
  from = 0;
  to = LAST_MINUTE;
  pieces = 0;
  /** Of each piece, valid below `pieces`: place in the levels of its footer. */
  levels = new Uint32Array(FIRST_PIECES);
  #starts = new Uint32Array(FIRST_PIECES);
  buckets = 0;
  /** Of each bucket, valid below `buckets`; in a piece minutes ascend. */
  minutes = new Uint16Array(FIRST_BUCKETS);
  amounts = new Float64Array(FIRST_BUCKETS);

  /** Forgets all buckets; `stretch` and `counted` hold for those that come. */
  reset({ from, to }: MinuteRange, counted: Counted): void {
    this.from = from;
    this.to = Math.min(to, LAST_MINUTE);
    this.counted = counted;
    this.pieces = 0;
    this.buckets = 0;
  }

  startOf(piece: number): number {
    return this.#starts[piece];
  }

  endOf(piece: number): number {
    return piece + 1 < this.pieces ? this.#starts[piece + 1] : this.buckets;
  }

  /** Adds a bucket of the stretch to the piece that `close` makes of it. */
  push(minute: number, amount: number): void {
    const at = this.buckets++;
    if (at === this.minutes.length) this.#growBuckets();
    this.minutes[at] = minute;
    this.amounts[at] = amount;
  }

  /** Makes a piece of the buckets since `start`, unless there are none. */
  close(level: number, start: number): void {
    if (start === this.buckets) return;
    const at = this.pieces++;
    if (at === this.levels.length) this.#growPieces();
    this.levels[at] = level;
    this.#starts[at] = start;
  }

  /** Adds the level of a stream. */
  add({ level, minutes, [this.counted]: amounts }: AddedCounts): void {
    const start = this.buckets;
    for (let i = placeOf(minutes, this.from); i < minutes.length && minutes[i] <= this.to; i++) {
      this.push(minutes[i], amounts[i]);
    }
    this.close(level, start);
  }

  #growBuckets(): void {
    const minutes = new Uint16Array(this.minutes.length * 2);
    minutes.set(this.minutes);
    this.minutes = minutes;
    const amounts = new Float64Array(this.amounts.length * 2);
    amounts.set(this.amounts);
    this.amounts = amounts;
  }

  #growPieces(): void {
    const levels = new Uint32Array(this.levels.length * 2);
    levels.set(this.levels);
    this.levels = levels;
    const starts = new Uint32Array(this.#starts.length * 2);
    starts.set(this.#starts);
    this.#starts = starts;
  }
}

type AddedCounts = Pick<LevelCounts, 'level' | 'minutes' | Counted>;

/** First place whose minute is not before `minute`; minutes ascend. */
export function placeOf(minutes: ArrayLike<number>, minute: number): number {
  return firstPlace(0, minutes.length, i => minutes[i] >= minute);
}
