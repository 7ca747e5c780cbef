/** Filter for the expired rows of a chunk, for rewriting it without them. */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import type { PageRows, Stream } from '../../base/model/page.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Retention } from './retention.ts';

/** `undefined` if no row can be expired at `nowNs`. */
export function retentionFilter(
  retention: Retention,
  record: ChunkRecord,
  nowNs: bigint,
): ChunkRowFilter | undefined {
  const { shortestNs } = retention;
  const firstNs = BigInt(record.day) * NS_PER_DAY + BigInt(record.first);
  if (retention.isOff || shortestNs === 0n || firstNs >= nowNs - shortestNs) return undefined;
  /** Unix ns before which rows of the stream are expired; `undefined` if they never expire. */
  const cutOff = ({ labels }: Stream): bigint | undefined => {
    const periodNs = retention.periodNsOf(labels);
    return periodNs === 0n ? undefined : nowNs - periodNs;
  };
  return {
    mayTouch: stream => {
      const before = cutOff(stream);
      return before !== undefined && firstNs < before;
    },
    hide: (rows, selection, count) => hideExpired(rows, cutOff, selection, count),
  };
}

function hideExpired(
  { runs, times, baseNs }: PageRows,
  cutOff: (stream: Stream) => bigint | undefined,
  selection: Uint32Array,
  count: number,
): number {
  let kept = 0;
  let at = 0;
  for (const { stream, firstRow, rows } of runs) {
    const end = firstRow + rows;
    if (at === count) break;
    if (selection[at] >= end) continue;
    const before = cutOff(stream);
    const offset = before === undefined ? -Infinity : Number(before - baseNs);
    for (; at < count && selection[at] < end; at++) {
      const row = selection[at];
      if (times[row] >= offset) selection[kept++] = row;
    }
  }
  return kept;
}
