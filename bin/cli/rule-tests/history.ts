/**
 * What rules would have found in a running store: each expression is asked as a range query with the group's interval as
 * its step, so that one request stands for many instants.
 */
import { BadRequestError, messageOf } from '../../../shared/base/model/errors.ts';
import { parseGoFloat } from '../../../shared/base/model/number.ts';
import type { ResultSample, RuleQuery } from '../../../shared/server/rules/rule-query.ts';
import type { AskRange } from '../range-query.ts';
import { UnreachableError } from '../store-client.ts';

/** Below the 11,000 points that stores allow a query, and small answers where there are many series. */
const INSTANTS_OF_REQUEST = 500n;

export interface HistoryRange {
  /** First and last instant that is asked for. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly stepNs: bigint;
}

interface Stretch {
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly found: Map<bigint, ResultSample[]>;
  /** Why the store did not answer. */
  readonly error: Error | undefined;
}

/**
 * Instants must be asked for in ascending order, on the steps of the range, which are multiples of the step. Where there
 * is no store that answers, `giveUp` is told: for a rule that would be one failure among others.
 */
export function historyQuery(
  ask: AskRange,
  range: HistoryRange,
  giveUp: (reason: unknown) => void,
): RuleQuery {
  // Of each expression the newest stretch: nothing behind it is asked for again.
  const stretches = new Map<string, Stretch>();
  return async (_, expr, timeNs) => {
    let stretch = stretches.get(expr);
    if (stretch === undefined || timeNs > stretch.endNs) {
      const lastNs = timeNs + (INSTANTS_OF_REQUEST - 1n) * range.stepNs;
      stretch = await askStretch(ask, giveUp, expr, {
        ...range,
        startNs: timeNs,
        endNs: lastNs < range.endNs ? lastNs : range.endNs,
      });
      stretches.set(expr, stretch);
    }
    if (stretch.error !== undefined) throw stretch.error;
    return stretch.found.get(timeNs) ?? [];
  };
}

async function askStretch(
  ask: AskRange,
  giveUp: (reason: unknown) => void,
  query: string,
  range: HistoryRange,
): Promise<Stretch> {
  const { startNs, endNs, stepNs } = range;
  const found = new Map<bigint, ResultSample[]>();
  try {
    const step = `${stepNs / 1_000_000n}ms`;
    const answer = await ask({ query, startNs, endNs, limit: 1, direction: 'forward', step });
    if (answer.kind !== 'matrix') throw new Error('the answer holds no samples');
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
    // The rule is wrong, not the store: a new try would change nothing.
    return { startNs, endNs, found, error: new BadRequestError(messageOf(error)) };
  }
}
