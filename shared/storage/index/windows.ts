/**
 * Divides the chunks of a day among its indexes, by the minute in which a chunk begins. A large day has an index for
 * each window of time, so that neither syncing nor reading a part of the day takes the whole.
 */
import { MINUTES_PER_DAY, NS_OF_MINUTE } from '../../base/model/time-units.ts';
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import type { IndexRecord } from '../catalog/day-item.ts';

export interface IndexWindow {
  readonly fromMinute: number;
  readonly records: readonly ChunkRecord[];
}

/** Chunks that one index should have at most: a head of a few MB, and a tenth of what it may have (format.ts). */
const CHUNKS_OF_INDEX = 4096;
/** Possible numbers of windows. */
const DIVISIONS = [1, 4, 24, 96, 240];

/**
 * Returns the windows that have chunks. A day is never divided into fewer windows than before, because merges make
 * fewer chunks of the same lines.
 */
export function indexWindows(
  records: readonly ChunkRecord[],
  indexes: readonly IndexRecord[],
  chunksOfIndex = CHUNKS_OF_INDEX,
): { readonly windows: readonly IndexWindow[]; readonly isDivided: boolean } {
  const wanted = DIVISIONS.find(count => records.length <= count * chunksOfIndex) ?? DIVISIONS.at(-1)!;
  const present = divisionOf(indexes);
  const count = Math.max(wanted, present);
  const minutes = MINUTES_PER_DAY / count;
  const byWindow = Map.groupBy(records, ({ first }) => Math.floor(first / NS_OF_MINUTE / minutes) * minutes);
  const windows = [...byWindow]
    .map(([fromMinute, ofWindow]) => ({ fromMinute, records: ofWindow }))
    .sort((a, b) => a.fromMinute - b.fromMinute);
  // One index of a day that has chunks in one window is already that window's.
  const isDivided = indexes.length > 0 && count > present && windows.length > indexes.length;
  return { windows, isDivided };
}

/** Returns the indexes of the windows in which the records begin. */
export function indexesOf(
  records: readonly Pick<ChunkRecord, 'first'>[],
  indexes: readonly IndexRecord[],
): readonly IndexRecord[] {
  if (indexes.length < 2) return indexes;
  const minutes = new Set(records.map(({ first }) => Math.floor(first / NS_OF_MINUTE)));
  const needed = new Set<IndexRecord>();
  for (const minute of minutes) {
    const index = indexes.findLast(({ fromMinute }) => fromMinute <= minute);
    if (index !== undefined) needed.add(index);
  }
  return indexes.filter(index => needed.has(index));
}

/** Returns the smallest number of windows that begin where the indexes begin. */
function divisionOf(indexes: readonly IndexRecord[]): number {
  const fits = (count: number) =>
    indexes.every(({ fromMinute }) => fromMinute % (MINUTES_PER_DAY / count) === 0);
  return DIVISIONS.find(fits) ?? DIVISIONS.at(-1)!;
}
