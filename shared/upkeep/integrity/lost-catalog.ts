/**
 * Checks whether a catalog belongs to the stored objects. A deleted, truncated or new catalog does not know
 * them. The store would start, return nothing for every query, and keep the objects forever. Therefore a new
 * store marks its catalog (`y/store`) and, separately, its location: the folder or the bucket. A catalog
 * without mark and tenants is refused in a marked location, and next to stored chunks.
 *
 * Pitfall: the marks do not detect a catalog that is older than its objects, for example after restoring a
 * backup. The integrity check does.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { listStoredObjects } from '../../storage/catalog/stored-objects.ts';
import { beginOrphanWalk } from '../compaction/orphan-walk.ts';

const STATE = 'store';

/** Mark of a store's location, separate from its catalog. */
export interface StoreMark {
  isSet(): Promise<boolean>;
  set(): Promise<void>;
}

interface CatalogAndObjects {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly mark?: StoreMark | undefined;
}

interface Mark {
  /** Unix ms. */
  readonly begunMs: number;
}

/** The catalog is new or empty, but the store is not. */
export class LostCatalogError extends Error {
  constructor() {
    super(
      'the catalog is new or empty, but the store had another one, and no query would find its entries. Restore it from a ' +
        'backup, or run `logboom doctor --rebuild-catalog --stopped` with the same options, which adds the stored chunks. To ' +
        'abandon the stored data and start over, run `logboom start --begin-anew` once',
    );
    this.name = 'LostCatalogError';
  }
}

/** True if the catalog is new or empty, but the store is not. */
export async function isCatalogLost({ catalog, store, mark }: CatalogAndObjects): Promise<boolean> {
  if (await isKnown(catalog)) return false;
  // Checked again, because another process may have started meanwhile. It marks its catalog first.
  if ((await mark?.isSet()) === true) return !(await isKnown(catalog));
  for await (const { kind } of listStoredObjects(store))
    if (kind === 'chunk') return !(await isKnown(catalog));
  return false;
}

async function isKnown(catalog: Catalog): Promise<boolean> {
  const { value } = await catalog.states.read<Mark | undefined>(STATE, undefined);
  return value !== undefined || (await hasTenants(catalog));
}

/**
 * Sets missing marks. Call it before a process serves. Throws LostCatalogError.
 *
 * @param beginAnew accept the catalog as it is
 */
export async function beginWithCatalog(
  parts: CatalogAndObjects & { readonly clock: Clock },
  beginAnew: boolean,
): Promise<void> {
  const { catalog, clock, mark } = parts;
  if (!beginAnew && (await isCatalogLost(parts))) throw new LostCatalogError();
  // Runs first, so that objects that are already stored never count as orphans.
  await beginOrphanWalk(catalog, clock.nowMs());
  await markCatalog(catalog, clock.nowMs());
  // Set after the mark of the catalog. In reverse order, a crash in between would make a new catalog look
  // lost.
  if ((await mark?.isSet()) === false) await mark?.set();
}

/** Marks the catalog as the one of its store, unless it is marked. */
export async function markCatalog({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<Mark | undefined>(STATE, undefined);
  if (before.value === undefined) await states.replace<Mark | undefined>(STATE, before, { begunMs: nowMs });
}

/** Unix ms when the store started with this catalog; `undefined` without a mark. */
export async function catalogBegunMs({ states }: Catalog): Promise<number | undefined> {
  const { value } = await states.read<Mark | undefined>(STATE, undefined);
  return value?.begunMs;
}

async function hasTenants(catalog: Catalog): Promise<boolean> {
  for await (const _ of catalog.tenants()) return true;
  return false;
}
