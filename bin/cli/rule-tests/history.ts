/**
 * Evaluates rules over a running store. Each expression becomes a range query with the group's interval as
 * its step, so that one request covers many instants.
 */
import { BadRequestError, messageOf } from '../../../shared/base/model/errors.ts';
import { parseGoFloat } from '../../../shared/base/model/number.ts';
import type { ResultSample, RuleQuery } from '../../../shared/server/rules/rule-query.ts';
import type { FetchRange } from '../range-query.ts';
import { UnreachableError } from '../store-client.ts';

/**
 * Instants per request: below the limit of 11,000 points per query, with small responses even for many
 * series.
 */
const INSTANTS_OF_REQUEST = 500n;

interface HistoryRange {
  /** First and last instant of the request. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly stepNs: bigint;
}

interface FetchedRange {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly found: Map<bigint, ResultSample[]>;
  /** Error of the store, if any. */
  readonly error: Error | undefined;
}

/**
 * Instants must be requested in ascending order, on multiples of the step. If no store responds, `giveUp` is
 * called, because a rule would report that as an ordinary failure.
 */
export function historyQuery(
  ask: FetchRange,
  range: HistoryRange,
  giveUp: (reason: unknown) => void,
): RuleQuery {
  // Newest range of each expression: earlier instants are never requested again.
  const fetched = new Map<string, FetchedRange>();
  return async (_, expr, timeNs) => {
    let known = fetched.get(expr);
    if (known === undefined || timeNs > known.endNs) {
      const lastNs = timeNs + (INSTANTS_OF_REQUEST - 1n) * range.stepNs;
      known = await requestRange(ask, giveUp, expr, {
        ...range,
        startNs: timeNs,
        endNs: lastNs < range.endNs ? lastNs : range.endNs,
      });
      fetched.set(expr, known);
    }
    if (known.error !== undefined) throw known.error;
    return known.found.get(timeNs) ?? [];
  };
}

async function requestRange(
  ask: FetchRange,
  giveUp: (reason: unknown) => void,
  query: string,
  range: HistoryRange,
): Promise<FetchedRange> {
  const { startNs, endNs, stepNs } = range;
  const found = new Map<bigint, ResultSample[]>();
  try {
    const step = `${stepNs / 1_000_000n}ms`;
    const answer = await ask({ query, startNs, endNs, limit: 1, direction: 'forward', step });
    if (answer.kind !== 'matrix') throw new Error('the response contains no samples');
    for (const { labels, samples } of answer.series) {
      for (const { timeNs, value } of samples) {
        const sample = { labels, value: parseGoFloat(value) ?? NaN };
        const others = found.get(timeNs);
        if (others === undefined) found.set(timeNs, [sample]);
        else others.push(sample);
      }
    }
    return { startNs, endNs, found, error: undefined };
  } catch (error) {
    if (error instanceof UnreachableError) giveUp(error);
    // The rule is wrong, not the store, so a retry would change nothing.
    return { startNs, endNs, found, error: new BadRequestError(messageOf(error)) };
  }
}
