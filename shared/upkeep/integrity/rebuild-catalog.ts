/**
 * Rebuilds records from the objects, for a catalog that was lost, damaged, or restored from an older backup.
 * Data that is only in the table does not come back: small pushes (inline chunks), delete requests and rules.
 * Back up the table for these.
 *
 * A rebuild adds a chunk in case of doubt. If a chunk names others as its inputs, this does not prove that it
 * contains all their entries: a crashed merge may have written some of its outputs and published none, and an
 * input without an object may have been inline. So both inputs and outputs are added. Equal entries count
 * once, and compaction merges them.
 *
 * Only chunks that cannot add anything are omitted: those on the lists of garbage (a swap removed them, and
 * their replacements have records), and those whose inputs all have records.
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

/**
 * Adds missing records. Throws the errors of the stores. Records added before stay, and you may run it again.
 */
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
  // Otherwise unreadable, young or busy objects have no record yet, and old objects must stay protected.
  if (totals.unreadable === 0 && totals.busyDays === 0 && totals.recent === 0) {
    await trustCatalog(parts.catalog, parts.clock.nowMs());
    await markCatalog(parts.catalog, parts.clock.nowMs());
  }
  return totals;
}

/** Yields the chunk objects of each day of a tenant, one level after the other. */
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
