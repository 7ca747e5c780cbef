/**
 * Looks at the whole store and tells what is wrong with it: records without objects, objects without records, checksums.
 * It changes nothing, and may run beside a store in use.
 *
 * Of each day the objects are listed before the records are read: what is committed in between has a record, and what a
 * commit is about to name is too young to be called an orphan. What compaction takes away meanwhile is looked up again
 * before it is called missing.
 */

import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { MAX_COMMIT_MS, startedMsOf } from '../../storage/catalog/chunk-id.ts';
import { keyOfChunk, nameOfChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { indexKey } from '../../storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { type ObjectOfDay, objectsByDay } from '../../storage/catalog/objects-by-day.ts';
import { parseObjectKey, type StoredObject } from '../../storage/catalog/stored-objects.ts';
import { checkChunk, MismatchError } from './check-chunk.ts';
import { checkIndex } from './check-index.ts';
import { readFoundChunk } from './found-chunk.ts';
import { catalogBegunMs, isCatalogLost, type PlaceMark } from './lost-catalog.ts';
import type { Problem, ProblemKind } from './problem.ts';

/** Younger objects may belong to a commit under way, with clocks that differ. */
export const RECENT_MS = 2 * MAX_COMMIT_MS;

export interface DoctorParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly mark?: PlaceMark | undefined;
}

export interface CheckOptions {
  /** Read every page and verify every checksum; otherwise sizes and footers alone. */
  readonly full: boolean;
  readonly report: (problem: Problem) => void;
  /** Called after each chunk. */
  readonly progress?: (totals: CheckTotals) => void;
}

export interface CheckTotals {
  tenants: number;
  days: number;
  chunks: number;
  /** Of the chunks, those that lie in their records. */
  inlineChunks: number;
  rows: number;
  /** Of the chunks, inline or not. */
  chunkBytes: number;
  objects: number;
  storedBytes: number;
  orphans: number;
  /** Chunk objects that no record names and that do not wait to be deleted, however young they are. */
  unrecorded: number;
  /** Without orphans. */
  problems: number;
}

/** Throws what the stores throw where they cannot be asked at all. */
export async function checkStore(parts: DoctorParts, options: CheckOptions): Promise<CheckTotals> {
  const check = new StoreCheck(parts, options);
  await check.run();
  return check.totals;
}

class StoreCheck {
  readonly totals: CheckTotals = {
    tenants: 0,
    days: 0,
    chunks: 0,
    inlineChunks: 0,
    rows: 0,
    chunkBytes: 0,
    objects: 0,
    storedBytes: 0,
    orphans: 0,
    unrecorded: 0,
    problems: 0,
  };
  readonly #parts: DoctorParts;
  readonly #options: CheckOptions;
  /** Days whose objects were compared with records, and those whose records cannot be read. */
  readonly #compared = new Set<string>();
  /** Tenants whose days cannot be read. */
  readonly #unread = new Set<string>();
  #storedChunks = 0;
  /** Chunks without a record: the first of them. */
  readonly #unrecorded: StoredObject[] = [];

