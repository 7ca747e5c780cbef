/**
 * Reports when a tenant has pushed enough to a day for a merge (plan-merges.ts), so that a busy tenant's
 * pushes are merged within seconds: each time they fill a merge, and once more when they pause. It counts the
 * commits of one process. With several processes each reports later, and the job that visits all days finds
 * the rest.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { MERGE_SIZES } from './merge-sizes.ts';
import { FULL_LINE_BYTES, MAX_INPUTS, MERGE_PAUSE_MS } from './plan-merges.ts';

/** Maximum number of days counted at once. A day that is evicted waits for the job. */
const COUNTED_DAYS = 10_000;

export interface TenantDay {
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
}

/** A day with enough pushes for a merge. */
export interface FilledDay extends TenantDay {
  readonly chunks: number;
  readonly lineBytes: number;
}

interface FullMergeCounterOptions {
  /** Must not throw. */
  readonly request: (filled: FilledDay) => void;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Stops waiting for pauses. */
  readonly signal: AbortSignal;
}

interface UnmergedDay {
  chunks: number;
  lineBytes: number;
  /** True while a timer waits for a pause of the pushes. */
  isWatched: boolean;
}

/** Counts pushed chunks. */
export function fullMergeCounter({
  request,
  clock,
  signal,
}: FullMergeCounterOptions): (records: readonly ChunkRecord[]) => void {
  const counted = new LruCache<string, UnmergedDay>(COUNTED_DAYS);

  function requestMerge(name: string, day: TenantDay, { chunks, lineBytes }: UnmergedDay): void {
    counted.delete(name);
    request({ tenant: day.tenant, day: day.day, chunks, lineBytes });
  }

  async function watch(name: string, day: TenantDay, sum: UnmergedDay): Promise<void> {
    for (let before = 0; before !== sum.chunks; ) {
      before = sum.chunks;
      await clock.sleep(MERGE_PAUSE_MS, signal).catch(() => undefined);
      if (signal.aborted || counted.get(name) !== sum) return;
    }
    requestMerge(name, day, sum);
  }

  return records => {
    for (const { tenant, day, lineBytes } of records) {
      const name = `${day}/${tenant}`;
      const sum = counted.get(name) ?? { chunks: 0, lineBytes: 0, isWatched: false };
      sum.chunks++;
      sum.lineBytes += lineBytes;
      if (sum.chunks >= MAX_INPUTS || sum.lineBytes >= FULL_LINE_BYTES) {
        requestMerge(name, { tenant, day }, sum);
        continue;
      }
      counted.set(name, sum);
      if (sum.isWatched || sum.chunks < 2 || sum.lineBytes < MERGE_SIZES.finalFromBytes) continue;
      sum.isWatched = true;
      void watch(name, { tenant, day }, sum);
    }
  };
}
