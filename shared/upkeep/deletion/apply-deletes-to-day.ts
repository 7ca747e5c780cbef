/**
 * Removes rows covered by accepted delete requests from the chunks of one day, in this thread or in another.
 */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import {
  type DayRewriterParts,
  type DayToRewrite,
  type RewriteEnd,
  type RewriteFigures,
  rewriteDay,
} from '../compaction/day-rewriter.ts';
import { findCovered } from './find-covered.ts';

/** Day of a tenant, with the limits of the run. */
export type DayWithDeletes = Pick<DayToRewrite, 'tenant' | 'day' | 'untilMs' | 'signal'>;

export interface DayDeletionFigures extends RewriteFigures {
  /** Stored bytes read to find covered rows. Rewriting reads its inputs again. */
  readBytes: number;
}

export interface DayDeletion {
  /** See rewriteDay. An implementation in another thread also throws if that thread is lost. */
  deleteOfDay(work: DayWithDeletes, figures: DayDeletionFigures): Promise<RewriteEnd>;
}

export interface DayDeletionParts {
  readonly rewriter: DayRewriterParts;
  readonly store: ObjectStore;
}

export function dayDeletion({ rewriter, store }: DayDeletionParts): DayDeletion {
  return {
    deleteOfDay: (work, figures) =>
      rewriteDay(
        rewriter,
        {
          ...work,
          removedGraceMs: rewriter.options.graceMs,
          decide: async (record, drops, hold) => {
            const rowFilter = drops.deletesOf(record);
            if (rowFilter === undefined) return 'leave';
            const { hit, readBytes } = await findCovered(store, record, rowFilter, hold);
            figures.readBytes += readBytes;
            return hit ? 'rewrite' : 'clean';
          },
        },
        figures,
      ),
  };
}
