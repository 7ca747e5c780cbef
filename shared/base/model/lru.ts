interface Entry<V> {
  readonly value: V;
  readonly weight: number;
  /** Period of its last use. */
  period: number;
}

/** A map with a bound: the entry that was used longest ago makes room. */
export class LruCache<K, V> {
  /** Ascending by last use. */
  readonly #entries = new Map<K, Entry<V>>();
  #period = 0;
  #weight = 0;
  readonly #maxWeight: number;
  #found = 0;
  #missed = 0;

  /** @param maxWeight sum of the weights of what is kept; entries weigh 1 unless `set` says otherwise */
  constructor(maxWeight: number) {
    this.#maxWeight = maxWeight;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Sum of the weights of what is kept. */
  get heldWeight(): number {
    return this.#weight;
  }

  /** Of `get`, since the beginning. */
  get hits(): number {
    return this.#found;
  }

  get misses(): number {
    return this.#missed;
  }

  /** Those used longest ago first; looking at them is no use. */
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

  /** What weighs more than the whole cache is not kept. */
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

  /** Begins a new period, and drops what was not used in the one before. Returns how many entries went. */
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
