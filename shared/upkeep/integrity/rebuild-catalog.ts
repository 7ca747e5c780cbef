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

import type { ObjectStore } from '../../base/ports/object-store.ts';
import { objectsByDay } from '../../storage/catalog/objects-by-day.ts';
import type { StoredObject } from '../../storage/catalog/stored-objects.ts';
import { trustCatalog } from '../compaction/orphan-walk.ts';
import type { DoctorParts } from './check-store.ts';
import { markCatalog } from './lost-catalog.ts';
import { type DayObjects, rebuildDay } from './rebuild-day.ts';
import type { DayOutcome, RebuildOptions, RebuildTotals } from './rebuild-options.ts';

export type { RebuildOptions, RebuildTotals } from './rebuild-options.ts';

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
  const visited = new Set<string>();
  const rebuild = async (work: DayObjects) => {
    visited.add(`${work.tenant}/${work.day}`);
    addOutcome(totals, await rebuildDay(parts, work, options));
    options.progress?.(totals);
  };
  for await (const work of storedDays(parts.store)) await rebuild(work);
  if (options.forgetMissing) {
    for await (const tenant of parts.catalog.tenants()) {
      for (const { day } of await parts.catalog.allDays(tenant)) {
        if (!visited.has(`${tenant}/${day}`)) await rebuild({ tenant, day, objects: [] });
      }
    }
  }
  // What could not be read, was too young or busy has no record yet: then old objects stay protected.
  if (totals.unreadable === 0 && totals.busyDays === 0 && totals.recent === 0) {
    await trustCatalog(parts.catalog, parts.clock.nowMs());
    await markCatalog(parts.catalog, parts.clock.nowMs());
  }
  return totals;
}

/** Chunk objects of a tenant's day together, one level after the other. */
async function* storedDays(store: ObjectStore): AsyncGenerator<DayObjects> {
  let objects: StoredObject[] = [];
  for await (const batch of objectsByDay(store)) {
    for (const object of batch) {
      if (object.kind !== 'chunk') continue;
      const { tenant, day } = objects[0] ?? object;
      if (tenant !== object.tenant || day !== object.day) {
        yield { tenant, day, objects };
        objects = [];
      }
      objects.push(object);
    }
  }
  if (objects.length > 0) yield { tenant: objects[0].tenant, day: objects[0].day, objects };
}

function addOutcome(totals: RebuildTotals, outcome: DayOutcome | 'busy'): void {
  totals.days++;
  if (outcome === 'busy') {
    totals.busyDays++;
    return;
  }
  totals.added += outcome.added;
  totals.kept += outcome.kept;
  totals.merged += outcome.merged;
  totals.recent += outcome.recent;
  totals.unreadable += outcome.unreadable;
  totals.replaced += outcome.replaced;
}
