/**
 * Tells when a tenant has pushed enough to a day for a merge that is full (plan-merges.ts), so that pushes are packed within seconds
 * where much is pushed. It counts what one process commits; where several do, each tells later, and the job that goes through all
 * days finds the rest.
 */

import { LruCache } from '../../base/model/lru.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { FULL_LINE_BYTES, MAX_INPUTS } from './plan-merges.ts';

/** Days counted at once; one that has to go waits for the job. */
const COUNTED_DAYS = 10_000;

export interface PackedDay {
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
}

/** A day with pushes that fill a merge. */
export interface FilledDay extends PackedDay {
  readonly chunks: number;
  readonly lineBytes: number;
}

/** Counts pushed chunks; `ask` must not throw. */
export function fullMergeCounter(
  ask: (filled: FilledDay) => void,
): (records: readonly ChunkRecord[]) => void {
  const counted = new LruCache<string, { chunks: number; lineBytes: number }>(COUNTED_DAYS);
  return records => {
    for (const { tenant, day, lineBytes } of records) {
      const name = `${day}/${tenant}`;
      const sum = counted.get(name) ?? { chunks: 0, lineBytes: 0 };
      sum.chunks++;
      sum.lineBytes += lineBytes;
      if (sum.chunks < MAX_INPUTS && sum.lineBytes < FULL_LINE_BYTES) {
        counted.set(name, sum);
        continue;
      }
      counted.delete(name);
      ask({ tenant, day, ...sum });
    }
  };
}
