/**
 * Reports when a tenant has pushed enough to a day for a merge (plan-merges.ts), so that its lines are merged within
 * seconds: when they fill a merge, MERGE_WAIT_MS after they have the lines of a smaller one, and SILENCE_MS after the last of a few
 * pushes, if those fill a page. It counts the commits of one process. With several processes each reports later,
 * and the job that visits all days finds the rest.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { MERGE_SIZES } from './merge-sizes.ts';
import { FULL_CHUNKS, FULL_LINE_BYTES, MERGE_WAIT_MS, SILENCE_MS } from './plan-merges.ts';

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
  /** Ends the waits. */
  readonly signal: AbortSignal;
}

interface UnmergedDay {
  chunks: number;
  lineBytes: number;
  /** True if the pushes are enough for a merge, and a timer waits for more. */
  isWaiting: boolean;
  /** True while a timer waits for silence. */
  isWatched: boolean;
  /** True if pushes before these were requested. The merge leaves those of the last SETTLE_MS to the next one. */
  hasEarlier: boolean;
}

function newDay(hasEarlier = false): UnmergedDay {
  return { chunks: 0, lineBytes: 0, isWaiting: false, isWatched: false, hasEarlier };
}

/** Counts pushed chunks. */
export function fullMergeCounter({
  request,
  clock,
  signal,
}: FullMergeCounterOptions): (records: readonly ChunkRecord[]) => void {
  const counted = new LruCache<string, UnmergedDay>(COUNTED_DAYS);

  function requestMerge(name: string, day: TenantDay, { chunks, lineBytes }: UnmergedDay): void {
    const next = newDay(true);
    counted.set(name, next);
    watch(name, day, next);
    request({ tenant: day.tenant, day: day.day, chunks, lineBytes });
  }

  function watch(name: string, day: TenantDay, sum: UnmergedDay): void {
    if (sum.isWatched) return;
    sum.isWatched = true;
    void requestInSilence(name, day, sum);
  }

  async function requestLater(name: string, day: TenantDay, sum: UnmergedDay): Promise<void> {
    await clock.sleep(MERGE_WAIT_MS, signal).catch(() => undefined);
    if (!signal.aborted && counted.get(name) === sum) requestMerge(name, day, sum);
  }

  /** Ends without a request if the pushes are few. The next one starts it again. */
  async function requestInSilence(name: string, day: TenantDay, sum: UnmergedDay): Promise<void> {
    let chunks: number;
    do {
      chunks = sum.chunks;
      await clock.sleep(SILENCE_MS, signal).catch(() => undefined);
      if (signal.aborted || counted.get(name) !== sum) return;
    } while (sum.chunks > chunks);
    sum.isWatched = false;
    if (!sum.hasEarlier && (chunks < 2 || sum.lineBytes < MERGE_SIZES.pageBytes)) return;
    counted.delete(name);
    request({ tenant: day.tenant, day: day.day, chunks, lineBytes: sum.lineBytes });
  }

  return records => {
    for (const { tenant, day, lineBytes } of records) {
      const name = `${day}/${tenant}`;
      const sum = counted.get(name) ?? newDay();
      sum.chunks++;
      sum.lineBytes += lineBytes;
      if (sum.chunks >= FULL_CHUNKS || sum.lineBytes >= FULL_LINE_BYTES) {
        requestMerge(name, { tenant, day }, sum);
        continue;
      }
      counted.set(name, sum);
      watch(name, { tenant, day }, sum);
      if (sum.isWaiting || sum.chunks < 2 || sum.lineBytes < MERGE_SIZES.awaitedBytes) continue;
      sum.isWaiting = true;
      void requestLater(name, { tenant, day }, sum);
    }
  };
}
