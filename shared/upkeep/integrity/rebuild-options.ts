/** Options and totals of a rebuild. */
import type { Problem } from './problem.ts';

export interface RebuildOptions {
  /**
   * Also add young objects that a push or a merge may still commit. Only if nothing else runs on the store.
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
  /** Objects that already had a record. */
  kept: number;
  /** Objects whose entries are in other objects with records. */
  merged: number;
  /** Objects that a push or a merge may still commit. */
  recent: number;
  /** Objects with an unreadable end or a wrong key. */
  unreadable: number;
  /** Removed records of missing objects: merged into another chunk, or forgotten by option. */
  replaced: number;
}

export interface RebuildTotals extends DayOutcome {
  /** Checked days: those with chunk objects, or all with the option forgetMissing. */
  days: number;
  /** Days left unchanged, because another process kept working on them. */
  busyDays: number;
}
