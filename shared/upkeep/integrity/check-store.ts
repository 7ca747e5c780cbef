/**
 * Checks the whole store and reports problems: records without objects, objects without records, checksums.
 * It changes nothing, and may run while the store is in use.
 *
 * The objects of a day are listed before its records are read. So an object committed in between has a
 * record, and an object of a running commit is too young to count as an orphan. An object that compaction
 * deletes meanwhile is looked up again before it counts as missing.
 */

import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { MAX_COMMIT_MS, startedMsOf } from '../../storage/catalog/chunk-id.ts';
import { keyOfChunk, nameOfChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { type IndexRecord, indexKey, indexKeysOf } from '../../storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { type ObjectOfDay, objectsByDay } from '../../storage/catalog/objects-by-day.ts';
import { parseObjectKey, type StoredObject } from '../../storage/catalog/stored-objects.ts';
import { checkChunk, MismatchError } from './check-chunk.ts';
import { checkIndex } from './check-index.ts';
import { readFoundChunk } from './found-chunk.ts';
import { catalogBegunMs, isCatalogLost, type StoreMark } from './lost-catalog.ts';
import type { Problem, ProblemKind } from './problem.ts';

/** Younger objects may belong to a running commit, even if clocks differ. */
export const RECENT_MS = 2 * MAX_COMMIT_MS;

export interface DoctorParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly mark?: StoreMark | undefined;
}

interface CheckOptions {
  /** Read every page and verify every checksum. Otherwise only sizes and footers are checked. */
  readonly full: boolean;
  readonly report: (problem: Problem) => void;
  /** Called after each chunk. */
  readonly progress?: (totals: CheckTotals) => void;
}

export interface CheckTotals {
  tenants: number;
  days: number;
  chunks: number;
  /** Number of chunks that are stored in their records. */
  inlineChunks: number;
  rows: number;
  /** Stored bytes of all chunks, inline or not. */
  chunkBytes: number;
  objects: number;
  storedBytes: number;
  orphans: number;
  /** Chunk objects of any age that no record names and that are not on a list of garbage. */
  unrecorded: number;
  /** Number of problems without orphans. */
  problems: number;
}

