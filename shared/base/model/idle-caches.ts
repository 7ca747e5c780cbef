/**
 * Empties caches that were not used for a while, and drops unused entries from the others. Otherwise a cache
 * under steady load would fill up to its limit with footers of chunks that were merged away. Dropped data is
 * read again on demand.
 */

/** Cache that counts its uses. */
export interface ClearableCache {
  /** Total lookups that found their key. */
  readonly hits: number;
  readonly misses: number;
  clear(): void;
  /** See LruCache. */
  dropUnused?(): number;
}

interface WatchedCache {
  readonly cache: ClearableCache;
  uses: number;
  /** Checks in a row without a use. */
  quietChecks: number;
}

export class IdleCaches {
  readonly #watched: WatchedCache[] = [];
  readonly #quietChecks: number;
  readonly #periodChecks: number;
  #checks = 0;

  /**
   * @param quietChecks Checks without a use after which a cache is emptied
   * @param periodChecks Length of a period, in checks: an entry that is not used within a period is dropped.
   */
  constructor(quietChecks: number, periodChecks: number) {
    this.#quietChecks = quietChecks;
    this.#periodChecks = periodChecks;
  }

  add(...caches: readonly ClearableCache[]): void {
    for (const cache of caches) this.#watched.push({ cache, uses: usesOf(cache), quietChecks: 0 });
  }

  /** Runs one check; the caller calls it at intervals. Returns the number of caches that lost entries. */
  check(): number {
    let emptied = 0;
    const isPeriodOver = ++this.#checks % this.#periodChecks === 0;
    for (const watched of this.#watched) {
      const uses = usesOf(watched.cache);
      watched.quietChecks = uses === watched.uses ? watched.quietChecks + 1 : 0;
      watched.uses = uses;
      if (watched.quietChecks === this.#quietChecks) {
        watched.cache.clear();
        emptied++;
      } else if (isPeriodOver && (watched.cache.dropUnused?.() ?? 0) > 0) emptied++;
    }
    return emptied;
  }
}

function usesOf({ hits, misses }: ClearableCache): number {
  return hits + misses;
}
