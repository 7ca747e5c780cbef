/**
 * Answers to tasks of metric queries, by what was asked. A task names chunks, pages, times, query, windows, delete requests and
 * retention, and chunks never change: so equal bytes have equal answers, and whatever is pushed, packed or deleted makes other
 * bytes. A dashboard that asks again within one step, and panels that share a query, are answered without a scan.
 *
 * What a reader would get wrong: the bytes hold the instants of the query, so a window that has moved on by a step is asked
 * anew. And a template may read the clock, which no task can name: such queries are not kept.
 */
import { hash } from 'node:crypto';
import { LruCache } from '../../model/lru.ts';
import type { Task } from './task.ts';

/** Of an answer beside its bytes: key, entry, place. */
const ENTRY_BYTES = 300;

/** Functions of templates that read the clock: `now`, and those of dates for what is no time. */
const READS_CLOCK = /\{\{[\s\S]*(now|date)/i;

export interface AnswerCacheFigures {
  hits: number;
  misses: number;
}

export class AnswerCache {
  readonly figures: AnswerCacheFigures = { hits: 0, misses: 0 };
  private readonly answers: LruCache<string, Uint8Array>;
  private readonly maxBytes: number;

  /** @param maxBytes 0 keeps none */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes;
    this.answers = new LruCache(maxBytes);
  }

  /** Undefined where the answer is not to be kept. */
  keyOf({ ask }: Task, bytes: Uint8Array): string | undefined {
    if (this.maxBytes === 0 || ask.kind !== 'metric' || READS_CLOCK.test(ask.query)) return undefined;
    return hash('sha256', bytes, 'base64');
  }

  get(key: string): Uint8Array | undefined {
    const answer = this.answers.get(key);
    if (answer === undefined) this.figures.misses++;
    else this.figures.hits++;
    return answer;
  }

  /** The bytes must not be changed from here on. */
  set(key: string, answer: Uint8Array): void {
    this.answers.set(key, answer, ENTRY_BYTES + answer.buffer.byteLength);
  }
}
