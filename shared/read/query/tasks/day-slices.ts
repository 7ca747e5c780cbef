/**
 * Parts of a day in time. A day is one part, unless so many of its chunks share one time that workers cannot plan it
 * (chunk-ranges.ts). Such a day is halved until workers can plan the parts, or until a part is a minute. The query
 * function plans those itself.
 *
 *     chunks   -- -- -- -- -- -- ======      a minute of many small pushes, or one push with the entries of hours
 *     slices   [ workers ][ work ][here]
 *
 * Equal entries have equal times, so they are in one slice. A chunk of several slices is read for each of them, but not
 * its pages outside the slice.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import { NS_OF_MINUTE, NS_PER_DAY } from '../../../base/model/time-units.ts';
import { formatByteQuantity } from '../byte-quantity.ts';
import { type DayRecords, insideDay, type TimeRange } from '../day-plan.ts';
import type { StreamSelector } from '../selector.ts';
import {
  type ChunksAsked,
  type DayOfChunks,
  type DaySplit,
  dayOfChunks,
  footerBytesOf,
  maxNeighborsOf,
} from './chunk-days.ts';
import { MAX_CHUNKS } from './chunk-ranges.ts';

export interface DaySlice {
  readonly whole: DayRecords;
  /** The day with the chunks that meet the slice. */
  readonly ofSlice: DayRecords;
  /** Part of the query's range. */
  readonly range: TimeRange;
  /** Ranges of chunks that workers plan. Undefined if the query function plans the slice. */
  readonly chunks: DayOfChunks | undefined;
  /** Share of the bytes of the day's lines. The shares of a day add up to 1. */
  readonly share: number;
}

/**
 * Maximum footers of a slice that the query function plans, bytes: those of 0.4 TB of lines. It needs 5 s and 2.3 GB to
 * decode them.
 */
const MAX_FOOTER_BYTES_HERE = 512 * 1024 * 1024;

type Cut = Pick<DaySlice, 'ofSlice' | 'range' | 'chunks'>;

/** A day that the query function plans. */
export function wholeDay(day: DayRecords, range: TimeRange): DaySlice {
  return { whole: day, ofSlice: day, range, chunks: undefined, share: 1 };
}

/**
 * Returns the slices of a day in the direction of the query. Throws BadRequestError if the query function would have to
 * plan too much.
 */
export function slicesOfDay(day: DayRecords, asked: ChunksAsked, split: DaySplit): DaySlice[] {
  const chunks = dayOfChunks(day, asked, split);
  if (chunks !== undefined) return [{ ...wholeDay(day, asked.range), chunks }];
  const { maxNeighbors = maxNeighborsOf(day.indexes) } = split;
  const { from, to } = insideDay(day.day, asked.range);
  const slices = joinHere(
    day,
    cutMinutes(day, Math.floor(from / NS_OF_MINUTE), Math.ceil(to / NS_OF_MINUTE)),
  );
  const bytes = slices.map(({ ofSlice }) => lineBytesOf(ofSlice));
  const total = bytes.reduce((sum, one) => sum + one, 0);
  const found = slices.map((slice, i) => ({
    ...slice,
    whole: day,
    share: total === 0 ? 1 / slices.length : bytes[i] / total,
  }));
  checkHere(found);
  return split.direction === 'backward' ? found.reverse() : found;

  /** @param fromMinute of the day, inclusive @param toMinute exclusive */
  function cutMinutes(records: DayRecords, fromMinute: number, toMinute: number): Cut[] {
    const range = rangeOf(fromMinute, toMinute);
    const ofSlice = within(records, range);
    if (ofSlice.records.length === 0) return [];
    // No part of the slice has fewer than these.
    if (throughout(ofSlice, range, asked.selector) > maxNeighbors + MAX_CHUNKS)
      return [{ ofSlice, range, chunks: undefined }];
    const share = ofSlice.records.length / day.records.length;
    const tasksOfDay = Math.ceil(split.tasksOfDay * share);
    const ofWorkers = dayOfChunks(ofSlice, { ...asked, range }, { ...split, tasksOfDay });
    if (ofWorkers !== undefined || toMinute - fromMinute <= 1) return [{ ofSlice, range, chunks: ofWorkers }];
    const middle = Math.floor((fromMinute + toMinute) / 2);
    return [...cutMinutes(ofSlice, fromMinute, middle), ...cutMinutes(ofSlice, middle, toMinute)];
  }

  function rangeOf(fromMinute: number, toMinute: number): TimeRange {
    const start = BigInt(day.day) * NS_PER_DAY;
    const startNs = start + BigInt(fromMinute * NS_OF_MINUTE);
    const endNs = start + BigInt(toMinute * NS_OF_MINUTE);
    const { range } = asked;
    return {
      startNs: startNs < range.startNs ? range.startNs : startNs,
      endNs: endNs > range.endNs ? range.endNs : endNs,
    };
  }

  function checkHere(all: readonly DaySlice[]): void {
    const here = all.filter(one => one.chunks === undefined).map(({ ofSlice }) => ofSlice);
    const { maxFooterBytesHere = MAX_FOOTER_BYTES_HERE } = split;
    const footerBytes = footerBytesOf(here, asked.selector);
    if (footerBytes <= maxFooterBytesHere) return;
    const date = new Date(Number((BigInt(day.day) * NS_PER_DAY) / 1_000_000n)).toISOString().slice(0, 10);
    throw new BadRequestError(
      `too many chunks of ${date} overlap in time: the query would read ${formatByteQuantity(footerBytes)} of footers ` +
        `at once (limit: ${formatByteQuantity(maxFooterBytesHere)}); query a shorter time range or fewer streams, ` +
        'or retry when compaction has merged the chunks',
    );
  }
}

/** Joins consecutive slices that the query function plans, so that it reads each of their chunks once. */
function joinHere(day: DayRecords, cuts: readonly Cut[]): Cut[] {
  const joined: Cut[] = [];
  for (const cut of cuts) {
    const last = joined.at(-1);
    if (last === undefined || last.chunks !== undefined || cut.chunks !== undefined) {
      joined.push(cut);
      continue;
    }
    const range = { startNs: last.range.startNs, endNs: cut.range.endNs };
    joined.splice(-1, 1, { range, ofSlice: within(day, range), chunks: undefined });
  }
  return joined;
}

function within(day: DayRecords, range: TimeRange): DayRecords {
  const { from, to } = insideDay(day.day, range);
  return { ...day, records: day.records.filter(({ first, last }) => first < to && last >= from) };
}

/** Returns the number of chunks that may match and last as long as the slice. */
function throughout({ day, records }: DayRecords, range: TimeRange, selector: StreamSelector): number {
  const { from, to } = insideDay(day, range);
  return records.filter(
    ({ pairs, first, last }) => first <= from && last >= to - 1 && selector.mayMatch(pairs),
  ).length;
}

function lineBytesOf({ records }: DayRecords): number {
  return records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
}
