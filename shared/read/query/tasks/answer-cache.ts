/**
 * What queries found, by what they asked and of which chunks. A key names chunks, times, query, windows, delete requests and
 * retention, and chunks never change: so equal keys have equal answers, and whatever is pushed, packed or deleted makes another
 * key. A dashboard that asks again within one step, and panels that share a query, are answered without a scan. Kept are
 * answers to tasks, as bytes, and results of whole queries (results-cache.ts), in one room.
 *
 * What a reader would get wrong: a key holds the instants of the query, so a window that has moved on by a step is asked
 * anew. And a template may read the clock, which no key can name: such queries are not kept.
 */
import { hash } from 'node:crypto';
import { LruCache } from '../../../base/model/lru.ts';
import type { Task } from './task.ts';

/** Of an answer beside its bytes: key, entry, place. */
const ENTRY_BYTES = 300;
/** Of the whole, what one answer may take: one that is larger would drive out those of many panels. */
const MAX_SHARE = 1 / 8;

/** Functions of templates that read the clock: `now`, and those of dates for what is no time. */
const READS_CLOCK = /\{\{[\s\S]*(now|date)/i;

export interface AnswerCacheFigures {
  hits: number;
  misses: number;
}

declare const valueOfKey: unique symbol;
/** Of an answer of this type. */
export type AnswerKey<Answer> = string & { readonly [valueOfKey]: Answer };

export class AnswerCache {
  readonly figures: AnswerCacheFigures = { hits: 0, misses: 0 };
  readonly #answers: LruCache<string, unknown>;
  readonly #maxBytes: number;

  /** @param maxBytes 0 keeps none */
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

  /** Bytes of the answers that are kept. */
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

  /** False where the answer is not to be kept. */
  keeps(query: string): boolean {
    return this.#maxBytes > 0 && !READS_CLOCK.test(query);
  }

  /** Undefined where the answer is not to be kept. */
  keyOf({ ask }: Task, bytes: Uint8Array): AnswerKey<Uint8Array> | undefined {
    if (ask.kind !== 'metric' || !this.keeps(ask.query)) return undefined;
    return hash('sha256', bytes, 'base64') as AnswerKey<Uint8Array>;
  }

  get<Answer>(key: AnswerKey<Answer>): Answer | undefined {
    const answer = this.#answers.get(key);
    if (answer === undefined) this.figures.misses++;
    else this.figures.hits++;
    return answer as Answer | undefined;
  }

  /** The answer must not be changed from here on. @param bytes that it takes */
  set<Answer>(key: AnswerKey<Answer>, answer: Answer, bytes: number): void {
    const weight = ENTRY_BYTES + bytes;
    if (weight <= this.#maxBytes * MAX_SHARE) this.#answers.set(key, answer, weight);
  }
}
