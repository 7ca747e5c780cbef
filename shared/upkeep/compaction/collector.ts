/**
 * Deletes unreferenced objects: those of merged chunks, after the queries that started before have ended, and
 * orphans. No record ever named an orphan, because a push or a merge ended before its commit.
 *
 * Age identifies an orphan. Every commit happens within minutes of the start of writing (MAX_COMMIT_MS, the
 * end of a lease), and a name is never used twice. Records are read before the garbage lists, and an object
 * that a swap moves from one to the other must be found in at least one of them. A table may show that
 * transaction in parts, with the records deleted and the list missing. So the leases of the day are acquired
 * once between the two reads. A swap releases its lease only after its response.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import { keyOfChunk } from '../../storage/catalog/chunk-object.ts';
import { indexKeysOf } from '../../storage/catalog/day-item.ts';
import type { GarbageList } from '../../storage/catalog/garbage.ts';
import { dayLease, indexLease } from '../../storage/catalog/leases.ts';
import { objectsByDay } from '../../storage/catalog/objects-by-day.ts';
import type { StoredObject } from '../../storage/catalog/stored-objects.ts';

/** Far above every time from writing to commit, clock differences included. */
export const ORPHAN_AGE_MS = MS_PER_DAY;
/** Maximum number of lists of each partition that one run deletes. */
const LISTS_AT_ONCE = 100;
const DELETES_AT_ONCE = 8;
/**
 * Orphans are rare: a crash leaves one or two, and they are collected once a day. If most objects of a batch
 * of the listing have no record, the catalog has lost records, for example because it was restored from an
 * old backup. Then nothing of the batch is deleted.
 */
const MAX_UNCOMMON_ORPHANS = 100;
/** The lease is released at once. If that fails, nothing can change the day for this long. */
const LEASE_MS = 10_000;

export interface CollectorParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
}

export interface CollectionBounds {
  /** No work starts after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Deletes the objects whose grace period has ended. Returns how many, and whether these were all. */
export async function collectGarbage(
  parts: CollectorParts,
  bounds: CollectionBounds,
): Promise<{ readonly deleted: number; readonly done: boolean }> {
  const { catalog, clock } = parts;
  let deleted = 0;
  for (;;) {
    const lists = await catalog.garbage.due(clock.nowMs(), LISTS_AT_ONCE);
    if (lists.length === 0) return { deleted, done: true };
    const part = await deleteLists(parts, lists, bounds);
    deleted += part.deleted;
    if (!part.done) return { deleted, done: false };
  }
}

/** Deletes the objects of the lists, then the lists. */
export async function deleteLists(
  { catalog, store, clock }: CollectorParts,
  lists: readonly GarbageList[],
  { untilMs, signal }: CollectionBounds,
): Promise<{ readonly deleted: number; readonly done: boolean }> {
  let deleted = 0;
  for (const list of lists) {
    if (clock.nowMs() >= untilMs) return { deleted, done: false };
    signal.throwIfAborted();
    await deleteAll(store, list.keys);
    deleted += list.keys.length;
    await catalog.garbage.remove(list);
  }
  return { deleted, done: true };
}

export interface OrphanReport {
  readonly deleted: readonly string[];
  readonly looked: number;
  /** Days whose records could not be read. None of their objects are deleted. */
  readonly unreadable: readonly string[];
  /** Number of objects without a record that are kept because they are too many to be orphans. */
  readonly doubtful: number;
  /** Key (objects-by-day.ts) after which to continue, or undefined at the end of the store. */
  readonly next: string | undefined;
}

interface OrphanParts extends CollectorParts {
  /**
   * Unix ms. Objects whose writing began before are kept, because the catalog is newer and cannot know them.
   * Default 0.
   */
  readonly sinceMs?: number;
}

/** Looks for orphans after the key `after`, one batch of the listing at a time. */
export async function collectOrphans(
  parts: OrphanParts,
  after: string | undefined,
  { untilMs, signal }: CollectionBounds,
): Promise<OrphanReport> {
  const { store, clock } = parts;
  const deleted: string[] = [];
  const unreadable: string[] = [];
  let looked = 0;
  let doubtful = 0;
  for await (const batch of objectsByDay(store, after)) {
    signal.throwIfAborted();
    looked += batch.length;
    const { orphans, named } = await orphansOf(parts, batch, unreadable);
    if (orphans.length > MAX_UNCOMMON_ORPHANS && orphans.length > named) doubtful += orphans.length;
    else {
      await deleteAll(store, orphans);
      deleted.push(...orphans);
    }
    if (clock.nowMs() >= untilMs)
      return { deleted, looked, unreadable, doubtful, next: batch.at(-1)?.position };
  }
  return { deleted, looked, unreadable, doubtful, next: undefined };
}

async function orphansOf(
  { catalog, store, clock, sinceMs = 0 }: OrphanParts,
  objects: readonly StoredObject[],
  unreadable: string[],
): Promise<{ readonly orphans: readonly string[]; readonly named: number }> {
  const old = objects.filter(({ id }) => isOrphanAge(startedMsOf(id), clock.nowMs(), sinceMs));
  const byDay = Map.groupBy(old, ({ tenant, day }) => `${tenant}/${day}`);
  const suspects: string[] = [];
  let namedCount = 0;
  for (const [name, objectsOfDay] of byDay) {
    const { tenant, day } = objectsOfDay[0];
    try {
      const named = await namedBy(catalog, tenant, day);
      const unnamed = objectsOfDay.map(({ key }) => key).filter(key => !named.has(key));
      namedCount += objectsOfDay.length - unnamed.length;
      // If another process holds the day, the next walk checks it again.
      if (unnamed.length > 0 && (await isBetweenSwaps({ catalog, store }, tenant, day)))
        suspects.push(...unnamed);
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      unreadable.push(name);
    }
  }
  const garbage = suspects.length === 0 ? new Set<string>() : await catalog.garbage.all();
  return { orphans: suspects.filter(key => !garbage.has(key)), named: namedCount };
}

function isOrphanAge(startedMs: number, nowMs: number, sinceMs: number): boolean {
  return startedMs >= sinceMs && nowMs - startedMs > ORPHAN_AGE_MS;
}

/** Returns true if every swap that has begun is over, so that its garbage list can be read. */
async function isBetweenSwaps(
  { catalog: { leases }, store }: Pick<CollectorParts, 'catalog' | 'store'>,
  tenant: string,
  day: number,
): Promise<boolean> {
  const names = store.isDistant === true ? [dayLease, indexLease] : [dayLease];
  for (const name of names) {
    const lease = await leases.take(name(tenant, day), LEASE_MS);
    if (lease === undefined) return false;
    await leases.release(lease).catch(() => undefined);
  }
  return true;
}

/** Returns the keys of all objects that the records of a day name. */
async function namedBy(catalog: Catalog, tenant: string, day: number): Promise<Set<string>> {
  const snapshot = await catalog.day(tenant, day);
  const named = new Set<string>();
  for (const record of snapshot?.records ?? [])
    if (record.inline === undefined) named.add(keyOfChunk(record));
  for (const key of snapshot === undefined ? [] : indexKeysOf(tenant, snapshot)) named.add(key);
  return named;
}

async function deleteAll(store: ObjectStore, keys: readonly string[]): Promise<void> {
  for (let i = 0; i < keys.length; i += DELETES_AT_ONCE) {
    await Promise.all(keys.slice(i, i + DELETES_AT_ONCE).map(key => store.delete(key)));
  }
}
