/** What delete requests that are picked up cover of one day, taken out of its chunks: in this thread, or in one beside it. */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import {
  type DayRewriterParts,
  type DayToRewrite,
  type RewriteEnd,
  type RewriteFigures,
  rewriteDay,
} from '../compaction/day-rewriter.ts';
import { findCovered } from './find-covered.ts';

/** A tenant's day with its bounds. */
export type DayWithDeletes = Pick<DayToRewrite, 'tenant' | 'day' | 'untilMs' | 'signal'>;

export interface DayDeletionFigures extends RewriteFigures {
  /** Stored bytes that looking asked for; rewriting reads its inputs once more. */
  readBytes: number;
}

export interface DayDeletion {
  /** See rewriteDay. An implementation in another thread also throws where that thread is lost. */
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
            const mask = drops.deletesOf(record);
            if (mask === undefined) return 'leave';
            const { hit, readBytes } = await findCovered(store, record, mask, hold);
            figures.readBytes += readBytes;
            return hit ? 'rewrite' : 'clean';
          },
        },
        figures,
      ),
  };
}
