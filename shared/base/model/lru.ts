interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  /** Period of the last use. */
  period: number;
}

/** Map with a maximum weight. It evicts the least recently used entry. */
export class LruCache<K, V> {
  /** Entries in ascending order of last use. */
  readonly #entries = new Map<K, Entry<V>>();
  #period = 0;
  #weight = 0;
  readonly #maxWeight: number;
  #found = 0;
  #missed = 0;

  /**
   * @param maxWeight Maximum sum of the weights of all entries; an entry weighs 1 unless `set` specifies a
   * weight
   */
  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Sum of the weights of all entries. */
  get heldWeight(): number {
    return this.#weight;
  }

  /** Total `get` calls that found their key. */
  get hits(): number {
    return this.#found;
  }

  get misses(): number {
    return this.#missed;
  }

  /** Yields the entries, least recently used first. This does not count as a use. */
  *all(): Iterable<readonly [K, V]> {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) {
      this.#missed++;
      return undefined;
    }
    this.#found++;
    entry.period = this.#period;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** Adds or replaces an entry. An entry that weighs more than the maximum is not stored. */
  set(key: K, value: V, weight = 1): void {
    this.delete(key);
    if (weight > this.#maxWeight) return;
    this.#entries.set(key, { value, weight, period: this.#period });
    this.#weight += weight;
    for (const [oldest, entry] of this.#entries) {
      if (this.#weight <= this.#maxWeight) break;
      this.#entries.delete(oldest);
      this.#weight -= entry.weight;
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
  }

  /**
   * Drops the entries that were not used in the current period, and begins a new period. Returns the number
   * of dropped entries.
   */
  dropUnused(): number {
    let dropped = 0;
    for (const [key, { period }] of this.#entries) {
      if (period === this.#period) break;
      this.delete(key);
      dropped++;
    }
    this.#period++;
    return dropped;
  }

  clear(): void {
    this.#entries.clear();
    this.#weight = 0;
  }
}
