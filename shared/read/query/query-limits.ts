/** Checks the limits of a query before anything is read (docs/dev/wire-format.md#limits-of-queries). */

import { formatGoDuration, formatPrometheusDuration } from '../../base/model/duration.ts';
import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import { leavesOf } from '../../execution/metrics/plan.ts';
import type { Expr, LogExpr, Matcher } from '../../language/logql/ast.ts';
import type { TimeRange } from './day-plan.ts';

/** Returns the smallest positive value of the tenants for each limit. Lists are joined. */
export function combineLimits(limits: readonly Limits[]): Limits {
  if (limits.length === 1) return limits[0];
  const min = (pick: (one: Limits) => number) => smallest(limits.map(pick), 0);
  const minNs = (pick: (one: Limits) => bigint) => smallest(limits.map(pick), 0n);
  return {
    ...limits[0],
    maxEntriesLimitPerQuery: min(one => one.maxEntriesLimitPerQuery),
    maxQuerySeries: min(one => one.maxQuerySeries),
    // 0 means that no task may run.
    maxQueryParallelism: Math.min(...limits.map(one => one.maxQueryParallelism)),
    maxQueryLengthNs: minNs(one => one.maxQueryLengthNs),
    maxQueryLookbackNs: minNs(one => one.maxQueryLookbackNs),
    maxQueryRangeNs: minNs(one => one.maxQueryRangeNs),
    maxStreamsMatchersPerQuery: min(one => one.maxStreamsMatchersPerQuery),
    maxQueryBytesRead: min(one => one.maxQueryBytesRead),
    maxQuerierBytesRead: min(one => one.maxQuerierBytesRead),
    blockedQueries: limits.flatMap(one => one.blockedQueries),
    queryTimeoutNs: minNs(one => one.queryTimeoutNs),
    requiredLabels: [...new Set(limits.flatMap(one => one.requiredLabels))],
    minimumLabelsNumber: Math.max(...limits.map(one => one.minimumLabelsNumber)),
    volumeMaxSeries: min(one => one.volumeMaxSeries),
    volumeEnabled: limits.every(one => one.volumeEnabled),
  };
}

/** 0 means "no limit" and is larger than any limit. */
function smallest<T extends number | bigint>(values: readonly T[], none: T): T {
  let min = none;
  for (const value of values) if (value > none && (min === none || value < min)) min = value;
  return min;
}

/** Limits of a request, and the list of their warnings (Requester.warnings). */
interface LimitedRequest {
  readonly limits: Limits;
  readonly warnings?: string[] | undefined;
}

/**
 * Returns the range that may be read. It starts at the look-back limit at the earliest, and is undefined if
 * all of it is older. A range that is too long is cut to its newest part with a warning. A client that does
 * not display warnings gets BadRequestError.
 */
export function limitRange(
  range: TimeRange,
  { limits, warnings }: LimitedRequest,
  nowNs: bigint,
): TimeRange | undefined {
  let { startNs } = range;
  if (limits.maxQueryLookbackNs > 0n) {
    const oldest = nowNs - limits.maxQueryLookbackNs;
    if (range.endNs < oldest) return undefined;
    if (startNs < oldest) startNs = oldest;
  }
  const length = range.endNs - startNs;
  if (limits.maxQueryLengthNs > 0n && length > limits.maxQueryLengthNs) {
    cut(
      warnings,
      `the query time range exceeds the limit (query length: ${formatGoDuration(length)}, limit: ${formatPrometheusDuration(limits.maxQueryLengthNs)})`,
      'returning partial results for the end of the range',
    );
    startNs = range.endNs - limits.maxQueryLengthNs;
  }
  return { startNs, endNs: range.endNs };
}

/**
 * Works as limitRange for a range with an exclusive end: its length is that of the range as the client sent
 * it.
 */
export function limitHalfOpenRange(
  { startNs, endNs }: TimeRange,
  limited: LimitedRequest,
  nowNs: bigint,
): TimeRange | undefined {
  const allowed = limitRange({ startNs, endNs: endNs - 1n }, limited, nowNs);
  return allowed && { startNs: allowed.startNs, endNs };
}

/**
 * Returns how many of `limit` entries a log query may return. If fewer, adds a warning or throws
 * BadRequestError, as limitRange.
 */
export function limitEntries(limit: number, { limits, warnings }: LimitedRequest): number {
  const max = limits.maxEntriesLimitPerQuery;
  if (max <= 0 || limit <= max) return limit;
  cut(
    warnings,
    `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${max})`,
    `returning partial results of up to ${max} entries`,
  );
  return max;
}

/** Adds the warning once, however often a request reaches the limit. */
function cut(warnings: string[] | undefined, reached: string, effect: string): void {
  if (warnings === undefined) throw new BadRequestError(reached);
  const warning = `${reached}; ${effect}`;
  if (!warnings.includes(warning)) warnings.push(warning);
}

/** Throws ClientError 429 for a tenant that may not run any task (docs/dev/wire-format.md#status-codes-of-queries). */
export function checkParallelism({ maxQueryParallelism }: Limits): void {
  if (maxQueryParallelism === 0) {
    throw new ClientError(429, 'querying is disabled, please contact your Loki operator');
  }
}

/** Throws BadRequestError. */
export function checkExpr(expr: Expr, limits: Limits): void {
  const ranges = expr.kind === 'log' ? [] : leavesOf(expr).map(leaf => leaf.node.range);
  const logs: LogExpr[] = expr.kind === 'log' ? [expr] : ranges.map(range => range.log);
  for (const { selector } of logs) checkSelector(selector, limits);
  for (const { rangeNs } of ranges) {
    if (limits.maxQueryRangeNs > 0n && rangeNs > limits.maxQueryRangeNs) {
      throw new BadRequestError(
        `[interval] value exceeds limit: [${formatPrometheusDuration(rangeNs)}] > [${formatPrometheusDuration(limits.maxQueryRangeNs)}]`,
      );
    }
  }
}

function checkSelector(selector: readonly Matcher[], limits: Limits): void {
  const max = limits.maxStreamsMatchersPerQuery;
  if (max > 0 && selector.length > max) {
    throw new BadRequestError(
      `max streams matchers per query exceeded, matchers-count > limit (${selector.length} > ${max})`,
    );
  }
  const present = [...new Set(selector.map(matcher => matcher.name))];
  const missing = limits.requiredLabels.filter(name => !present.includes(name));
  if (missing.length > 0) {
    throw new BadRequestError(
      `stream selector is missing required matchers [${missing.join(', ')}], labels present in the query were [${present.join(', ')}]`,
    );
  }
  if (selector.length < limits.minimumLabelsNumber) {
    throw new BadRequestError(
      `stream selector has less label matchers than required: (present: [${present.join(', ')}], number_present: ${present.length}, required_number_label_matchers: ${limits.minimumLabelsNumber})`,
    );
  }
}
