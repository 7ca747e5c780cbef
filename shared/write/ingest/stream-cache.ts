/**
 * Streams that pushes named before, by the bytes they were named with: shippers send the same few label texts in
 * every push, and parsing one costs a hundred times a look-up.
 *
 * Two generations stand for a least-recently-used order: what was not asked for during a whole generation is dropped.
 * Nothing in it depends on a tenant or its limits.
 */
import type { PushStream } from './push-columns.ts';

/** Streams of one generation: three tenants with the default limit of active streams. */
const MAX_STREAMS_KEPT = 16_384;
/** Characters of the keys of one generation; the parsed labels take a few times as much. */
const MAX_KEY_CHARACTERS = 4 * 1024 * 1024;
/** A longer text is not kept: 15 labels of usual length are below 1 KiB. */
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
    if (this.#young.size >= MAX_STREAMS_KEPT || this.#youngCharacters + key.length > MAX_KEY_CHARACTERS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngCharacters = 0;
    }
    this.#young.set(key, stream);
    this.#youngCharacters += key.length;
  }

  /** Streams that are kept now, in both generations. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }
}
