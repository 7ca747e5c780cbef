/**
 * Whether a catalog belongs to the objects beside it. A catalog that was deleted, truncated or created anew knows nothing of them: the
 * store would start, answer every query with nothing, and keep the objects for ever. So when a store begins, it marks its catalog
 * (`y/store`) and, apart from it, its place: the folder or the bucket. A catalog without mark and tenants in a marked place, or beside
 * chunks, is refused.
 *
 * Pitfall: the marks cannot tell that a catalog is older than its objects, as after the restore of a backup. The doctor can.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { listStoredObjects } from '../../storage/catalog/stored-objects.ts';
import { beginOrphanWalk } from '../compaction/orphan-walk.ts';

const STATE = 'store';

/** The mark of a store's place, apart from its catalog. */
export interface PlaceMark {
  isSet(): Promise<boolean>;
  set(): Promise<void>;
}

export interface CatalogAndObjects {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly mark?: PlaceMark | undefined;
}

interface Mark {
  /** Unix ms. */
  readonly begunMs: number;
}

/** The catalog is new or empty, and the store is not. */
export class LostCatalogError extends Error {
  constructor() {
    super(
      'the catalog is new or empty, but the store has had another one: what that knew, no query would find. Restore it from a ' +
        'backup, or run `logboom doctor --rebuild-catalog --stopped` with the same options, which takes in stored chunks. To give ' +
        'up what is stored and begin anew, run `logboom start --begin-anew` once',
    );
    this.name = 'LostCatalogError';
  }
}

/** True if the catalog is new or empty, and the store is not. */
export async function isCatalogLost({ catalog, store, mark }: CatalogAndObjects): Promise<boolean> {
  if (await isKnown(catalog)) return false;
  // Another process may have begun meanwhile: it marks its catalog before anything else, so that is looked at again.
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
 * To be called before a process serves. Marks what has no mark yet.
 * @param beginAnew take the catalog as it is
 * Throws LostCatalogError.
 */
export async function beginWithCatalog(
  parts: CatalogAndObjects & { readonly clock: Clock },
  beginAnew: boolean,
): Promise<void> {
  const { catalog, clock, mark } = parts;
  if (!beginAnew && (await isCatalogLost(parts))) throw new LostCatalogError();
  // First of all, so that nothing that is stored already is ever taken for an orphan.
  await beginOrphanWalk(catalog, clock.nowMs());
  await markCatalog(catalog, clock.nowMs());
  // After that of the catalog: the other way round, a crash in between would make a lost catalog of a new one.
  if ((await mark?.isSet()) === false) await mark?.set();
}

/** Takes the catalog as that of its store from now on, unless it is so already. */
export async function markCatalog({ states }: Catalog, nowMs: number): Promise<void> {
  const before = await states.read<Mark | undefined>(STATE, undefined);
  if (before.value === undefined) await states.replace<Mark | undefined>(STATE, before, { begunMs: nowMs });
}

/** When the store began with this catalog, Unix ms; undefined if nothing has noted it. */
export async function catalogBegunMs({ states }: Catalog): Promise<number | undefined> {
  const { value } = await states.read<Mark | undefined>(STATE, undefined);
  return value?.begunMs;
}

async function hasTenants(catalog: Catalog): Promise<boolean> {
  for await (const _ of catalog.tenants()) return true;
  return false;
}
