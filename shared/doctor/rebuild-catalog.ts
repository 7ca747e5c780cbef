/**
 * Records made anew from the objects, for a catalog that was lost, damaged, or restored from an older backup. What lay in
 * the table alone does not come back: small pushes (inline chunks), delete requests, rules; for these the table is
 * backed up.
 *
 * It would rather take a chunk too many than one too few. That a chunk names others as its inputs does not prove that it
 * holds all they held: a merge that died may have written some of its outputs and published none, an input without an
 * object may have been inline. So inputs and outputs are both taken; equal entries count once, and compaction packs them.
 *
 * Left out are only chunks that cannot add anything: those on the lists of garbage (a swap took them out, and what took
 * their place has records), and those all of whose inputs have records already.
 */
import { type DayOutcome, rebuildDay } from './rebuild-day.ts';
import { listStoredObjects, type StoredObject } from '../catalog/stored-objects.ts';
import type { DoctorParts } from './check-store.ts';
import type { Problem } from './problem.ts';

export interface RebuildOptions {
  /**
   * Also take objects that are so young that a push or a merge may be about to name them: only where nothing else runs
   * on the store.
   */
  readonly includeRecent: boolean;
  readonly report: (problem: Problem) => void;
  /** Called after each day. */
  readonly progress?: (totals: RebuildTotals) => void;
}

export interface RebuildTotals extends DayOutcome {
  /** Days with chunk objects. */
  days: number;
  /** Days left as they were, because another kept working on them. */
  busyDays: number;
}

/** Adds what the catalog lacks. Throws what the stores throw; what was added before stays, and it may be run again. */
export async function rebuildCatalog(parts: DoctorParts, options: RebuildOptions): Promise<RebuildTotals> {
  const totals: RebuildTotals = {
    days: 0,
    busyDays: 0,
    added: 0,
    kept: 0,
    merged: 0,
    recent: 0,
    unreadable: 0,
    replaced: 0,
  };
  // Objects are listed by key, so those of a tenant's day and level come together; the folders of levels follow.
  let ofDay: StoredObject[] = [];
  const finishDay = async () => {
    if (ofDay.length === 0) return;
    const outcome = await rebuildDay(parts, ofDay, options);
    totals.days++;
    if (outcome === 'busy') totals.busyDays++;
    else {
      totals.added += outcome.added;
      totals.kept += outcome.kept;
      totals.merged += outcome.merged;
      totals.recent += outcome.recent;
      totals.unreadable += outcome.unreadable;
      totals.replaced += outcome.replaced;
    }
    ofDay = [];
    options.progress?.(totals);
  };
  for await (const object of listStoredObjects(parts.store)) {
    if (object.kind !== 'chunk') continue;
    const [first] = ofDay;
    if (first !== undefined && (first.tenant !== object.tenant || first.day !== object.day)) await finishDay();
    ofDay.push(object);
  }
  await finishDay();
  return totals;
}
