/** Days whose chunks are divided among workers, which plan them (chunk-ranges.ts). */

import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../storage/catalog/day-item.ts';
import { type DayRecords, insideDay, type TimeRange } from '../day-plan.ts';
import type { StreamSelector } from '../selector.ts';
import { type ChunkRange, chunkRanges, joinRanges } from './chunk-ranges.ts';
import { type TaskSizes, taskBytesOf } from './plan-tasks.ts';
import { costOfChunk } from './task-cost.ts';

/** Query over the chunks. */
export interface ChunksAsked {
  readonly selector: StreamSelector;
  readonly range: TimeRange;
  /** Whether most pages of the chunks are pruned. */
  readonly prunes: boolean;
  /** Whether the query counts what the day index has (index-counts.ts). Default: false. */
  readonly counts?: boolean;
}

/** A day that workers plan. */
export interface DayOfChunks {
  readonly day: number;
  /** Range inside the day, ns, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly ranges: readonly ChunkRange[];
  readonly chunks: number;
  /** Chunks that the label sketches prune. */
  readonly prunedChunks: number;
  readonly counts: boolean;
  readonly indexes: readonly IndexRecord[];
}

export interface DaySplit
  extends Pick<
    TaskSizes,
    'minTaskBytes' | 'maxTaskBytes' | 'tasksOfDay' | 'maxNeighbors' | 'maxFooterBytesHere'
  > {
  /** Direction of a query that may end early. Undefined for one that reads everything. */
  readonly direction?: 'forward' | 'backward';
}

/** Chunks of a task that counts from the day index: 75 ms. If the index has too few of them, the task is divided. */
const COUNTED_CHUNKS = 512;
/** Maximum neighbors of a range. Beyond it, workers would plan the same chunks repeatedly. */
const MAX_NEIGHBORS = 256;
/** Maximum neighbors if the day has an index, which shows which of them matter: 400 KB of a task. */
const MAX_INDEXED_NEIGHBORS = 4096;

/** Returns the maximum number of chunks that share time with a range. */
export function maxNeighborsOf(indexes: readonly IndexRecord[]): number {
  return indexes.length > 0 ? MAX_INDEXED_NEIGHBORS : MAX_NEIGHBORS;
}

/** Returns undefined if too many chunks share one time. */
export function dayOfChunks(
  { day, records, indexes }: DayRecords,
  { selector, range, prunes, counts = false }: ChunksAsked,
  { direction, maxNeighbors, ...sizes }: DaySplit,
): DayOfChunks | undefined {
  const own = records.filter(({ pairs }) => selector.mayMatch(pairs));
  const countsByIndex = counts && indexes.length > 0;
  const ranges = chunkRanges(own, {
    count: prunes && !countsByIndex ? sizes.tasksOfDay : 1,
    maxChunks: countsByIndex ? COUNTED_CHUNKS : undefined,
    // If nothing is pruned, the records show how much work a task has.
    maxCost: prunes
      ? undefined
      : taskBytesOf(
          own.reduce((sum, record) => sum + costOfChunk(record), 0),
          sizes,
        ),
    backward: direction === 'backward',
    grows: direction !== undefined,
    maxNeighbors: maxNeighbors ?? maxNeighborsOf(indexes),
  });
  if (ranges === undefined) return undefined;
  const prunedChunks = records.length - own.length;
  return { day, ...insideDay(day, range), ranges, chunks: records.length, prunedChunks, counts, indexes };
}

/** Bytes of the footers of chunks that may match. */
export function footerBytesOf(days: readonly DayRecords[], selector: StreamSelector): number {
  let bytes = 0;
  for (const { records } of days) {
    for (const { pairs, footerBytes } of records) if (selector.mayMatch(pairs)) bytes += footerBytes;
  }
  return bytes;
}

/** Bytes of the lines of a range's own chunks. */
export function lineBytesOfRange({ own }: ChunkRange): number {
  return own.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
}

/** Returns the chunks of a task that is too large, in parts that are not. */
export function splitRange(
  { own }: ChunkRange,
  records: readonly ChunkRecord[],
  parts: number,
  backward: boolean,
): ChunkRange[] {
  // Neighbors are searched among all records of the task: a chunk without neighbors before has none now.
  const all = chunkRanges(records, { count: Infinity, backward, maxNeighbors: Infinity }) ?? [];
  const ofTask = new Set<ChunkRecord>(own);
  const single = all.filter(range => ofTask.has(range.own[0]));
  return joinRanges(single, Math.ceil(single.length / parts));
}
