/**
 * Counts of many streams as growing columns: one piece for each level of a stream, one bucket for each of its
 * minutes.
 *
 *     piece: level, first bucket    2, 0  |  3, 3  |  2, 5   |
 *     bucket: minute                7 8 9 |  7  8  |  7 8 9  |
 *             amount                4 1 6 |  2  1  |  9 3 3  |
 *
 * The columns serve queries that add up hundreds of footers. The chunk of a push counts two or three minutes
 * for each stream and level. Separate arrays for each of them took five times as long as the numbers in them.
 * The columns are reusable (`reset`).
 */
import { lowerBound } from '../../base/model/binary-search.ts';
import { LAST_MINUTE, type LevelCounts, type MinuteRange } from './format.ts';

const FIRST_PIECES = 1024;
const FIRST_BUCKETS = 4096;

/** Amount to read from a bucket. */
export type CountedAmount = 'entries' | 'lineBytes';

export class CountColumns {
  counted: CountedAmount = 'entries';
  /** Range of minutes; buckets outside are skipped. */
  from = 0;
  to = LAST_MINUTE;
  pieces = 0;
  /** Level of each piece below `pieces`, an index into the levels of its footer. */
  levels = new Uint32Array(FIRST_PIECES);
  #starts = new Uint32Array(FIRST_PIECES);
  buckets = 0;
  /** Minute of each bucket below `buckets`; minutes ascend within a piece. */
  minutes = new Uint16Array(FIRST_BUCKETS);
  amounts = new Float64Array(FIRST_BUCKETS);

  /** Removes all buckets, and sets the minute range and `counted` for the next ones. */
  reset({ from, to }: MinuteRange, counted: CountedAmount): void {
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

  /** Adds a bucket in the minute range to the piece that `close` will create. */
  push(minute: number, amount: number): void {
    const at = this.buckets++;
    if (at === this.minutes.length) this.#growBuckets();
    this.minutes[at] = minute;
    this.amounts[at] = amount;
  }

  /** Creates a piece from the buckets since `start`, unless there are none. */
  close(level: number, start: number): void {
    if (start === this.buckets) return;
    const at = this.pieces++;
    if (at === this.levels.length) this.#growPieces();
    this.levels[at] = level;
    this.#starts[at] = start;
  }

  /** Adds one level of a stream. */
  add({ level, minutes, [this.counted]: amounts }: AddedCounts): void {
    const start = this.buckets;
    for (
      let i = lowerBound(minutes, 0, minutes.length, this.from);
      i < minutes.length && minutes[i] <= this.to;
      i++
    ) {
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

type AddedCounts = Pick<LevelCounts, 'level' | 'minutes' | CountedAmount>;
