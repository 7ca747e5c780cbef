/**
 * Indexes of days as queries ask for them: read from the store once, then from a bounded cache. An index is derived
 * data, so one that cannot be read is reported and done without: the footers give the same answers.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import { type Day, indexKey } from '../catalog/day-item.ts';
import { type DayIndex, readIndexHead } from './day-index.ts';
import { storeSource } from './source.ts';

/** Heads in memory: the days that dashboards look at. A larger one is read anew by each query. */
const CACHED_HEAD_BYTES = 48 * 1024 * 1024;

export interface DayIndexesParts {
  readonly store: ObjectStore;
  /** Told of indexes that are broken or missing. */
  readonly onBroken: (error: Error) => void;
}

export class DayIndexes {
  readonly #store: ObjectStore;
  readonly #onBroken: (error: Error) => void;
  readonly #heads = new LruCache<string, DayIndex>(CACHED_HEAD_BYTES);
  /** For metrics. */
  readonly caches = { index_heads: this.#heads };
  /** Being read, as many as queries ask for at once. */
  readonly #loading = new Map<string, Promise<DayIndex | undefined>>();

  constructor({ store, onBroken }: DayIndexesParts) {
    this.#store = store;
    this.#onBroken = onBroken;
  }

  /** The index that the catalog names for the day; undefined where it names none, or a broken one. */
  async ofDay(tenant: string, { day, index }: Day): Promise<DayIndex | undefined> {
    if (index === undefined) return undefined;
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
