/**
 * Caches results: pieces of a range aggregation (cached-pieces.ts), entries of a log query. The cache is checked after the
 * catalog has returned the chunks, and before a footer is read. The key includes everything that decides the
 * result (answer-cache.ts).
 *
 * Nothing is cached for days with expired entries, because what is hidden then changes with the clock. A
 * cached result still counts what it once scanned, because the tenant's limits apply to that.
 */
import { createHash } from 'node:crypto';
import type { MemoryBudget } from '../../base/model/memory-budget.ts';
import { encodeDeleteRequest } from '../../storage/catalog/delete-request-codec.ts';
import type { TenantDeleteFilters } from '../../upkeep/deletion/delete-filters.ts';
import type { DayRecords } from './day-plan.ts';
import type { PartialAnswer } from './partial-answer.ts';
import { addStatistics, newStatistics, type QueryStatistics, withoutReads } from './statistics.ts';
import type { AnswerCache, AnswerKey } from './tasks/answer-cache.ts';
import type { TenantView } from './tenant-view.ts';
import { keptOfDay, type Visible } from './visibility.ts';

/** Maximum records in the keys of a query. For more chunks they take longer than most scans save: 2 ms. */
export const MAX_KEYED_RECORDS = 10_000;
/** Bytes of a label in addition to its texts. */
export const BYTES_PER_LABEL = 64;

/** Data of one tenant that a query reads. */
export interface TenantRecords {
  readonly view: TenantView;
  readonly visible: Visible;
  /** Records in the direction of the query. */
  readonly days: readonly DayRecords[];
}

/** Inputs of a query over the entries of those chunks. */
interface QueryInputs {
  /** Query text, because templates in it may read the clock. */
  readonly query: string;
  /** Other inputs of the result: times, windows, limit, direction. */
  readonly terms: readonly (string | number | bigint | boolean | null | undefined)[];
}

/** What a cached result counts in. */
export interface QueryCounters {
  /** Statistics of the query. */
  readonly statistics: QueryStatistics;
  /** See MetricRequest. */
  readonly charge?: ((bytes: number) => void) | undefined;
  readonly memory?: MemoryBudget | undefined;
}

interface ResultsCacheOptions<Result> extends QueryCounters {
  /** Default: nothing is cached. */
  readonly answers: AnswerCache | undefined;
  readonly asked: QueryInputs;
  readonly records: readonly TenantRecords[];
  /** Whether a result may lack data, because its query ran out of time. It is not cached. */
  readonly partialAnswer: PartialAnswer | undefined;
  /** Returns the bytes of the result. */
  weigh(result: Result): number;
}

interface CachedResult<Result> {
  readonly result: Result;
  readonly bytes: number;
  readonly statistics: QueryStatistics;
}

/**
 * Returns the cached result, or the one that `find` computes, which must not be modified afterwards. `find`
 * counts in the statistics that it receives. Throws its errors, and those of `charge` and `memory`.
 */
export async function cachedOrComputed<Result>(
  { answers, asked, records, statistics, partialAnswer, weigh, ...counters }: ResultsCacheOptions<Result>,
  find: (statistics: QueryStatistics) => Promise<Result>,
): Promise<Result> {
  const key = answers?.keeps(asked.query) ? keyOf<Result>(asked, records) : undefined;
  if (answers === undefined || key === undefined) return find(statistics);
  const known = recall(answers, key, { statistics, ...counters });
  if (known !== undefined) return known;
  const own = newStatistics();
  const result = await find(own);
  addStatistics(statistics, own);
  if (partialAnswer?.isUsed === true) return result;
  keep(answers, key, { result, bytes: weigh(result), statistics: own });
  return result;
}

/** Returns the cached result and counts it, or undefined. Throws errors of `charge` and `memory`. */
export function recall<Result>(
  answers: AnswerCache,
  key: ResultKey<Result>,
  { statistics, charge, memory }: QueryCounters,
): Result | undefined {
  const known = answers.get(key);
  if (known === undefined) return undefined;
  addStatistics(statistics, known.statistics);
  charge?.(known.statistics.lineBytes + known.statistics.metadataBytes);
  memory?.reserve(known.bytes);
  return known.result;
}

/** Caches a result, which must not be modified afterwards. */
export function keep<Result>(
  answers: AnswerCache,
  key: ResultKey<Result>,
  { result, bytes, statistics }: CachedResult<Result>,
): void {
  answers.set(key, { result, bytes, statistics: withoutReads(statistics) }, bytes);
}

/** Key of a cached result and its counters. */
export type ResultKey<Result> = AnswerKey<CachedResult<Result>>;

/** Returns undefined if the result must not be cached. */
export function keyOf<Result>(
  asked: QueryInputs,
  tenants: readonly TenantRecords[],
): ResultKey<Result> | undefined {
  let count = 0;
  const parts: string[] = [JSON.stringify(asked.query), asked.terms.map(String).join(' ')];
  for (const { view, visible, days } of tenants) {
    const { deleteFilters } = visible;
    parts.push(
      `${view.tenant} ${view.isLabeled} ${deleteFilters === undefined ? '' : digestOf(deleteFilters)}`,
    );
    for (const { day, records } of days) {
      count += records.length;
      if (count > MAX_KEYED_RECORDS || keptOfDay(visible, day) !== undefined) return undefined;
      parts.push(`${day}`);
      for (const { id, asOfMs } of records) parts.push(asOfMs === 0 ? id : `${id} ${asOfMs}`);
    }
  }
  return createHash('sha256').update(parts.join('\n')).digest('base64') as ResultKey<Result>;
}

const DIGESTS = new WeakMap<TenantDeleteFilters, string>();

/** Digest of the requests' content, not of their version: recompiled filters have the same digest. */
function digestOf(deleteFilters: TenantDeleteFilters): string {
  let digest = DIGESTS.get(deleteFilters);
  if (digest === undefined) {
    const hash = createHash('sha256');
    for (const request of deleteFilters.definitions) {
      const encoded = encodeDeleteRequest(request);
      hash.update(`${request.id} ${encoded.length}\n`).update(encoded);
    }
    digest = hash.digest('base64');
    DIGESTS.set(deleteFilters, digest);
  }
  return digest;
}
