/**
 * Empties caches that nothing has used for a while, and drops from others what was not used: a cache under a steady load would fill up to
 * its bound with the footers of chunks that were merged away. What went is read again when it is needed.
 */

/** A cache that counts its uses. */
export interface ClearableCache {
  /** Since the beginning, found or not. */
  readonly hits: number;
  readonly misses: number;
  clear(): void;
  /** See LruCache. */
  dropUnused?(): number;
}

interface Watched {
  readonly cache: ClearableCache;
  uses: number;
  /** Checks in a row without a use. */
  quietChecks: number;
}

export class IdleCaches {
  readonly #watched: Watched[] = [];
  readonly #quietChecks: number;
  #checks = 0;

  /** @param quietChecks checks without a use after which a cache is emptied; also a period, within which each of its entries must be used to stay */
  constructor(quietChecks: number) {
    this.#quietChecks = quietChecks;
  }

  add(...caches: readonly ClearableCache[]): void {
    for (const cache of caches) this.#watched.push({ cache, uses: usesOf(cache), quietChecks: 0 });
  }

  /** To be called at intervals. Returns of how many caches it dropped something. */
  check(): number {
    let emptied = 0;
    const isPeriodOver = ++this.#checks % this.#quietChecks === 0;
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
