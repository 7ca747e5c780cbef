/**
 * Answers about parts of days, remembered in a bounded cache: a question about a month then adds up thirty of them. What
 * an index covers is remembered apart from the chunks that came since, so that a push does not make the whole of today
 * be looked at again.
 */

import { mapAhead } from '../../base/model/at-once.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import type { DayIndex } from '../../storage/index/day-index.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import type { DayIndexProvider } from '../query/streams-query.ts';
import { type DaySink, walkDay } from './aggregate-day.ts';
import { chunksKey, type DayPart } from './day-parts.ts';

/** About 180 series over a month with all their hours, or 100,000 sums of days. */
const CACHED_BYTES = 64 * 1024 * 1024;
/** Days of a month take two turns; of days with 100,000 streams each answer takes some MB while it is made. */
const PARTS_AHEAD = 16;
/** Map entry, key and headers of arrays. */
const ENTRY_BYTES = 600;

/** Takes a part of a day in, and says what it came to. */
export interface Collector<T extends Weighed> extends DaySink {
  finish(): T;
}

export interface Weighed {
  readonly weightBytes: number;
}

export interface CollectorOptions<T> {
  /** What the chunks came to that an index covers; the collector is for those that it does not. */
  readonly covered?: T;
  /** The answer will be the `covered` of another. */
  readonly isJoinedLater?: boolean;
}

export interface Question<T extends Weighed> {
  /** All that the answer depends on beside the part's own key and chunks. */
  readonly key: string;
  /** True where the answer for chunks outside of an index depends on what the covered ones came to. */
  readonly joins?: boolean;
  /** Called for each walk anew. */
  collector(part: DayPart, options: CollectorOptions<T>): Collector<T>;
}

interface Asked<T extends Weighed> extends CollectorOptions<T> {
  readonly question: Question<T>;
}

export class DayCache {
  readonly #source: ChunkSource;
  readonly #indexes: DayIndexProvider | undefined;
  readonly #known = new LruCache<string, readonly Weighed[]>(CACHED_BYTES);
  /** For metrics. */
  readonly caches = { volumes: this.#known };

  constructor(source: ChunkSource, indexes: DayIndexProvider | undefined) {
    this.#source = source;
    this.#indexes = indexes;
  }

  /**
   * Each part with its answers, in the order of the parts. Over a distant store several are read ahead. Throws what `answer`
   * throws.
   */
  async *answers<T extends Weighed>(
    parts: AsyncIterable<DayPart> | Iterable<DayPart>,
    questionOf: (part: DayPart) => Question<T>,
    signal: AbortSignal,
  ): AsyncGenerator<{ readonly part: DayPart; readonly answers: readonly T[] }> {
    const width = this.#source.isDistant ? PARTS_AHEAD : 1;
    yield* mapAhead(await Array.fromAsync(parts), { width }, async part => ({
      part,
      answers: await this.answer(part, questionOf(part), signal),
    }));
  }

  /** Answers that together are that of the part. Throws what walkDay throws. */
  async answer<T extends Weighed>(
    part: DayPart,
    question: Question<T>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const key = keyOf(part, question);
    // The question's key names the type of its answers.
    const whole = this.#known.get(key) as readonly T[] | undefined;
    if (whole !== undefined) return whole;
    signal.throwIfAborted();
    const index = await this.#indexes?.ofDay(part.tenant, part.day);
    const covered = index === undefined ? [] : part.records.filter(({ id }) => index.covers(id));
    const rest = index === undefined ? part.records : part.records.filter(({ id }) => !index.covers(id));
    const answers: T[] = [];
    const isJoinedLater = question.joins && rest.length > 0;
    if (covered.length > 0) {
      const coveredPart = { ...part, records: covered };
      answers.push(await this.#ofCovered(coveredPart, index!, { question, isJoinedLater }, signal));
    }
    if (rest.length > 0) {
      const restPart = { ...part, records: rest };
      answers.push(await this.#walk(restPart, undefined, { question, covered: answers[0] }, signal));
    }
    this.#keep(key, answers);
    return answers;
  }

  /** Until the next index the same chunks are covered, whatever is pushed. */
  async #ofCovered<T extends Weighed>(
    part: DayPart,
    index: DayIndex,
    asked: Asked<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const key = `${keyOf(part, asked.question)}${asked.isJoinedLater ? ' to be joined' : ''}`;
    const [known] = (this.#known.get(key) ?? []) as readonly T[];
    if (known !== undefined) return known;
    const answer = await this.#walk(part, index, asked, signal);
    this.#keep(key, [answer]);
    return answer;
  }

  /** What two keys name weighs twice: of today's keys only the last is asked for again, and the others go first. */
  #keep(key: string, answers: readonly Weighed[]): void {
    this.#known.set(key, answers, weightOf(key, answers));
  }

  async #walk<T extends Weighed>(
    part: DayPart,
    index: DayIndex | undefined,
    { question, ...options }: Asked<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const source = this.#source;
    const { records } = part;
    try {
      const collector = question.collector(part, options);
      await walkDay({ source, records, index, signal }, collector);
      return collector.finish();
    } catch (error) {
      // An index is derived data: where it is broken, footers answer. Index sync tells of it.
      const isOfIndex = error instanceof CorruptionError || error instanceof ObjectNotFoundError;
      if (index === undefined || !isOfIndex) throw error;
      const collector = question.collector(part, options);
      await walkDay({ source, records, index: undefined, signal }, collector);
      return collector.finish();
    }
  }
}

function keyOf({ key, records }: DayPart, question: { readonly key: string }): string {
  return `${key}\0${chunksKey(records)}\0${question.key}`;
}

function weightOf(key: string, answers: readonly Weighed[]): number {
  let weight = ENTRY_BYTES + 2 * key.length;
  for (const answer of answers) weight += answer.weightBytes;
  return weight;
}
