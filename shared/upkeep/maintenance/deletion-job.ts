/**
 * The scheduled job that removes the entries that delete requests cover. Compaction removes the same rows
 * from whatever it merges. This job finds the other rows, and marks a request as processed when all are
 * removed.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { DeleteRequests } from '../../storage/catalog/delete-requests.ts';
import { noRewrites } from '../compaction/day-rewriter.ts';
import type { DeletionFigures, TenantDeletion } from '../deletion/tenant-deletion.ts';
import type { Job, JobOutcome } from '../maintenance/jobs.ts';

/** Receives what the job finds and does, for metrics. */
export interface DeletionObserver {
  processed(tenant: string, requests: number): void;
  /** Totals of all tenants. `oldestMs` is when the oldest request was created, Unix ms. */
  pending(requests: { readonly count: number; readonly oldestMs: number | undefined }): void;
}

interface DeletionJobParts {
  readonly deletes: DeleteRequests;
  readonly clock: Clock;
  readonly deletion: TenantDeletion;
  readonly everyMs: number;
  readonly observer?: DeletionObserver;
}

export function deletionJob({ deletes, clock, deletion, everyMs, observer }: DeletionJobParts): Job {
  /**
   * The tenant at which the previous run stopped when its time was up. It comes first, so a heavy tenant does
   * not block the others.
   */
  let first: string | undefined;
  return {
    name: 'deletion',
    everyMs,
    async run(bounds): Promise<JobOutcome> {
      const figures: DeletionFigures = { ...noRewrites(), pickedUp: 0, processed: 0, days: 0, readBytes: 0 };
      let processed = 0;
      const failures: string[] = [];
      let done = true;
      const tenants = await Array.fromAsync(deletes.tenants());
      const start = Math.max(0, first === undefined ? 0 : tenants.indexOf(first));
      first = undefined;
      for (const tenant of [...tenants.slice(start), ...tenants.slice(0, start)]) {
        if (bounds.signal.aborted || clock.nowMs() >= bounds.untilMs) {
          done = false;
          first = tenant;
          break;
        }
        try {
          if (!(await deletion.work(tenant, bounds, figures, failures))) done = false;
          if (figures.processed > processed) observer?.processed(tenant, figures.processed - processed);
          processed = figures.processed;
        } catch (error) {
          if (bounds.signal.aborted) done = false;
          // A failure of one tenant must not keep the others from being processed.
          else failures.push(`${tenant}: ${messageOf(error)}`);
        }
      }
      const { oldestMs, pending = 0, ...reported } = figures;
      observer?.pending({
        count: pending - figures.processed,
        oldestMs: pending > figures.processed ? oldestMs : undefined,
      });
      const succeeded = Math.max(0, Math.max(figures.days, tenants.length) - failures.length);
      return { done: done && failures.length === 0, succeeded, figures: { ...reported }, failures };
    },
  };
}
