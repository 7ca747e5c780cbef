/**
 * Tracks the active streams of one tenant: those that received an entry in this hour or the one before, by
 * arrival time and not by timestamp. Hours are counted since 1970, and streams are hashes.
 */
export class ActiveStreams {
  /** Most recent hour in which each stream was seen. */
  readonly #hourOf = new Map<number, number>();
  #hour = -Infinity;

  get size(): number {
    return this.#hourOf.size;
  }

  /** Advances to an hour and removes the streams that are no longer active. */
  startHour(hour: number): void {
    if (hour <= this.#hour) return;
    this.#hour = hour;
    for (const [hash, seen] of this.#hourOf) if (seen < hour - 1) this.#hourOf.delete(hash);
  }

  has(hash: number): boolean {
    return this.#hourOf.has(hash);
  }

  /** Whether the stream was already seen in this hour. */
  isOfThisHour(hash: number): boolean {
    return this.#hourOf.get(hash) === this.#hour;
  }

  /** Adds a stream seen in an hour: this one or the one before. */
  add(hash: number, hour: number): void {
    if (hour < this.#hour - 1) return;
    const seen = this.#hourOf.get(hash);
    if (seen === undefined || seen < hour) this.#hourOf.set(hash, Math.min(hour, this.#hour));
  }
}
