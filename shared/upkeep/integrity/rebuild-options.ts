/** What a rebuild may do, and what it did. */
import type { Problem } from './problem.ts';

export interface RebuildOptions {
  /**
   * Also take objects that are so young that a push or a merge may be about to name them: only where nothing else runs
   * on the store.
   */
  readonly includeRecent: boolean;
  /** Also remove records of missing objects that no stored chunk names as its input. */
  readonly forgetMissing: boolean;
  readonly report: (problem: Problem) => void;
  /** Called after each day. */
  readonly progress?: (totals: RebuildTotals) => void;
}

export interface DayOutcome {
  /** Records written. */
  added: number;
  /** Objects with a record already. */
  kept: number;
  /** Objects whose entries others with records hold. */
  merged: number;
  /** Objects that a push or a merge may be about to name. */
  recent: number;
  /** Objects whose end cannot be read, or that lie under a wrong key. */
  unreadable: number;
  /** Records of objects that are gone, removed: merged into another chunk, or forgotten by request. */
  replaced: number;
}

export interface RebuildTotals extends DayOutcome {
  /** Days looked at: those with chunk objects; all, where the missing is forgotten. */
  days: number;
  /** Days left as they were, because another kept working on them. */
  busyDays: number;
}
