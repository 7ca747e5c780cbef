/** Limits on what a query may ask, checked before anything is read (wire-format reference, 3.11). */
import type { Expr, LogExpr, Matcher } from '../logql/ast.ts';
import { leavesOf } from '../metrics/plan.ts';
import { formatGoDuration, formatPrometheusDuration } from '../model/duration.ts';
import { BadRequestError, ClientError } from '../model/errors.ts';
import type { Limits } from '../model/limits.ts';
import type { TimeRange } from './day-plan.ts';

/** For each limit the smallest positive value of the tenants; lists are joined. */
export function combineLimits(limits: readonly Limits[]): Limits {
  if (limits.length === 1) return limits[0];
  const least = (pick: (one: Limits) => number) => smallest(limits.map(pick), 0);
  const leastNs = (pick: (one: Limits) => bigint) => smallest(limits.map(pick), 0n);
  return {
    ...limits[0],
    maxEntriesLimitPerQuery: least(one => one.maxEntriesLimitPerQuery),
    maxQuerySeries: least(one => one.maxQuerySeries),
    // Here 0 is none at all.
    maxQueryParallelism: Math.min(...limits.map(one => one.maxQueryParallelism)),
    maxQueryLengthNs: leastNs(one => one.maxQueryLengthNs),
    maxQueryLookbackNs: leastNs(one => one.maxQueryLookbackNs),
    maxQueryRangeNs: leastNs(one => one.maxQueryRangeNs),
    maxStreamsMatchersPerQuery: least(one => one.maxStreamsMatchersPerQuery),
    maxQueryBytesRead: least(one => one.maxQueryBytesRead),
    maxQuerierBytesRead: least(one => one.maxQuerierBytesRead),
    blockedQueries: limits.flatMap(one => one.blockedQueries),
    queryTimeoutNs: leastNs(one => one.queryTimeoutNs),
    requiredLabels: [...new Set(limits.flatMap(one => one.requiredLabels))],
    minimumLabelsNumber: Math.max(...limits.map(one => one.minimumLabelsNumber)),
    volumeMaxSeries: least(one => one.volumeMaxSeries),
    volumeEnabled: limits.every(one => one.volumeEnabled),
  };
}

/** 0 means "no limit" and loses against any limit. */
function smallest<T extends number | bigint>(values: readonly T[], none: T): T {
  let least = none;
  for (const value of values) if (value > none && (least === none || value < least)) least = value;
  return least;
}

/**
 * The range that may be read: moved up to the look-back limit, or undefined where all of it is older. Throws
 * BadRequestError where it is longer than allowed.
 */
export function limitRange(range: TimeRange, limits: Limits, nowNs: bigint): TimeRange | undefined {
  let { startNs } = range;
  if (limits.maxQueryLookbackNs > 0n) {
    const oldest = nowNs - limits.maxQueryLookbackNs;
    if (range.endNs < oldest) return undefined;
    if (startNs < oldest) startNs = oldest;
  }
  const length = range.endNs - startNs;
  if (limits.maxQueryLengthNs > 0n && length > limits.maxQueryLengthNs) {
    throw new BadRequestError(
      `the query time range exceeds the limit (query length: ${formatGoDuration(length)}, limit: ${formatPrometheusDuration(limits.maxQueryLengthNs)})`,
    );
  }
  return { startNs, endNs: range.endNs };
}

/** Throws BadRequestError. */
export function checkEntriesLimit(limit: number, limits: Limits): void {
  const most = limits.maxEntriesLimitPerQuery;
  if (most > 0 && limit > most) {
    throw new BadRequestError(
      `max entries limit per query exceeded, limit > max_entries_limit_per_query (${limit} > ${most})`,
    );
  }
}

/** Throws ClientError 429 for a tenant that may not run any task (wire-format reference, 0.3). */
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
  const most = limits.maxStreamsMatchersPerQuery;
  if (most > 0 && selector.length > most) {
    throw new BadRequestError(
      `max streams matchers per query exceeded, matchers-count > limit (${selector.length} > ${most})`,
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
