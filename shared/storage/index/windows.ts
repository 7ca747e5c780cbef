/**
 * Divides the chunks of a day among its indexes, as merges divide them: by the minute in which a chunk begins, and in large windows by
 * part of the streams (stream-part.ts). So neither syncing nor reading a part of the day takes the whole, and functions can write
 * the indexes of a day at the same time.
 *
 *     window   | 0:00 to 1:00      | 1:00 to 2:00 ...
 *     indexes  [4] [5] [6] [7] [1]   [1]               part 1: chunks of all streams, or of a window that is not divided
 */
import { MINUTES_PER_DAY, NS_OF_MINUTE } from '../../base/model/time-units.ts';
import { type ChunkRecord, streamPartOf } from '../catalog/chunk-record.ts';
import type { IndexRecord } from '../catalog/day-item.ts';
import { ALL_STREAMS, hasPart, partAt, partBits, usualPartBits } from '../catalog/stream-part.ts';

export interface IndexWindow {
  readonly fromMinute: number;
  /** Part of the streams; ALL_STREAMS has the chunks of no other index, too. */
  readonly streamPart: number;
  readonly records: readonly ChunkRecord[];
  /** Whether an index of more time or more streams is divided, so that a new one is written without a new chunk. */
  readonly isDivided: boolean;
}

/** Chunks that one index should have at most: a head of a few MB, and a tenth of what it may have (format.ts). */
const CHUNKS_OF_INDEX = 4096;
/**
 * Part of that number from which on a window is divided by part of the streams. Its head of 1.5 MB becomes 8 of 0.2 MB, which S3
 * transfers in the time of a request.
 */
const DIVIDED_SHARE = 0.25;
/** Possible numbers of windows. */
const DIVISIONS = [1, 4, 24, 96, 240];
/** Maximum number of windows with parts: 24 hours of 8 parts and the rest are 216 indexes, which the item of the day can name. */
const MAX_DIVIDED_WINDOWS = 24;
const MAX_BITS = 3;

/**
 * Returns the windows and parts that have chunks. A day is never divided into fewer than before, because merges make
 * fewer chunks of the same lines.
 */
export function indexWindows(
  records: readonly ChunkRecord[],
  indexes: readonly IndexRecord[],
  chunksOfIndex = CHUNKS_OF_INDEX,
): readonly IndexWindow[] {
  const present = divisionOf(indexes);
  const wantedCount = wantedDivision(records, chunksOfIndex);
  const hasParts = wantedBits(records, 0) > 0 || indexes.some(index => streamPartOf(index) !== ALL_STREAMS);
  const count = Math.max(hasParts ? Math.min(wantedCount, MAX_DIVIDED_WINDOWS) : wantedCount, present);
  const minutes = MINUTES_PER_DAY / count;
  const byWindow = Map.groupBy(records, ({ first }) => Math.floor(first / NS_OF_MINUTE / minutes) * minutes);
  const before = new Set(indexes.map(({ fromMinute }) => fromMinute)).size;
  // One index of a day that has chunks in one window is already that window's.
  const isDayDivided = indexes.length > 0 && count > present && byWindow.size > before;
  return [...byWindow]
    .sort((a, b) => a[0] - b[0])
    .flatMap(([fromMinute, ofWindow]) => {
      const own = indexes.filter(index => index.fromMinute === fromMinute).map(streamPartOf);
      const bitsBefore = Math.max(0, ...own.map(partBits));
      const wanted = count > MAX_DIVIDED_WINDOWS ? 0 : wantedBits(ofWindow, chunksOfIndex * DIVIDED_SHARE);
      const bits = Math.max(wanted, bitsBefore);
      const isDivided = isDayDivided || (own.length > 0 && bits > bitsBefore);
      return [...Map.groupBy(ofWindow, record => partAt(streamPartOf(record), bits))]
        .map(([streamPart, ofPart]) => ({ fromMinute, streamPart, records: ofPart, isDivided }))
        .sort((a, b) => a.streamPart - b.streamPart);
    });
}

/** Returns the indexes of the windows and parts of the records. */
export function indexesOf(
  records: readonly Pick<ChunkRecord, 'first' | 'streamPart'>[],
  indexes: readonly IndexRecord[],
): readonly IndexRecord[] {
  if (indexes.length < 2) return indexes;
  const seen = new Set<number>();
  const needed = new Set<IndexRecord>();
  for (const record of records) {
    const [minute, part] = [Math.floor(record.first / NS_OF_MINUTE), streamPartOf(record)];
    const key = part * MINUTES_PER_DAY + minute;
    if (seen.has(key)) continue;
    seen.add(key);
    const index = indexAt(indexes, minute, part);
    if (index !== undefined) needed.add(index);
  }
  return indexes.filter(index => needed.has(index));
}

/** Returns the index with the fewest streams that has chunks of the minute and part, or undefined if there is none. */
export function indexAt(
  indexes: readonly IndexRecord[],
  minute: number,
  streamPart: number,
): IndexRecord | undefined {
  const from = indexes.findLast(({ fromMinute }) => fromMinute <= minute)?.fromMinute;
  // Indexes of a window ascend by part, and a part is larger than those that have it.
  return indexes.findLast(index => index.fromMinute === from && hasPart(streamPartOf(index), streamPart));
}

function wantedDivision(records: readonly ChunkRecord[], chunksOfIndex: number): number {
  return DIVISIONS.find(count => records.length <= count * chunksOfIndex) ?? DIVISIONS.at(-1)!;
}

/** Returns the bits of the parts that nearly all chunks have, or 0 for up to `most` chunks. */
function wantedBits(records: readonly ChunkRecord[], most: number): number {
  if (records.length <= most) return 0;
  return Math.min(MAX_BITS, usualPartBits(records.map(streamPartOf)));
}

/** Returns the smallest number of windows that begin where the indexes begin. */
function divisionOf(indexes: readonly IndexRecord[]): number {
  const fits = (count: number) =>
    indexes.every(({ fromMinute }) => fromMinute % (MINUTES_PER_DAY / count) === 0);
  return DIVISIONS.find(fits) ?? DIVISIONS.at(-1)!;
}
