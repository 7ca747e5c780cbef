/**
 * Rows of a Parquet file in columns: times, label sets, and lines as UTF-8 bytes. Rows of an export response are copied without
 * an object or a text for each.
 *
 *     bytes     first line | LF | second line | LF | ... | texts of fields
 *     offsets   0               | start of the second | ...                    one more than rows
 */
import { enlarged } from '../../base/model/enlarged.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { DecodedColumns, EntryLabels } from './entry-columns.ts';

/** Rows of one UTC day, up to the next element. */
interface DayStart {
  readonly startNs: bigint;
  readonly firstRow: number;
}

/** Rows of a row group of a file. Readers skip row groups and read them in parallel. */
export const ROW_GROUP_ROWS = 65_536;

const FIRST_ROWS = 1024;
const FIRST_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;
/** Maximum UTF-8 bytes of a UTF-16 unit. */
const MAX_UNIT_BYTES = 3;

export class EntryTable {
  count = 0;
  /** Nanoseconds since the start of the row's day. */
  times = new Float64Array(FIRST_ROWS);
  /** Indexes into `labelSets`. */
  labels = new Uint32Array(FIRST_ROWS);
  labelSets: EntryLabels[] = [];
  days: DayStart[] = [];
  offsets = new Uint32Array(FIRST_ROWS + 1);
  bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #byteLength = 0;
  #setNumbers = new Map<EntryLabels, number>();
  /** Label sets of the last response, and their numbers; -1 for those that no row had. */
  #lastSets: readonly EntryLabels[] = [];
  #lastNumbers = new Int32Array(0);

  /** Bytes of all lines, each with its line feed. */
  get lineBytes(): number {
    return this.offsets[this.count];
  }

  /** Removes all rows. Keeps the memory, whose pages cost more to get than to fill. */
  clear(): void {
    this.count = 0;
    this.labelSets = [];
    this.days = [];
    this.#byteLength = 0;
    this.#setNumbers = new Map();
    this.#lastSets = [];
  }

  /** Entries with equal labels may share their object, which costs little. */
  add(timeNs: bigint, line: string, set: EntryLabels): void {
    const startNs = timeNs - (((timeNs % NS_PER_DAY) + NS_PER_DAY) % NS_PER_DAY);
    this.#addLine(line);
    this.#addRow(startNs, Number(timeNs - startNs), set);
  }

  /**
   * Adds rows `from` to `to` of an export response.
   * @param areTexts true if these lines are valid UTF-8
   */
  addRows(columns: DecodedColumns, from: number, to: number, areTexts: boolean): void {
    const { dayStartNs, sets, times, labels, ends, lines } = columns;
    const start = from === 0 ? 0 : ends[from - 1] + 1;
    const end = ends[to - 1] + 1;
    if (!areTexts) {
      for (let i = from, at = start; i < to; at = ends[i++] + 1) {
        this.#addLine(lines.toString('utf8', at, ends[i]));
        this.#addRow(dayStartNs, times[i], sets[labels[i]]);
      }
      return;
    }
    this.#reserve(end - start);
    const shift = this.#byteLength - start + 1;
    lines.copy(this.bytes, this.#byteLength, start, end);
    this.#byteLength += end - start;
    this.#reserveRows(to - from);
    this.#beginDay(dayStartNs);
    if (sets !== this.#lastSets) {
      this.#lastSets = sets;
      this.#lastNumbers = new Int32Array(sets.length).fill(-1);
    }
    const numbers = this.#lastNumbers;
    const { times: ownTimes, labels: ownLabels, offsets } = this;
    let { count } = this;
    for (let i = from; i < to; i++) {
      const set = labels[i];
      if (numbers[set] < 0) numbers[set] = this.#numberOf(sets[set]);
      ownLabels[count] = numbers[set];
      ownTimes[count++] = times[i];
      offsets[count] = ends[i] + shift;
    }
    this.count = count;
  }

  /** Adds a text behind the lines. Returns its start. No row may be added afterwards. */
  addText(text: string): number {
    const start = this.#byteLength;
    this.#reserve(text.length * MAX_UNIT_BYTES);
    this.#byteLength += this.bytes.write(text, start);
    return start;
  }

  /** End of the bytes: that of the last text. */
  get byteLength(): number {
    return this.#byteLength;
  }

  #addLine(line: string): void {
    this.addText(line);
    this.#reserve(1);
    this.bytes[this.#byteLength++] = LINE_FEED;
  }

  /** Ends the row of the line that was added last. */
  #addRow(startNs: bigint, time: number, set: EntryLabels): void {
    this.#reserveRows(1);
    this.#beginDay(startNs);
    this.times[this.count] = time;
    this.labels[this.count++] = this.#numberOf(set);
    this.offsets[this.count] = this.#byteLength;
  }

  #beginDay(startNs: bigint): void {
    if (this.days.at(-1)?.startNs !== startNs) this.days.push({ startNs, firstRow: this.count });
  }

  #numberOf(set: EntryLabels): number {
    let number = this.#setNumbers.get(set);
    if (number === undefined) {
      number = this.labelSets.push(set) - 1;
      this.#setNumbers.set(set, number);
    }
    return number;
  }

  #reserveRows(more: number): void {
    const needed = this.count + more;
    if (needed <= this.times.length) return;
    const length = Math.max(needed, 2 * this.times.length);
    this.times = enlarged(this.times, new Float64Array(length));
    this.labels = enlarged(this.labels, new Uint32Array(length));
    this.offsets = enlarged(this.offsets, new Uint32Array(length + 1));
  }

  #reserve(more: number): void {
    const needed = this.#byteLength + more;
    if (needed <= this.bytes.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.bytes.length));
    this.bytes.copy(larger, 0, 0, this.#byteLength);
    this.bytes = larger;
  }
}
