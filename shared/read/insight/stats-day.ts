/**
 * Statistics of one part of a day, as a whole or for any interval. Streams of an interval are found by their
 * bounds and by the hours in which they have entries. They are therefore right to the hour: a stream that
 * pauses at the end of the interval may be included. For many streams only the number per hour is cached, as
 * mergeable sketches. Visiting 100,000 streams for each request took 5 ms a day, and as many megabytes.
 */

import { enlarged } from '../../base/model/enlarged.ts';
import type { Stream } from '../../base/model/page.ts';
import { hashOfText } from '../../base/model/text-hash.ts';
import { NS_OF_HOUR } from '../../base/model/time-units.ts';
import type { LevelCounts } from '../../storage/chunk/format.ts';
import type { DayInterval } from '../query/stream-presence-verdict.ts';
import { type DaySums, NO_INDEX } from './aggregate-day.ts';
import { CumulativeHistogram, type Measure } from './cumulative-histogram.ts';
import type { Collector, Question, Weighed } from './day-cache.ts';
import { Distinct } from './distinct.ts';

const HOURS = 24;
const MINUTES_PER_HOUR = 60;
const INITIAL_STREAMS = 64;
/**
 * Maximum listed streams. Above it, hours are sketches of 4 KiB each. Their number is an estimate from about
 * here on anyway (distinct.ts).
 */
const MAX_LISTED_STREAMS = 2048;
/** Rows of the histogram. */
const ENTRIES = 0;
const BYTES = 1;
const entriesOf: Measure = entries => entries;
const bytesOf: Measure = (_entries, lineBytes, metadataBytes) => lineBytes + metadataBytes;

/** Statistics of a part of a day. */
interface DayStats {
  readonly entries: number;
  readonly bytes: number;
  /** Number of chunk objects with a matching stream. */
  readonly chunks: number;
  /** Adds the streams to those of other days. */
  addStreamsTo(streams: Distinct): void;
}

/** Cached statistics of a part. */
interface StatsAnswer {
  readonly weightBytes: number;
  /**
   * Returns the statistics of an interval. Results for whole days accept every interval that contains all of
   * their chunks.
   */
  within(interval: DayInterval): DayStats;
}

/** @param whole whether the interval contains all of the part's chunks */
export function statsQuestion(whole: boolean): Question<StatsAnswer> {
  return {
    key: whole ? 'stats of a day' : 'stats of intervals',
    collector: part => new StatsCollector(whole, part.matches),
  };
}

class StatsCollector implements Collector<StatsAnswer> {
  readonly #whole: boolean;
  readonly #matches: (stream: Stream) => boolean;
  readonly #curves: CumulativeHistogram;
  readonly #chunkFirst: number[] = [];
  readonly #chunkLast: number[] = [];
  #streams = 0;
  #hash = new Float64Array(INITIAL_STREAMS);
  #first = new Float64Array(INITIAL_STREAMS);
  #last = new Float64Array(INITIAL_STREAMS);
  /** A bit for each hour of the day in which the stream has entries. */
  #hours = new Uint32Array(INITIAL_STREAMS);

  constructor(whole: boolean, matches: (stream: Stream) => boolean) {
    this.#whole = whole;
    this.#matches = matches;
    this.#curves = new CumulativeHistogram(whole ? 0 : 1);
    this.#curves.addRow();
    this.#curves.addRow();
  }

