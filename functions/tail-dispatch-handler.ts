/**
 * The dispatcher: serves tails for as long as there is something to serve, one run of a tenant at a time.
 *
 *     {"tenant": "acme"}   a process has committed something for a tenant with tails, or one was opened
 *     {}                   the schedule, every minute: all tenants with tails; renews them, and finds what no call came for
 */
import { runAllTails, runTails } from '../shared/read/tail/run-tails.ts';
import { settleInstance } from './assemble.ts';
import type { TailFunction } from './assemble-tail.ts';
import type { LambdaContext } from './lambda-event.ts';

/** Before the end of the function nothing new begins. */
const LAST_STEP_BEFORE_MS = 20_000;
/** The schedule's own run of a tenant without pushes needs no longer; the next one comes in a minute. */
const SCHEDULED_IDLE_MS = 1_000;
/** Longer than processes wait with the next call for a tenant (tail-waker.ts). */
const IDLE_MS = 10_000;
const POLL_MS = 200;

export interface DispatchResult {
  /** Runs that were this invocation's; others were under way elsewhere. */
  readonly runs: number;
}

export type DispatchHandler = (event: unknown, context: LambdaContext) => Promise<DispatchResult>;

/** Throws where tails could not be served: the next call or the schedule tries again. */
export function createDispatchHandler({
  parts,
  assembled,
}: Pick<TailFunction, 'parts' | 'assembled'>): DispatchHandler {
  const dispatch: DispatchHandler = async (event, context) => {
    await assembled.overrides.refreshIfDue();
    const untilMs =
      parts.clock.nowMs() + Math.max(0, context.getRemainingTimeInMillis() - LAST_STEP_BEFORE_MS);
    const tenant = (event as { readonly tenant?: unknown } | null)?.tenant;
    if (typeof tenant !== 'string') {
      const runs = await runAllTails(parts, { untilMs, idleMs: SCHEDULED_IDLE_MS, pollMs: POLL_MS });
      return { runs };
    }
    const isRun = await runTails(tenant, parts, { untilMs, idleMs: IDLE_MS, pollMs: POLL_MS });
    return { runs: isRun ? 1 : 0 };
  };
  return async (event, context) => {
    try {
      return await assembled.instance.counted('tail-dispatch', () => dispatch(event, context));
    } finally {
      await settleInstance(assembled);
    }
  };
}
