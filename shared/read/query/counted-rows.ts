/**
 * Collects counts of many footers for an accumulator. Each (stream, detected level) is one row of a synthetic
 * page, whatever number of footers count it. The query's own pipeline decides the series of the row, so label
 * filters and grouping work as for entries.
 *
 * Pitfall: rows keep the order of the footers, because it decides the numbers of series. A stream whose
 * levels come one after the other therefore has several runs in the page.
 */

import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { MinuteAmounts, RangeAccumulator } from '../../execution/metrics/range-accumulator.ts';
import { CountColumns, type CountedAmount } from '../../storage/chunk/count-columns.ts';
import type { Footer, MinuteRange } from '../../storage/chunk/format.ts';
import { countsOf, LEVEL_NAME } from '../../storage/chunk/format.ts';
import { StoredCounts } from '../../storage/chunk/stored-counts.ts';
import { type HiddenRow, shownCounts } from '../../upkeep/deletion/shown-counts.ts';
import { NO_SERIES, type RowSinks, StreamRows, seriesOfRows } from './stream-rows.ts';

/** Maximum buckets held at once, except for those of one more stream: 1 MB with related arrays. */
const MAX_BUCKETS = 32_768;
/**
 * Maximum levels held at once, except for those of one more chunk. They are searched linearly, and clients
 * choose how many there are.
 */
const MAX_LEVELS = 128;

export interface CountSinks extends RowSinks {
  readonly accumulator: RangeAccumulator;
}

/** Counts of a chunk, from its footer or from the day index. */
export type CountedChunk = Pick<Footer, 'id' | 'streams' | 'levels' | 'counts'>;

/** Shared by all queries of the thread: nothing between `reset` and `finish` waits. */
const columns = new CountColumns();

export class CountedRows {
  readonly #sinks: CountSinks;
  readonly #dayStartNs: bigint;
  readonly #range: MinuteRange;
  readonly #counted: CountedAmount;
  readonly #splitsLevels: boolean;
  #rows = new StreamRows();
  /** Row of each part. */
  #rowOfPart: number[] = [];
  #chunk: CountedChunk | undefined;
  /** IDs of the chunk's levels in the page, by index. Undefined until a row uses the level. */
  #levelIds: (number | undefined)[] = [];

  /** @param range minutes that the plan requests; others are not counted */
  constructor(sinks: CountSinks, day: number, range: MinuteRange) {
    const { metadata } = sinks.extractor.needs;
    this.#sinks = sinks;
    this.#dayStartNs = BigInt(day) * NS_PER_DAY;
    this.#range = range;
    this.#counted = sinks.accumulator.countsEntries ? 'entries' : 'lineBytes';
    this.#splitsLevels = metadata === 'all' || metadata.has(LEVEL_NAME);
    columns.reset(range, this.#counted);
  }

  /**
   * Adds the counts of a stream of a chunk without its hidden rows. Throws CorruptionError and errors of
   * `finish`.
   */
  add(chunk: CountedChunk, stream: number, hidden: readonly HiddenRow[]): void {
    if (columns.buckets >= MAX_BUCKETS || this.#rows.levelCount >= MAX_LEVELS) this.finish();
    if (chunk !== this.#chunk) {
      this.#chunk = chunk;
      this.#levelIds = [];
    }
    let part = columns.pieces;
    const { counts, levels } = chunk;
    if (hidden.length === 0 && counts instanceof StoredCounts) counts.addTo(columns, stream);
    else for (const shown of shownCounts(countsOf(chunk, stream), levels, hidden)) columns.add(shown);
    const streamOfRow = chunk.streams[stream];
    for (; part < columns.pieces; part++) {
      const id = this.#splitsLevels ? this.#levelId(columns.levels[part]) : 0;
      this.#rowOfPart.push(this.#rows.rowOf(streamOfRow, id));
    }
  }

  #levelId(level: number): number {
    let id = this.#levelIds[level];
    if (id === undefined) {
      id = this.#rows.levelId(this.#chunk!.levels[level]);
      this.#levelIds[level] = id;
    }
    return id;
  }

  /** Passes the added counts on. Throws BadRequestError if the memory budget is exhausted. */
  finish(): void {
    if (columns.pieces === 0) return;
    const rows = this.#rows;
    const rowOfPart = this.#rowOfPart;
    const seriesOfRow = seriesOfRows(rows, this.#sinks, this.#dayStartNs);
    const series = [...new Set(seriesOfRow)].filter(one => one !== NO_SERIES);
    const width = columns.to - columns.from + 1;
    // Many chunks usually count the same minutes of a series. If not, sums would have more cells than there
    // are buckets.
    if (series.length * width <= columns.buckets) this.#addSums(seriesOfRow, series, width);
    else {
      for (let part = 0; part < columns.pieces; part++) {
        const one = seriesOfRow[rowOfPart[part]];
        if (one !== NO_SERIES) this.#handOn(one, columns, columns.startOf(part), columns.endOf(part));
      }
    }
    this.#rows = new StreamRows();
    this.#rowOfPart = [];
    this.#levelIds = [];
    columns.reset(this.#range, this.#counted);
  }

  /**
   * @param series series of the rows, without repeats
   * @param width number of minutes in the range
   */
  #addSums(seriesOfRow: Int32Array, series: readonly number[], width: number): void {
    const { from, pieces, minutes, amounts } = columns;
    const rowOfPart = this.#rowOfPart;
    const firstIndex = new Map(series.map((one, i) => [one, i * width]));
    const firstOfRow = seriesOfRow.map(one => firstIndex.get(one) ?? NO_SERIES);
    const sums = new Float64Array(series.length * width);
    const hasCount = new Uint8Array(sums.length);
    for (let part = 0; part < pieces; part++) {
      const first = firstOfRow[rowOfPart[part]];
      if (first === NO_SERIES) continue;
      const end = columns.endOf(part);
      for (let i = columns.startOf(part); i < end; i++) {
        const cell = first + minutes[i] - from;
        sums[cell] += amounts[i];
        hasCount[cell] = 1;
      }
    }
    const ofSeries = { minutes: new Uint16Array(width), amounts: new Float64Array(width) };
    for (const [one, first] of firstIndex) {
      let count = 0;
      for (let i = 0; i < width; i++) {
        // Lines without bytes give a sample of 0.
        if (hasCount[first + i] === 0) continue;
        ofSeries.minutes[count] = from + i;
        ofSeries.amounts[count++] = sums[first + i];
      }
      this.#handOn(one, ofSeries, 0, count);
    }
  }

  #handOn(series: number, counts: MinuteAmounts, from: number, end: number): void {
    this.#sinks.accumulator.addMinutes(series, this.#dayStartNs, counts, from, end);
  }
}