  constructor(parts: DoctorParts, options: CheckOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { catalog } = this.#parts;
    const isRead = await this.#attempt('the catalog', async () => {
      for await (const tenant of catalog.tenants()) await this.#checkTenant(tenant);
      return true;
    });
    // A catalog that cannot be read through proves of no object that nothing names it.
    if (!isRead) return;
    await this.#checkObjects();
    if (await isCatalogLost(this.#parts)) {
      this.#report('lost-records', 'the catalog', 'it is new or empty, and the store has had another one');
    } else await this.#checkMostAreRecorded();
  }

  /** Few chunks without records are orphans, or pushes under way. Most of them mean that records are lost. */
  async #checkMostAreRecorded(): Promise<void> {
    const { totals } = this;
    const unrecorded = this.#unrecorded;
    const isMost = () => totals.unrecorded * 2 > this.#storedChunks;
    if (isMost() && unrecorded.length === totals.unrecorded) {
      // A store that has just begun: the record follows its object within moments.
      if (unrecorded.some(({ id }) => this.#isYoung(id))) await this.#parts.clock.sleep(COMMIT_PAUSE_MS);
      totals.unrecorded = 0;
      for (const objects of Map.groupBy(unrecorded, ({ tenant, day }) => `${tenant}/${day}`).values()) {
        totals.unrecorded += await this.#countUnknown(objects);
      }
    }
    if (!isMost()) return;
    // Crashes of a store with few chunks may leave as many; those from before the catalog began are none of theirs.
    const begunMs = (await catalogBegunMs(this.#parts.catalog)) ?? 0;
    const isOlder = unrecorded.some(({ id }) => startedMsOf(id) < begunMs);
    if (totals.unrecorded <= MAX_LEFT_BY_CRASHES && !isOlder) return;
    const message = `it has no record of ${totals.unrecorded} of ${this.#storedChunks} stored chunks`;
    this.#report('lost-records', 'the catalog', message);
  }

  /** Of objects of one day: those that hold entries of which no record knows. What merges left behind holds none. */
  async #countUnknown(objects: readonly StoredObject[]): Promise<number> {
    const [{ tenant, day }] = objects;
    const records = (await this.#parts.catalog.day(tenant, day))?.records ?? [];
    const known = new Set(records.map(({ id }) => id));
    let unknown = 0;
    for (const object of objects) {
      if (known.has(object.id)) continue;
      const found = await readFoundChunk(this.#parts.store, object).catch(() => undefined);
      const inputs = found?.footer.inputs ?? [];
      if (inputs.length === 0 || inputs.some(id => !known.has(id))) unknown++;
    }
    return unknown;
  }

  async #checkTenant(tenant: string): Promise<void> {
    this.totals.tenants++;
    const days = await this.#attempt(`days of ${tenant}`, () => this.#parts.catalog.allDays(tenant));
    if (days === undefined) this.#unread.add(tenant);
    for (const { day } of days ?? []) await this.#checkDay(tenant, day);
  }

  async #checkDay(tenant: string, day: number): Promise<void> {
    const { catalog, store } = this.#parts;
    this.totals.days++;
    this.#compared.add(`${tenant}/${day}`);
    const sizes = new Map<string, number>();
    for (const folder of ['chunks', 'index']) await listSizes(store, `${tenant}/${folder}/${day}/`, sizes);
    const where = `records of ${tenant}, day ${day}`;
    const snapshot = await this.#attempt(where, () => catalog.day(tenant, day));
    if (snapshot === undefined) return;
    const ids = new Set<string>();
    for (const record of snapshot.records) {
      if (ids.has(record.id)) this.#report('mismatch', nameOfChunk(record), 'two records name this chunk');
      ids.add(record.id);
      await this.#checkRecord(record, sizes.get(keyOfChunk(record)));
    }
    await this.#checkIndexOf(tenant, snapshot);
    const named = namedBy(tenant, day, snapshot);
    await this.#reportOrphans([...sizes.keys()].filter(key => !named.has(key)));
  }

  async #checkRecord(record: ChunkRecord, listedBytes: number | undefined): Promise<void> {
    const { store } = this.#parts;
    const key = keyOfChunk(record);
    const isInline = record.inline !== undefined;
    this.totals.chunks++;
    this.totals.rows += record.rows;
    this.totals.chunkBytes += record.storedBytes;
    if (isInline) this.totals.inlineChunks++;
    try {
      // Written after the listing, perhaps.
      const objectBytes = isInline ? undefined : (listedBytes ?? (await store.head(key))?.size);
      if (!isInline && objectBytes === undefined) throw new ObjectNotFoundError(key);
      await checkChunk(store, record, { objectBytes, full: this.#options.full });
    } catch (error) {
      const kind = kindOf(error);
      const where = isInline ? `record of ${nameOfChunk(record)}` : key;
      if (kind !== 'missing-object') this.#report(kind, where, messageOf(error));
      else if (await this.#isStillNamed(record))
        this.#report(kind, where, 'a record names it, and it is not there');
    }
    this.#options.progress?.(this.totals);
  }

  async #isStillNamed({ tenant, day, id }: ChunkRecord): Promise<boolean> {
    const snapshot = await this.#parts.catalog.day(tenant, day);
    return snapshot?.records.some(record => record.id === id) ?? false;
  }

  async #checkIndexOf(tenant: string, { day, index, records }: DaySnapshot): Promise<void> {
    if (index === undefined) return;
    const { catalog, store } = this.#parts;
    try {
      await checkIndex(store, { tenant, day, index, records, full: this.#options.full });
    } catch (error) {
      // A new one may have taken its place.
      if (kindOf(error) === 'missing-object') {
        const [now] = await catalog.days(tenant, day, day);
        if (now?.index?.id !== index.id) return;
      }
      this.#report('index', indexKey(tenant, day, index.id), messageOf(error));
    }
  }

  /** Counts all objects; reports those of days that the catalog does not have, and those with hashed keys. */
  async #checkObjects(): Promise<void> {
    let unknown: string[] = [];
    let hashed: ObjectOfDay[] = [];
    for await (const batch of objectsByDay(this.#parts.store)) {
      for (const object of batch) {
        const { kind, tenant, day, key, size } = object;
        this.totals.objects++;
        if (kind === 'chunk') this.#storedChunks++;
        this.totals.storedBytes += size;
        if (this.#unread.has(tenant)) continue;
        if (!this.#compared.has(`${tenant}/${day}`)) unknown.push(key);
        else if (object.hasHashedKey === true) {
          const [first = object] = hashed;
          if (first.tenant !== tenant || first.day !== day) {
            await this.#compareHashed(hashed);
            hashed = [];
          }
          hashed.push(object);
        }
        if (unknown.length < ORPHANS_AT_ONCE) continue;
        await this.#reportOrphans(unknown);
        unknown = [];
      }
    }
    await this.#reportOrphans(unknown);
    await this.#compareHashed(hashed);
  }

  /** Objects of one day whose keys begin with hashed characters: no listing of the day shows them. */
  async #compareHashed(objects: readonly ObjectOfDay[]): Promise<void> {
    if (objects.length === 0) return;
    const [{ tenant, day }] = objects;
    const where = `records of ${tenant}, day ${day}`;
    const isRead = await this.#attempt(where, async () => ({
      day: await this.#parts.catalog.day(tenant, day),
    }));
    if (isRead === undefined) return;
    const named = namedBy(tenant, day, isRead.day);
    await this.#reportOrphans(objects.map(({ key }) => key).filter(key => !named.has(key)));
  }

  async #reportOrphans(keys: readonly string[]): Promise<void> {
    const unnamed = keys.map(parseObjectKey).filter(object => object !== undefined);
    if (unnamed.length === 0) return;
    const { catalog } = this.#parts;
    const waiting = await this.#attempt('lists of objects to delete', () => catalog.garbage.all());
    if (waiting === undefined) return;
    for (const object of unnamed) {
      if (waiting.has(object.key)) continue;
      if (object.kind === 'chunk') {
        this.totals.unrecorded++;
        if (this.#unrecorded.length < MAX_LOOKED_AT_AGAIN) this.#unrecorded.push({ ...object, size: 0 });
      }
      if (this.#isYoung(object.id)) continue;
      this.totals.orphans++;
      this.#options.report({ kind: 'orphan', where: object.key, message: 'no record names this object' });
    }
  }

  /** Undefined where what is read is damaged, which is reported. */
  async #attempt<T>(where: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      // A list of keys is JSON.
      const kind = error instanceof SyntaxError ? 'corrupt' : kindOf(error);
      this.#report(kind, where, messageOf(error));
      return undefined;
    }
  }

  #isYoung(id: string): boolean {
    return this.#parts.clock.nowMs() - startedMsOf(id) < RECENT_MS;
  }

  #report(kind: ProblemKind, where: string, message: string): void {
    this.totals.problems++;
    this.#options.report({ kind, where, message });
  }
}

