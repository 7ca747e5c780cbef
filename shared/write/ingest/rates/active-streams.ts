/**
 * Streams of one tenant that are active: those that got an entry in this hour or in the one before, by the time of
 * arrival and not by their timestamps. Hours are counted since 1970, streams are hashes.
 */
export class ActiveStreams {
  /** The newest hour in which each stream was seen. */
  readonly #hourOf = new Map<number, number>();
  #hour = -Infinity;

  get size(): number {
    return this.#hourOf.size;
  }

  /** Moves on to an hour and drops the streams that are not active any more. */
  startHour(hour: number): void {
    if (hour <= this.#hour) return;
    this.#hour = hour;
    for (const [hash, seen] of this.#hourOf) if (seen < hour - 1) this.#hourOf.delete(hash);
  }

  has(hash: number): boolean {
    return this.#hourOf.has(hash);
  }

  /** Whether the stream was seen in this hour already. */
  isOfThisHour(hash: number): boolean {
    return this.#hourOf.get(hash) === this.#hour;
  }

  /** A stream seen in an hour: this one or the one before. */
  add(hash: number, hour: number): void {
    if (hour < this.#hour - 1) return;
    const seen = this.#hourOf.get(hash);
    if (seen === undefined || seen < hour) this.#hourOf.set(hash, Math.min(hour, this.#hour));
  }
}
