/**
 * Caches streams by the bytes that pushes name them with. Agents send the same few label texts in every push,
 * and parsing one costs a hundred lookups.
 *
 * Two generations replace an LRU order: an entry that is unused for a whole generation is dropped. Nothing in
 * the cache depends on a tenant or its limits.
 */
import type { PushStream } from './push-columns.ts';

/** Maximum streams of one generation: three tenants with the default limit of active streams. */
const MAX_CACHED_STREAMS = 16_384;
/** Maximum key characters of one generation. The parsed labels need a few times as much. */
const MAX_KEY_CHARACTERS = 4 * 1024 * 1024;
/** Longer texts are not cached. 15 labels of usual length are below 1 KiB. */
const MAX_KEY_LENGTH = 4096;

export class StreamCache {
  #young = new Map<string, PushStream>();
  #old = new Map<string, PushStream>();
  #youngCharacters = 0;

  get(key: string): PushStream | undefined {
    const found = this.#young.get(key);
    if (found !== undefined) return found;
    const aged = this.#old.get(key);
    if (aged !== undefined) this.set(key, aged);
    return aged;
  }

  set(key: string, stream: PushStream): void {
    if (key.length > MAX_KEY_LENGTH) return;
    if (this.#young.size >= MAX_CACHED_STREAMS || this.#youngCharacters + key.length > MAX_KEY_CHARACTERS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngCharacters = 0;
    }
    this.#young.set(key, stream);
    this.#youngCharacters += key.length;
  }

  /** Number of streams in both generations. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