/** A commit takes milliseconds; it may take minutes, and then a store that has just begun is called lost. Look again then. */
const COMMIT_PAUSE_MS = 3_000;
/** More of them than have a record is not what a crash leaves: each group of pushes under way leaves one. */
const MAX_LEFT_BY_CRASHES = 3;
/** Looked at again then. */
const MAX_LOOKED_AT_AGAIN = 10_000;

/** Looked up among the objects that wait to be deleted, together. */
const ORPHANS_AT_ONCE = 10_000;

/** Keys of the objects that a day's records name. */
function namedBy(tenant: string, day: number, snapshot: DaySnapshot | undefined): Set<string> {
  const named = new Set((snapshot?.records ?? []).filter(record => !record.inline).map(keyOfChunk));
  if (snapshot?.index !== undefined) named.add(indexKey(tenant, day, snapshot.index.id));
  return named;
}

/** A day has thousands of objects at most: pushes of a day before they are packed. */
async function listSizes(store: ObjectStore, prefix: string, into: Map<string, number>): Promise<void> {
  let after: string | undefined;
  do {
    const page = await store.list(prefix, { after });
    for (const { key, size } of page.objects) into.set(key, size);
    after = page.next;
  } while (after !== undefined);
}

/** Throws the error again where it tells nothing of the data. */
function kindOf(error: unknown): ProblemKind {
  if (error instanceof ObjectNotFoundError) return 'missing-object';
  if (error instanceof MismatchError) return 'mismatch';
  if (error instanceof CorruptionError || error instanceof RangeError) return 'corrupt';
  throw error;
}
