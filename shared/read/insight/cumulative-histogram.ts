/**
 * Cumulative amounts (bytes, entries) of rows over one UTC day. With cells it returns the amount of any
 * interval, without cells only that of the whole day, for a fraction of the memory.
 *
 *     cell c holds  (c * cell, (c + 1) * cell],  as the minutes of footers do; a time of exactly 0 is in cell 0
 *
 * Times are ns since the start of the day.
 *
 * Pitfall: within a cell only the first and last time of the row are known. An interval that cuts a cell gets
 * its share. Intervals between cell boundaries, and those that contain a whole row, are exact.
 */
import { MINUTES_PER_DAY, NS_OF_MINUTE } from '../../base/model/time-units.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';

/** Initial number of rows, which doubles. */
const INITIAL_ROWS = 16;

/** Returns the amount that entries add to a row. */
export type Measure = (entries: number, lineBytes: number, metadataBytes: number) => number;

export class CumulativeHistogram {
  rows = 0;
  /** Earliest and latest entry of a row. All arrays are parallel. */
  first: Float64Array = new Float64Array(INITIAL_ROWS);
  last: Float64Array = new Float64Array(INITIAL_ROWS);
  total: Float64Array = new Float64Array(INITIAL_ROWS);
  /** Amounts per cell, `cellsPerRow` for each row. When sealed, each is the sum of all up to it. */
  #cells: Float64Array;
  /** Amount added to every cell from there on, in the same layout. Dropped when sealed. */
  #slopes: Float64Array;
  readonly #cellsPerRow: number;
  readonly #cellMinutes: number;

  /** @param cellMinutes length of a cell, a divisor of a day; 0 for whole days only */
  constructor(cellMinutes: number) {
    this.#cellMinutes = cellMinutes;
    this.#cellsPerRow = cellMinutes === 0 ? 0 : MINUTES_PER_DAY / cellMinutes;
    this.#cells = new Float64Array(INITIAL_ROWS * this.#cellsPerRow);
    this.#slopes = new Float64Array(INITIAL_ROWS * this.#cellsPerRow);
  }

  get weightBytes(): number {
    return this.total.byteLength * 3 + this.#cells.byteLength;
  }

  /** Adds a row and returns its index. */
  addRow(): number {
    if (this.rows === this.total.length) this.#grow(this.rows * 2);
    this.first[this.rows] = Infinity;
    this.last[this.rows] = -1;
    return this.rows++;
  }

  /**
   * Whether `first` to `last` is in one cell, or there are no cells. In both cases minutes are not needed.
   */
  isOneCell(first: number, last: number): boolean {
    return this.#cellMinutes === 0 || this.#cellOf(first) === this.#cellOf(last);
  }

  /** Adds an amount that is in one cell. */
  add(row: number, first: number, last: number, amount: number): void {
    this.#widen(row, first, last);
    this.total[row] += amount;
    if (this.#cellMinutes > 0) this.#cells[row * this.#cellsPerRow + this.#cellOf(first)] += amount;
  }

  /** Adds amounts by minute, of entries from `first` to `last`. */
  addMinutes(
    row: number,
    first: number,
    last: number,
    counts: readonly LevelCounts[],
    measure: Measure,
  ): void {
    this.#widen(row, first, last);
    const cells = this.#cells;
    const cellMinutes = this.#cellMinutes;
    const start = row * this.#cellsPerRow;
    let total = 0;
    for (const { minutes, entries, lineBytes, metadataBytes } of counts) {
      for (let i = 0; i < minutes.length; i++) {
        const amount = measure(entries[i], lineBytes[i], metadataBytes[i]);
        const cell = minutes[i] === 0 ? 0 : Math.ceil(minutes[i] / cellMinutes) - 1;
        cells[start + cell] += amount;
        total += amount;
      }
    }
    this.total[row] += total;
  }

  /** Adds an amount that is spread evenly between two times. A negative amount is removed. */
  addEvenly(row: number, first: number, last: number, amount: number): void {
    this.#widen(row, first, last);
    this.total[row] += amount;
    if (this.#cellMinutes === 0) return;
    const cellNs = this.#cellMinutes * NS_OF_MINUTE;
    const start = row * this.#cellsPerRow;
    const from = Math.min(Math.floor(first / cellNs), this.#cellsPerRow - 1);
    const to = this.#cellOf(last);
    if (to <= from) {
      this.#cells[start + from] += amount;
      return;
    }
    const perNs = amount / (last - first);
    this.#cells[start + from] += perNs * ((from + 1) * cellNs - first);
    this.#cells[start + to] += perNs * (last - to * cellNs);
    // Cells in between are filled when sealed: a run of a whole day costs no more than one of two minutes.
    this.#slopes[start + from + 1] += perNs * cellNs;
    this.#slopes[start + to] -= perNs * cellNs;
  }

  /** Ends the adding. Intervals can be requested afterwards. */
  seal(): this {
    const cellsPerRow = this.#cellsPerRow;
    if (this.rows < this.total.length) this.#grow(this.rows);
    for (let row = 0; row < this.rows; row++) {
      const start = row * cellsPerRow;
      let slope = 0;
      let sum = 0;
      for (let c = start; c < start + cellsPerRow; c++) {
        slope += this.#slopes[c];
        sum += this.#cells[c] + slope;
        this.#cells[c] = sum;
      }
    }
    this.#slopes = new Float64Array(0);
    return this;
  }

  /** Returns the approximate amount of `from <= time < to`. */
  between(row: number, from: number, to: number): number {
    return this.#before(row, to) - this.#before(row, from);
  }

  #before(row: number, time: number): number {
    if (time <= this.first[row]) return 0;
    if (time > this.last[row]) return this.total[row];
    const cellNs = this.#cellMinutes * NS_OF_MINUTE;
    const cell = Math.min(Math.floor(time / cellNs), this.#cellsPerRow - 1);
    const at = row * this.#cellsPerRow + cell;
    const until = cell === 0 ? 0 : this.#cells[at - 1];
    const low = Math.max(cell * cellNs, this.first[row]);
    const high = Math.min((cell + 1) * cellNs, this.last[row]);
    // If the cell ends before the row does, an entry may be at its very end.
    const share = high > low ? Math.min(1, (time - low) / (high - low)) : 0;
    return until + share * (this.#cells[at] - until);
  }

  #cellOf(time: number): number {
    return time === 0 ? 0 : Math.ceil(time / (this.#cellMinutes * NS_OF_MINUTE)) - 1;
  }

  #widen(row: number, first: number, last: number): void {
    if (first < this.first[row]) this.first[row] = first;
    if (last > this.last[row]) this.last[row] = last;
  }

  #grow(rows: number): void {
    this.first = resized(this.first, rows);
    this.last = resized(this.last, rows);
    this.total = resized(this.total, rows);
    this.#cells = resized(this.#cells, rows * this.#cellsPerRow);
    this.#slopes = resized(this.#slopes, rows * this.#cellsPerRow);
  }
}

function resized(values: Float64Array, length: number): Float64Array {
  const copy = new Float64Array(length);
  copy.set(length < values.length ? values.subarray(0, length) : values);
  return copy;
}
