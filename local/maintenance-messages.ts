/** What the main thread and the maintenance thread tell each other. */
import type { CompactionReport, CompactorOptions, DayWork } from '../shared/compaction/compactor.ts';
import type { RewriteEnd, RewriteFigures } from '../shared/compaction/day-rewriter.ts';
import type { DayDeletionFigures, DayToClean } from '../shared/deletion/delete-of-day.ts';
import type { RemovalLimits } from '../shared/deletion/merge-drops.ts';
import type { Write } from '../shared/ports/table.ts';
import type { DayToExpire } from '../shared/retention/expire-day.ts';
import type { StorageOptions } from './storage.ts';
import type { ThrownError } from './thrown-errors.ts';

/** What the thread is started with. */
export interface MaintenanceThreadData {
  /** It opens stores of its own. */
  readonly storage: StorageOptions;
  /** What it writes into the table is written by the main thread. */
  readonly forwardsWrites: boolean;
  readonly compaction: CompactorOptions;
  /** False: nothing is deleted and nothing expires. */
  readonly removes: boolean;
}

/** One day's work without its signal, which is a message of its own. */
export type DayTask =
  | { readonly kind: 'compact'; readonly work: Omit<DayWork, 'signal'> }
  | { readonly kind: 'delete'; readonly work: Omit<DayToClean, 'signal'> }
  | { readonly kind: 'expire'; readonly work: Omit<DayToExpire, 'signal'> };

export type ToThread =
  | {
      readonly kind: 'run';
      readonly id: number;
      readonly task: DayTask;
      /** Of the tenant, as they are when the work begins: they hold for all of it. */
      readonly limits: RemovalLimits;
    }
  | { readonly kind: 'cancel'; readonly id: number }
  /** The answer to a `write`. */
  | { readonly kind: 'written'; readonly id: number; readonly error: ThrownError | undefined }
  /** Cancels what is under way, closes the stores and ends the thread. */
  | { readonly kind: 'close' };

export type DayResult =
  | { readonly kind: 'compacted'; readonly report: CompactionReport }
  | { readonly kind: 'rewritten'; readonly end: RewriteEnd }
  | { readonly kind: 'failed'; readonly error: ThrownError }
  /** It ended because it was cancelled. */
  | { readonly kind: 'cancelled' };

export type FromThread =
  | DayEnded
  /** Of the table; numbers of writes are their own. */
  | { readonly kind: 'write'; readonly id: number; readonly writes: readonly Write[] };

/** One for each `run`; after a `cancel` too, when nothing is done for it any more. */
export interface DayEnded {
  readonly kind: 'ended';
  readonly id: number;
  readonly result: DayResult;
  /** What rewriting did, also where it failed then. */
  readonly figures?: RewriteFigures | DayDeletionFigures;
}