  indexOf(stream: Stream): number {
    if (!this.#matches(stream)) return NO_INDEX;
    if (this.#streams === this.#hash.length) this.#grow();
    this.#hash[this.#streams] = hashOfText(stream.text);
    this.#first[this.#streams] = Infinity;
    this.#last[this.#streams] = -1;
    return this.#streams++;
  }

  wantsMinutes(first: number, last: number): boolean {
    return !this.#curves.isOneCell(first, last);
  }

  add(index: number, first: number, last: number, { entries, lineBytes, metadataBytes }: DaySums): void {
    this.#curves.add(ENTRIES, first, last, entries);
    this.#curves.add(BYTES, first, last, lineBytes + metadataBytes);
    this.#widen(index, first, last);
    this.#hours[index] |= (1 << hourOf(first)) | (1 << hourOf(last));
  }

  addMinutes(index: number, first: number, last: number, counts: readonly LevelCounts[]): void {
    this.#curves.addMinutes(ENTRIES, first, last, counts, entriesOf);
    this.#curves.addMinutes(BYTES, first, last, counts, bytesOf);
    this.#widen(index, first, last);
    let hours = (1 << hourOf(first)) | (1 << hourOf(last));
    for (const { minutes } of counts) {
      // An entry at the very end of an hour's last minute is the first of the next hour.
      for (const minute of minutes) {
        hours |= 1 << Math.floor(Math.max(minute - 1, 0) / MINUTES_PER_HOUR);
        hours |= 1 << Math.floor(minute / MINUTES_PER_HOUR);
      }
    }
    this.#hours[index] |= hours;
  }

  addChunk(first: number, last: number): void {
    this.#chunkFirst.push(first);
    this.#chunkLast.push(last);
  }

  finish(): StatsAnswer {
    this.#curves.seal();
    const streams = this.#streams;
    if (this.#whole) {
      const distinct = new Distinct();
      for (let i = 0; i < streams; i++) distinct.add(this.#hash[i]);
      return new WholeDay(this.#curves, this.#chunkFirst.length, distinct);
    }
    const listed = {
      hash: this.#hash.subarray(0, streams),
      first: this.#first.subarray(0, streams),
      last: this.#last.subarray(0, streams),
      hours: this.#hours.subarray(0, streams),
    };
    const chunks = { first: Float64Array.from(this.#chunkFirst), last: Float64Array.from(this.#chunkLast) };
    const present = streams > MAX_LISTED_STREAMS ? new HourSketches(listed) : new ListedStreams(listed);
    return new CutDay(this.#curves, chunks, present);
  }

  #widen(index: number, first: number, last: number): void {
    if (first < this.#first[index]) this.#first[index] = first;
    if (last > this.#last[index]) this.#last[index] = last;
  }

  #grow(): void {
    const length = this.#streams * 2;
    this.#hash = enlarged(this.#hash, new Float64Array(length));
    this.#first = enlarged(this.#first, new Float64Array(length));
    this.#last = enlarged(this.#last, new Float64Array(length));
    this.#hours = enlarged(this.#hours, new Uint32Array(length));
  }
}

class WholeDay implements StatsAnswer, DayStats {
  readonly entries: number;
  readonly bytes: number;
  readonly chunks: number;
  readonly #streams: Distinct;

  constructor({ total }: CumulativeHistogram, chunks: number, streams: Distinct) {
    this.entries = total[ENTRIES];
    this.bytes = total[BYTES];
    this.chunks = chunks;
    this.#streams = streams;
  }

  get weightBytes(): number {
    return this.#streams.weightBytes;
  }

  within(): DayStats {
    return this;
  }

  addStreamsTo(streams: Distinct): void {
    streams.merge(this.#streams);
  }
}

/** Streams of a day, from which those of an interval can be selected. */
interface PresentStreams extends Weighed {
  addTo(streams: Distinct, interval: DayInterval): void;
}

interface ChunkBounds {
  readonly first: Float64Array;
  readonly last: Float64Array;
}

class CutDay implements StatsAnswer {
  readonly weightBytes: number;
  readonly #curves: CumulativeHistogram;
  readonly #bounds: ChunkBounds;
  readonly #present: PresentStreams;

  constructor(curves: CumulativeHistogram, bounds: ChunkBounds, present: PresentStreams) {
    this.#curves = curves;
    this.#bounds = bounds;
    this.#present = present;
    this.weightBytes = curves.weightBytes + 2 * bounds.first.byteLength + present.weightBytes;
  }

  within(interval: DayInterval): DayStats {
    const { from, to } = interval;
    const curves = this.#curves;
    const bounds = this.#bounds;
    const present = this.#present;
    const { first, last } = bounds;
    let chunks = 0;
    for (let i = 0; i < first.length; i++) if (last[i] >= from && first[i] < to) chunks++;
    return {
      entries: curves.between(ENTRIES, from, to),
      bytes: curves.between(BYTES, from, to),
      chunks,
      addStreamsTo: streams => {
        if (to > from) present.addTo(streams, interval);
      },
    };
  }
}

/** Parallel. */
interface StreamColumns {
  readonly hash: Float64Array;
  readonly first: Float64Array;
  readonly last: Float64Array;
  readonly hours: Uint32Array;
}

class ListedStreams implements PresentStreams {
  readonly weightBytes: number;
  readonly #columns: StreamColumns;

  constructor({ hash, first, last, hours }: StreamColumns) {
    this.#columns = { hash: hash.slice(), first: first.slice(), last: last.slice(), hours: hours.slice() };
    this.weightBytes = hash.length * 28;
  }

  addTo(streams: Distinct, { from, to }: DayInterval): void {
    const { hash, first, last, hours } = this.#columns;
    let wanted = 0;
    for (let hour = hourOf(from); hour <= hourOf(to - 1); hour++) wanted |= 1 << hour;
    for (let i = 0; i < hash.length; i++) {
      if (last[i] >= from && first[i] < to && (hours[i] & wanted) !== 0) streams.add(hash[i]);
    }
  }
}

class HourSketches implements PresentStreams {
  readonly weightBytes: number;
  readonly #ofHour: readonly Distinct[];

  constructor({ hash, hours }: StreamColumns) {
    this.#ofHour = Array.from({ length: HOURS }, () => new Distinct());
    for (let i = 0; i < hash.length; i++) {
      for (let hour = 0; hour < HOURS; hour++)
        if ((hours[i] & (1 << hour)) !== 0) this.#ofHour[hour].add(hash[i]);
    }
    this.weightBytes = this.#ofHour.reduce((sum, distinct) => sum + distinct.weightBytes, 0);
  }

  addTo(streams: Distinct, { from, to }: DayInterval): void {
    for (let hour = hourOf(from); hour <= hourOf(to - 1); hour++) streams.merge(this.#ofHour[hour]);
  }
}

function hourOf(time: number): number {
  return Math.min(Math.floor(time / NS_OF_HOUR), HOURS - 1);
}
