/** Separates entries of one stream and push that have the same time, if the limits request it. */
import { NS_OF_DAY } from '../../base/model/time-units.ts';
import type { PushColumns } from './push-columns.ts';

/**
 * Implements `increment_duplicate_timestamp`. An entry with the time (as sent) of its predecessor in the
 * stream, but another line, moves to 1 ns after it. With the same line it gets the same time, so it remains a
 * duplicate.
 */
export class DuplicateTimes {
  readonly #columns: PushColumns;
  /** Previous entry plus 1, by stream. */
  readonly #before: Uint32Array;
  /** Time of that entry as sent, by stream. */
  readonly #day: Int32Array;
  readonly #timeOfDay: Float64Array;

  constructor(columns: PushColumns) {
    this.#columns = columns;
    this.#before = new Uint32Array(columns.streams.length);
    this.#day = new Int32Array(columns.streams.length);
    this.#timeOfDay = new Float64Array(columns.streams.length);
  }

  /** Processes the next entry, in the order of the push, and moves its time if needed. */
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
