/**
 * Caches results for parts of days within a memory limit, so that a request over a month adds up thirty of
 * them. Results for chunks that an index covers are cached separately from those of newer chunks. A push then
 * does not cause the whole of today to be read again.
 */

import { mapAhead } from '../../base/model/at-once.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import type { DayIndexProvider } from '../query/streams-query.ts';
import { type DaySink, walkDay } from './aggregate-day.ts';
import { chunksKey, type DayPart } from './day-parts.ts';

/** About 180 series over a month with all their hours, or 100,000 sums of days. */
const CACHED_BYTES = 64 * 1024 * 1024;
/**
 * Parts read ahead. Days of a month take two rounds. For days with 100,000 streams, each result takes a few
 * MB while it is computed.
 */
const PARTS_AHEAD = 16;
/** Map entry, key and array headers. */
const ENTRY_BYTES = 600;

/** Collects a part of a day and returns its result. */
export interface Collector<T extends Weighed> extends DaySink {
  finish(): T;
}

export interface Weighed {
  readonly weightBytes: number;
}

export interface CollectorOptions<T> {
  /** Result for the chunks that an index covers. The collector processes the others. */
  readonly covered?: T;
  /** Whether the result will be the `covered` of another. */
  readonly isJoinedLater?: boolean;
}

export interface Question<T extends Weighed> {
  /** Inputs of the result other than the part's own key and chunks. */
  readonly key: string;
  /** Whether the result for chunks outside an index depends on that of the covered ones. */
  readonly joins?: boolean;
  /** Called for each walk. */
  collector(part: DayPart, options: CollectorOptions<T>): Collector<T>;
}

interface CollectRequest<T extends Weighed> extends CollectorOptions<T> {
  readonly question: Question<T>;
}

export class DayCache {
  readonly #source: ChunkSource;
  readonly #indexes: DayIndexProvider | undefined;
  readonly #known = new LruCache<string, readonly Weighed[]>(CACHED_BYTES);
  /** Caches, for metrics. */
  readonly caches = { volumes: this.#known };

  constructor(source: ChunkSource, indexes: DayIndexProvider | undefined) {
    this.#source = source;
    this.#indexes = indexes;
  }

  /**
   * Yields each part with its results, in the order of the parts. Over a distant store several are read
   * ahead. Throws errors of `answer`.
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

  /** Returns results that together cover the part. Throws errors of walkDay. */
  async answer<T extends Weighed>(
    part: DayPart,
    question: Question<T>,
    signal: AbortSignal,
  ): Promise<readonly T[]> {
    const key = keyOf(part, question);
    // The question's key determines the type of its results.
    const whole = this.#known.get(key) as readonly T[] | undefined;
    if (whole !== undefined) return whole;
    signal.throwIfAborted();
    const index = await this.#indexes?.indexOfDay(part.tenant, part.day);
    const covered = index === undefined ? [] : part.records.filter(({ id }) => index.covers(id));
    const uncovered = index === undefined ? part.records : part.records.filter(({ id }) => !index.covers(id));
    const answers: T[] = [];
    const isJoinedLater = question.joins && uncovered.length > 0;
    if (covered.length > 0) {
      const coveredPart = { ...part, records: covered };
      answers.push(await this.#ofCovered(coveredPart, index!, { question, isJoinedLater }, signal));
    }
    if (uncovered.length > 0) {
      const uncoveredPart = { ...part, records: uncovered };
      answers.push(await this.#walk(uncoveredPart, undefined, { question, covered: answers[0] }, signal));
    }
    this.#keep(key, answers);
    return answers;
  }

  /** The same chunks are covered until the next index, whatever is pushed. */
  async #ofCovered<T extends Weighed>(
    part: DayPart,
    index: IndexOfDay,
    asked: CollectRequest<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const key = `${keyOf(part, asked.question)}${asked.isJoinedLater ? ' to be joined' : ''}`;
    const [known] = (this.#known.get(key) ?? []) as readonly T[];
    if (known !== undefined) return known;
    const answer = await this.#walk(part, index, asked, signal);
    this.#keep(key, [answer]);
    return answer;
  }

  /**
   * A result with two keys weighs twice. Of today's keys only the last is requested again, and the others are
   * evicted first.
   */
  #keep(key: string, answers: readonly Weighed[]): void {
    this.#known.set(key, answers, weightOf(key, answers));
  }

  async #walk<T extends Weighed>(
    part: DayPart,
    index: IndexOfDay | undefined,
    { question, ...options }: CollectRequest<T>,
    signal: AbortSignal,
  ): Promise<T> {
    const source = this.#source;
    const { records } = part;
    try {
      const collector = question.collector(part, options);
      await walkDay({ source, records, index, signal }, collector);
      return collector.finish();
    } catch (error) {
      // An index is derived data: if it is corrupt, footers replace it. Index sync reports it.
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