/** Throws the errors of the stores if they cannot be read at all. */
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
  /** Days that were compared with their records, including days with unreadable records. */
  readonly #compared = new Set<string>();
  /** Tenants with unreadable days. */
  readonly #unread = new Set<string>();
  #storedChunks = 0;
  /** The first chunks without a record. */
  readonly #unrecorded: StoredObject[] = [];

  constructor(parts: DoctorParts, options: CheckOptions) {
    this.#parts = parts;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { catalog } = this.#parts;
    const isRead = await this.#attempt('catalog', async () => {
      for await (const tenant of catalog.tenants()) await this.#checkTenant(tenant);
      return true;
    });
    // An unreadable catalog does not prove that any object is an orphan.
    if (!isRead) return;
    await this.#checkObjects();
    if (await isCatalogLost(this.#parts)) {
      this.#report('lost-records', 'catalog', 'new or empty, but the store had another catalog before');
    } else await this.#checkMostAreRecorded();
  }

  /**
   * Distinguishes a few chunks without records, which are orphans or running pushes, from lost records: most
   * chunks are without.
   */
  async #checkMostAreRecorded(): Promise<void> {
    const { totals } = this;
    const unrecorded = this.#unrecorded;
    const isMost = () => totals.unrecorded * 2 > this.#storedChunks;
    if (isMost() && unrecorded.length === totals.unrecorded) {
      // The record of a new store's object follows within seconds.
      if (unrecorded.some(({ id }) => this.#isYoung(id))) await this.#parts.clock.sleep(COMMIT_PAUSE_MS);
      totals.unrecorded = 0;
      for (const objects of Map.groupBy(unrecorded, ({ tenant, day }) => `${tenant}/${day}`).values()) {
        totals.unrecorded += await this.#countUnknown(objects);
      }
    }
    if (!isMost()) return;
    // Crashes of a store with few chunks may leave as many. Objects older than the catalog do not come from
    // such crashes.
    const begunMs = (await catalogBegunMs(this.#parts.catalog)) ?? 0;
    const isOlder = unrecorded.some(({ id }) => startedMsOf(id) < begunMs);
    if (totals.unrecorded <= MAX_LEFT_BY_CRASHES && !isOlder) return;
    const message = `has no record of ${totals.unrecorded} of ${this.#storedChunks} stored chunks`;
    this.#report('lost-records', 'catalog', message);
  }

  /**
   * Counts objects of one day with entries that no record covers. Leftovers of merges contain no such
   * entries.
   */
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
      if (ids.has(record.id))
        this.#report('mismatch', nameOfChunk(record), 'two records refer to this chunk');
      ids.add(record.id);
      await this.#checkRecord(record, sizes.get(keyOfChunk(record)));
    }
    for (const index of snapshot.indexes) await this.#checkIndexOf(tenant, snapshot, index);
    const named = namedBy(tenant, snapshot);
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
      // The object may be newer than the listing.
      const objectBytes = isInline ? undefined : (listedBytes ?? (await store.head(key))?.size);
      if (!isInline && objectBytes === undefined) throw new ObjectNotFoundError(key);
      await checkChunk(store, record, { objectBytes, full: this.#options.full });
    } catch (error) {
      const kind = kindOf(error);
      const where = isInline ? `record of ${nameOfChunk(record)}` : key;
      if (kind !== 'missing-object') this.#report(kind, where, messageOf(error));
      else if (await this.#isStillNamed(record))
        this.#report(kind, where, 'a record refers to this object, but it does not exist');
    }
    this.#options.progress?.(this.totals);
  }

  async #isStillNamed({ tenant, day, id }: ChunkRecord): Promise<boolean> {
    const snapshot = await this.#parts.catalog.day(tenant, day);
    return snapshot?.records.some(record => record.id === id) ?? false;
  }

  async #checkIndexOf(tenant: string, { day, records }: DaySnapshot, index: IndexRecord): Promise<void> {
    const { catalog, store } = this.#parts;
    try {
      await checkIndex(store, { tenant, day, index, records, full: this.#options.full });
    } catch (error) {
      // A newer index may have replaced it.
      if (kindOf(error) === 'missing-object') {
        const [now] = await catalog.days(tenant, day, day);
        if (now?.indexes.every(({ id }) => id !== index.id) !== false) return;
      }
      this.#report('index', indexKey(tenant, day, index.id), messageOf(error));
    }
  }

  /** Counts all objects. Reports those of days that the catalog does not have, and those with hashed keys. */
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

  /**
   * Compares objects of one day whose keys begin with hashed characters, because no listing of the day shows
   * them.
   */
  async #compareHashed(objects: readonly ObjectOfDay[]): Promise<void> {
    if (objects.length === 0) return;
    const [{ tenant, day }] = objects;
    const where = `records of ${tenant}, day ${day}`;
    const isRead = await this.#attempt(where, async () => ({
      day: await this.#parts.catalog.day(tenant, day),
    }));
    if (isRead === undefined) return;
    const named = namedBy(tenant, isRead.day);
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
        if (this.#unrecorded.length < MAX_RECHECKED) this.#unrecorded.push({ ...object, size: 0 });
      }
      if (this.#isYoung(object.id)) continue;
      this.totals.orphans++;
      this.#options.report({ kind: 'orphan', where: object.key, message: 'no record refers to this object' });
    }
  }

  /** Reports damaged data and returns `undefined`. */
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

/**
 * Wait before a new store is called lost. A commit takes milliseconds. It can take minutes, and then checking
 * again helps.
 */
const COMMIT_PAUSE_MS = 3_000;
/**
 * More objects without a record than with one, and more than this, is not the result of a crash: each group
 * of running pushes leaves one.
 */
const MAX_LEFT_BY_CRASHES = 3;
/** Maximum number of objects that are checked again. */
const MAX_RECHECKED = 10_000;

/** Number of objects that are compared with the lists of garbage at a time. */
const ORPHANS_AT_ONCE = 10_000;

/** Keys of the objects that a day's records refer to. */
function namedBy(tenant: string, snapshot: DaySnapshot | undefined): Set<string> {
  const named = new Set((snapshot?.records ?? []).filter(record => !record.inline).map(keyOfChunk));
  for (const key of snapshot === undefined ? [] : indexKeysOf(tenant, snapshot)) named.add(key);
  return named;
}

/** Lists without paging, because a day has at most thousands of objects: pushes before their compaction. */
async function listSizes(store: ObjectStore, prefix: string, into: Map<string, number>): Promise<void> {
  let after: string | undefined;
  do {
    const page = await store.list(prefix, { after });
    for (const { key, size } of page.objects) into.set(key, size);
    after = page.next;
  } while (after !== undefined);
}

/** Rethrows errors that are not about the data. */
function kindOf(error: unknown): ProblemKind {
  if (error instanceof ObjectNotFoundError) return 'missing-object';
  if (error instanceof MismatchError) return 'mismatch';
  if (error instanceof CorruptionError || error instanceof RangeError) return 'corrupt';
  throw error;
}
