/**
 * Caches what queries found, by the query and its chunks. A key contains chunks, times, query, windows,
 * delete requests and retention. Chunks never change, so equal keys have equal results, and any push,
 * compaction or delete leads to another key. A dashboard that refreshes within one step, and panels that
 * share a query, need no scan. The cache holds task results as bytes and results of queries and their
 * pieces (results-cache.ts) within one memory limit.
 *
 * A key contains the instants of the query, or of a piece of it (instant-pieces.ts). A template may read the
 * clock, which no key can include. Such queries are not cached.
 */
import { hash } from 'node:crypto';
import { LruCache } from '../../../base/model/lru.ts';
import type { Task } from './task.ts';

/** Bytes of a cached result in addition to its own: key, entry, list element. */
const ENTRY_BYTES = 300;
/** Maximum share of one result. A larger one would evict those of many panels. */
const MAX_SHARE = 1 / 8;

/** Template functions that read the clock: `now`, and date functions of invalid times. */
const READS_CLOCK = /\{\{[\s\S]*(now|date)/i;

interface AnswerCacheFigures {
  hits: number;
  misses: number;
}

declare const valueOfKey: unique symbol;
/** Key of a result of this type. */
export type AnswerKey<Answer> = string & { readonly [valueOfKey]: Answer };

export class AnswerCache {
  readonly figures: AnswerCacheFigures = { hits: 0, misses: 0 };
  readonly #answers: LruCache<string, unknown>;
  readonly #maxBytes: number;

  /** @param maxBytes 0 disables the cache */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
    this.#answers = new LruCache(maxBytes);
  }

  get hits(): number {
    return this.figures.hits;
  }

  get misses(): number {
    return this.figures.misses;
  }

  /** Bytes of the cached results. */
  get heldWeight(): number {
    return this.#answers.heldWeight;
  }

  clear(): void {
    this.#answers.clear();
  }

  /** See LruCache. */
  dropUnused(): number {
    return this.#answers.dropUnused();
  }

  /** Returns false if the result must not be cached. */
  keeps(query: string): boolean {
    return this.#maxBytes > 0 && !READS_CLOCK.test(query);
  }

  /** Returns undefined if the result must not be cached. */
  keyOf({ request }: Task, bytes: Uint8Array): AnswerKey<Uint8Array> | undefined {
    if (request.kind !== 'metric' || !this.keeps(request.query)) return undefined;
    return hash('sha256', bytes, 'base64') as AnswerKey<Uint8Array>;
  }

  get<Answer>(key: AnswerKey<Answer>): Answer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) this.figures.misses++;
    else this.figures.hits++;
    return answer as Answer | undefined;
  }

  /**
   * Caches a result, which must not be modified afterwards.
   *
   * @param bytes size of the result
   */
  set<Answer>(key: AnswerKey<Answer>, answer: Answer, bytes: number): void {
    if (this.accepts(bytes)) this.#answers.set(key, answer, ENTRY_BYTES + bytes);
  }

  /** Returns false for results of one query that would evict those of many panels. */
  accepts(bytes: number): boolean {
    return ENTRY_BYTES + bytes <= this.#maxBytes * MAX_SHARE;
  }
}
