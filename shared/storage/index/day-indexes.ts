/**
 * Provides the indexes of days to queries: read from the store once, then from a bounded cache. An index is
 * derived data, so a corrupt one is reported and ignored: the footers yield the same results.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import { type Day, type IndexRecord, indexKey } from '../catalog/day-item.ts';
import type { DaySnapshot } from '../catalog/day-snapshot.ts';
import { type DayIndex, readIndexHead } from './day-index.ts';
import { type IndexOfDay, joinIndexes } from './joined-index.ts';
import { storeSource } from './source.ts';
import { indexesOf } from './windows.ts';

/**
 * Maximum size of heads in memory, for the days that dashboards query. A larger head is read again by each
 * query.
 */
const CACHED_HEAD_BYTES = 48 * 1024 * 1024;

interface DayIndexesParts {
  readonly store: ObjectStore;
  /** Reports indexes that are corrupt or missing. */
  readonly onBroken: (error: Error) => void;
}

/** A day with all its records, those of a query, or none. */
type IndexedDay = Pick<Day, 'day' | 'indexes'> & Partial<Pick<DaySnapshot, 'records'>>;

export class DayIndexes {
  readonly #store: ObjectStore;
  readonly #onBroken: (error: Error) => void;
  readonly #heads = new LruCache<string, DayIndex>(CACHED_HEAD_BYTES);
  /** Caches, for metrics. */
  readonly caches = { index_heads: this.#heads };
  /** Reads in flight, as many as queries request at the same time. */
  readonly #loading = new Map<string, Promise<DayIndex | undefined>>();

  constructor({ store, onBroken }: DayIndexesParts) {
    this.#store = store;
    this.#onBroken = onBroken;
  }

  /**
   * Returns the indexes that the catalog names for the day as one. Undefined if there is none that is not corrupt.
   * With records, only indexes of windows in which one of them begins are read.
   */
  async indexOfDay(tenant: string, { day, indexes, records }: IndexedDay): Promise<IndexOfDay | undefined> {
    const needed = records === undefined ? indexes : indexesOf(records, indexes);
    const found = await Promise.all(needed.map(index => this.ofWindow(tenant, day, index)));
    return joinIndexes(found.filter(index => index !== undefined));
  }

  /** Returns one of the indexes of a day, or undefined if it is corrupt. */
  async ofWindow(tenant: string, day: number, index: IndexRecord): Promise<DayIndex | undefined> {
    const key = indexKey(tenant, day, index.id);
    const cached = this.#heads.get(key);
    if (cached !== undefined) return cached;
    let load = this.#loading.get(key);
    if (load === undefined) {
      const source = storeSource(this.#store, key, index.storedBytes);
      load = readIndexHead(source, { tenant, day, headBytes: index.headBytes })
        .then(head => {
          this.#heads.set(key, head, head.weightBytes);
          return head;
        })
        .catch(error => {
          if (!(error instanceof CorruptionError || error instanceof ObjectNotFoundError)) throw error;
          this.#onBroken(error);
          return undefined;
        })
        .finally(() => this.#loading.delete(key));
      this.#loading.set(key, load);
    }
    return load;
  }
}
