/** Empties caches that nothing has used for a while. What they held is read again when it is needed. */

/** A cache that counts its uses. */
export interface ClearableCache {
  /** Since the beginning, found or not. */
  readonly hits: number;
  readonly misses: number;
  clear(): void;
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

  /** @param quietChecks checks without a use after which a cache is emptied */
  constructor(quietChecks: number) {
    this.#quietChecks = quietChecks;
  }

  add(...caches: readonly ClearableCache[]): void {
    for (const cache of caches) this.#watched.push({ cache, uses: usesOf(cache), quietChecks: 0 });
  }

  /** To be called at intervals. Returns how many caches it emptied. */
  check(): number {
    let emptied = 0;
    for (const watched of this.#watched) {
      const uses = usesOf(watched.cache);
      watched.quietChecks = uses === watched.uses ? watched.quietChecks + 1 : 0;
      watched.uses = uses;
      if (watched.quietChecks !== this.#quietChecks) continue;
      watched.cache.clear();
      emptied++;
    }
    return emptied;
  }
}

function usesOf({ hits, misses }: ClearableCache): number {
  return hits + misses;
}
