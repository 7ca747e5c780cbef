/**
 * Divides the streams of a day into runs of activity: a run ends if a stream pauses for more than half an
 * hour. The bytes of a run count as spread evenly over it. The reference does the same with the bytes of a
 * chunk, which it closes after such a pause.
 *
 *     entries   |x x  x   x|          |x|      |x xx   x|
 *     runs      [----------]          []       [--------]      of one stream, here with pauses of over half an hour
 *
 * Runs are derived from minutes of all chunks together, and pauses are counted in minutes. They are therefore
 * independent of how chunks contain the entries and of the order of chunks, and two parts of a day can be
 * merged. Times are ns since the start of the day.
 */
import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';
import type { Measure } from './cumulative-histogram.ts';

/** `chunk_idle_period` of the reference. A day has at most 46 runs of a stream. */
export const LONGEST_PAUSE_MINUTES = 30;

const INITIAL = 64;
const NONE = -1;

/** Receives one run: from its first ns to its last. */
type VisitRun = (from: number, to: number, bytes: number) => void;

export class StreamRuns {
  streams = 0;
  /** Earliest and latest entry of a stream, and its first run. */
  #first = new Float64Array(INITIAL);
  #last = new Float64Array(INITIAL);
  #head = new Int32Array(INITIAL);
  #runs = 0;
  /** First and last minute of a run, its bytes, and the next run of its stream, which begins later. */
  #fromMinute = new Int32Array(INITIAL);
  #toMinute = new Int32Array(INITIAL);
  #bytes = new Float64Array(INITIAL);
  #next = new Int32Array(INITIAL);

  get weightBytes(): number {
    return this.#first.length * 20 + this.#bytes.length * 20;
  }

  /** Adds a stream and returns its index. */
  addStream(): number {
    if (this.streams === this.#first.length) {
      const length = this.streams * 2;
      this.#first = copyOf(this.#first, new Float64Array(length));
      this.#last = copyOf(this.#last, new Float64Array(length));
      this.#head = copyOf(this.#head, new Int32Array(length));
    }
    this.#first[this.streams] = Infinity;
    this.#last[this.streams] = -1;
    this.#head[this.streams] = NONE;
    return this.streams++;
  }

  /** Adds entries for which {@link isOneRun} is true. */
  add(stream: number, first: number, last: number, bytes: number): void {
    this.#widen(stream, first, last);
    this.#join(stream, minuteOf(first), minuteOf(last), bytes);
  }

  /** Adds entries by minute, from `first` to `last`. */
  addMinutes(
    stream: number,
    first: number,
    last: number,
    counts: readonly LevelCounts[],
    measure: Measure,
  ): void {
    this.#widen(stream, first, last);
    for (const { minutes, entries, lineBytes, metadataBytes } of counts) {
      let from = NONE;
      let to = NONE;
      let bytes = 0;
      for (let i = 0; i < minutes.length; i++) {
        const minute = Math.max(minutes[i] - 1, 0);
        if (from !== NONE && minute - to > LONGEST_PAUSE_MINUTES) {
          this.#join(stream, from, to, bytes);
          from = NONE;
          bytes = 0;
        }
        if (from === NONE) from = minute;
        to = minute;
        bytes += measure(entries[i], lineBytes[i], metadataBytes[i]);
      }
      if (from !== NONE) this.#join(stream, from, to, bytes);
    }
  }

  /** Adds a stream of another part of the day to one of these. */
  addAll(stream: number, other: StreamRuns, otherStream: number): void {
    this.#widen(stream, other.#first[otherStream], other.#last[otherStream]);
    for (let run = other.#head[otherStream]; run !== NONE; run = other.#next[run]) {
      this.#join(stream, other.#fromMinute[run], other.#toMinute[run], other.#bytes[run]);
    }
  }

  /** Visits the runs of a stream, in the order of time. */
  visit(stream: number, visit: VisitRun): void {
    const first = this.#first[stream];
    const last = this.#last[stream];
    for (let run = this.#head[stream]; run !== NONE; run = this.#next[run]) {
      const from = Math.max(this.#fromMinute[run] * NS_OF_MINUTE, first);
      visit(from, Math.min((this.#toMinute[run] + 1) * NS_OF_MINUTE, last), this.#bytes[run]);
    }
  }

  #join(stream: number, from: number, to: number, bytes: number): void {
    let before = NONE;
    let run = this.#head[stream];
    while (run !== NONE && from - this.#toMinute[run] > LONGEST_PAUSE_MINUTES) {
      before = run;
      run = this.#next[run];
    }
    if (run === NONE || this.#fromMinute[run] - to > LONGEST_PAUSE_MINUTES) {
      const added = this.#addRun(from, to, bytes, run);
      if (before === NONE) this.#head[stream] = added;
      else this.#next[before] = added;
      return;
    }
    if (from < this.#fromMinute[run]) this.#fromMinute[run] = from;
    if (to > this.#toMinute[run]) this.#toMinute[run] = to;
    this.#bytes[run] += bytes;
    // Entries between two runs may join them. Indexes of joined runs stay unused.
    let after = this.#next[run];
    while (after !== NONE && this.#fromMinute[after] - this.#toMinute[run] <= LONGEST_PAUSE_MINUTES) {
      this.#toMinute[run] = Math.max(this.#toMinute[run], this.#toMinute[after]);
      this.#bytes[run] += this.#bytes[after];
      after = this.#next[after];
    }
    this.#next[run] = after;
  }

  #addRun(from: number, to: number, bytes: number, next: number): number {
    if (this.#runs === this.#bytes.length) {
      const length = this.#runs * 2;
      this.#fromMinute = copyOf(this.#fromMinute, new Int32Array(length));
      this.#toMinute = copyOf(this.#toMinute, new Int32Array(length));
      this.#bytes = copyOf(this.#bytes, new Float64Array(length));
      this.#next = copyOf(this.#next, new Int32Array(length));
    }
    this.#fromMinute[this.#runs] = from;
    this.#toMinute[this.#runs] = to;
    this.#bytes[this.#runs] = bytes;
    this.#next[this.#runs] = next;
    return this.#runs++;
  }

  #widen(stream: number, first: number, last: number): void {
    if (first < this.#first[stream]) this.#first[stream] = first;
    if (last > this.#last[stream]) this.#last[stream] = last;
  }
}

/**
 * Whether entries from `first` to `last` are one run whatever their times are, so that minutes are not
 * needed.
 */
export function isOneRun(first: number, last: number): boolean {
  return minuteOf(last) - minuteOf(first) <= LONGEST_PAUSE_MINUTES;
}

/**
 * As in buckets of footers: a minute contains the entry at its very end, and the first minute also that at 0.
 */
function minuteOf(time: number): number {
  return time === 0 ? 0 : Math.ceil(time / NS_OF_MINUTE) - 1;
}

function copyOf<T extends Float64Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
