/** The scheduled job that packs chunks: goes through the days with work outstanding, and takes settled ones off the list. */
import type { Catalog } from '../catalog/catalog.ts';
import type { Outstanding } from '../catalog/outstanding.ts';
import type { Compactor } from '../compaction/compactor.ts';
import type { Syncer } from '../index/syncer.ts';
import { messageOf } from '../model/errors.ts';
import type { FlushRequest } from './flush-request.ts';
import type { Job, JobOutcome, RunBounds } from './jobs.ts';

export interface CompactionJobParts {
  readonly catalog: Catalog;
  readonly compactor: Compactor;
  /** Undefined where the store keeps no index objects. */
  readonly syncer: Syncer | undefined;
  readonly flush: FlushRequest;
  readonly everyMs: number;
}

export function compactionJob({ catalog, compactor, syncer, flush, everyMs }: CompactionJobParts): Job {
  return {
    name: 'compaction',
    everyMs,
    async run(bounds): Promise<JobOutcome> {
      const figures = { days: 0, merges: 0, rows: 0, inputBytes: 0, outputBytes: 0, duplicates: 0 };
      const failures: string[] = [];
      let done = true;
      const requestedMs = await flush.pending();
      const force = requestedMs !== undefined;
      for await (const work of catalog.outstanding.list()) {
        if (bounds.signal.aborted) {
          done = false;
          break;
        }
        figures.days++;
        try {
          const report = await compactor.compactDay({ ...work, ...bounds, force });
          figures.merges += report.merges;
          figures.rows += report.rows;
          figures.inputBytes += report.inputBytes;
          figures.outputBytes += report.outputBytes;
          figures.duplicates += report.duplicates;
          // Whoever holds the day may pack it without what was asked for.
          if (report.end === 'time' || (force && report.end === 'busy')) done = false;
          if (report.end === 'settled') await finish(work, bounds);
        } catch (error) {
          // A broken chunk must not keep other days from being packed.
          failures.push(`${work.tenant} day ${work.day}: ${messageOf(error)}`);
        }
      }
      if (requestedMs !== undefined && done) await flush.complete(requestedMs);
      const succeeded = figures.days - failures.length;
      return { done: done && failures.length === 0, succeeded, figures, failures };
    },
  };

  /** Nothing comes for this day any more unless it is pushed: its index is made for good. */
  async function finish(work: Outstanding, bounds: RunBounds): Promise<void> {
    const { tenant, day } = work;
    const end = await syncer?.syncDay({ tenant, day, force: true, ...bounds });
    if (end === undefined || end === 'fresh') await catalog.outstanding.remove(work);
  }
}
