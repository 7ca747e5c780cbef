/** Entries of one stream and push that come with the same time, told apart where the limits ask for it. */
import { NS_OF_DAY } from '../../base/model/time-units.ts';
import type { PushColumns } from './push-columns.ts';

/**
 * `increment_duplicate_timestamp`: an entry with the time of the one before it in its stream, as sent, but another line
 * goes 1 ns behind it; with the same line it takes the same time, so that it is a duplicate still.
 */
export class DuplicateTimes {
  readonly #columns: PushColumns;
  /** By stream: the entry before, plus 1. */
  readonly #before: Uint32Array;
  /** By stream: the time of that entry as it was sent. */
  readonly #day: Int32Array;
  readonly #timeOfDay: Float64Array;

  constructor(columns: PushColumns) {
    this.#columns = columns;
    this.#before = new Uint32Array(columns.streams.length);
    this.#day = new Int32Array(columns.streams.length);
    this.#timeOfDay = new Float64Array(columns.streams.length);
  }

  /** Takes the next entry, in the order of the push, and moves its time where it must. */
  move(entry: number): void {
    const { streamOf, day, timeOfDay, lineStart, lineEnd, bytes } = this.#columns;
    const stream = streamOf[entry];
    const before = this.#before[stream] - 1;
    const same =
      before >= 0 && day[entry] === this.#day[stream] && timeOfDay[entry] === this.#timeOfDay[stream];
    this.#before[stream] = entry + 1;
    this.#day[stream] = day[entry];
    this.#timeOfDay[stream] = timeOfDay[entry];
    if (!same) return;
    const line = bytes.subarray(lineStart[entry], lineEnd[entry]);
    const step = line.equals(bytes.subarray(lineStart[before], lineEnd[before])) ? 0 : 1;
    const moved = timeOfDay[before] + step;
    day[entry] = day[before] + (moved >= NS_OF_DAY ? 1 : 0);
    timeOfDay[entry] = moved >= NS_OF_DAY ? moved - NS_OF_DAY : moved;
  }
}
