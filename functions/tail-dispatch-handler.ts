/**
 * Dispatcher of live tails: serves subscriptions while there are entries to deliver. One invocation serves a
 * tenant at a time.
 *
 *     {"tenant": "acme"}   a process committed entries for a tenant with tails, or a tail was opened
 *     {}                   the schedule, every minute: renews all tails, and delivers entries that no call announced
 */
import { runAllTails, runTails } from '../shared/read/tail/run-tails.ts';
import { settleInstance } from './assemble.ts';
import type { TailFunction } from './assemble-tail.ts';
import type { LambdaContext } from './lambda-event.ts';

/** No new step starts in this time before the end of the function. */
const LAST_STEP_BEFORE_MS = 20_000;
/** Idle time before a scheduled run of a tenant ends. The next run comes within a minute. */
const SCHEDULED_IDLE_MS = 1_000;
/** Longer than the interval at which processes repeat the call for a tenant (tail-waker.ts). */
const IDLE_MS = 10_000;
const POLL_MS = 200;

interface DispatchResult {
  /** Number of tenants that this invocation served. Other invocations may serve the rest. */
  readonly runs: number;
}

type DispatchHandler = (event: unknown, context: LambdaContext) => Promise<DispatchResult>;

/** Throws if tails could not be served. The next call or the schedule retries. */
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
