/**
 * Runs query tasks as invocations of a function. Lambda accepts and returns up to 6 MB, and a task is base64
 * in JSON. Larger tasks run in this process instead. That is slower, but never wrong, and leaves no objects
 * to clean up.
 *
 *     call      429: wait and retry, with fewer calls at once            (call-width.ts)
 *               5xx, or the function ended: retry, within a budget       (retry-budget.ts)
 *               slow: start it again, unless only one call may run; the first result counts   (straggler-hedge.ts)
 *     then      a call that is refused MAX_REFUSALS times runs in this process
 */
import { InvokeCommand, type InvokeCommandOutput, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Clock } from '../base/ports/clock.ts';
import { type Invoker, InvokerError, type InvokerFigures } from '../base/ports/invoker.ts';
import { CallWidth } from './call-width.ts';
import { describe } from './errors.ts';
import { lambdaClient } from './lambda-client.ts';
import { createRetryBudget, RETRY_PRICE, SUCCESS_REFUND } from './retry-budget.ts';
import { StragglerHedge } from './straggler-hedge.ts';

/** 6 MB less the JSON around the task, at 4/3 for base64. */
export const MAX_RAW_PAYLOAD_BYTES = 4_400_000;
/**
 * Maximum number of concurrent calls: a fifth of an account's first quota (1,000,
 * https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). An account with a lower quota
 * refuses calls, which lowers the limit.
 */
export const DEFAULT_SLOTS = 200;
/** Failures of one task after which the function counts as broken. */
export const MAX_FAILURES = 3;
/** Refusals of one task before it runs in this process, about 8 s with the waits below. */
const MAX_REFUSALS = 10;
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 1_000;

/** Event that the function receives. */
export interface WorkerEvent {
  /** Task in base64. */
  readonly task: string;
}

/** Result of the function: the result in base64, or the size of one that exceeds the payload limit. */
export type WorkerResult = { readonly answer: string } | { readonly tooLarge: number };

interface LambdaInvokerParts {
  /** Returns the client, created on first use: most queries call no worker. */
  readonly client: () => Pick<LambdaClient, 'send'>;
  readonly functionName: string;
  /** Runs tasks in this process that the function cannot run. */
  readonly here: Invoker;
  /** Maximum number of concurrent calls. Default: DEFAULT_SLOTS. */
  readonly slots?: number;
  /** Whether slow calls are started again. Default: true. */
  readonly isHedged?: boolean;
  readonly clock: Clock;
}

interface LambdaFigures extends InvokerFigures {
  invocations: number;
  refused: number;
  retried: number;
  /** Tasks run in this process, by reason. */
  readonly here: { taskTooLarge: number; answerTooLarge: number; throttled: number };
}

interface LambdaInvoker extends Invoker {
  readonly figures: LambdaFigures;
}

/** Reports that the account has no concurrency left for the call. */
class NoConcurrencyError extends Error {}

export function lambdaInvoker(parts: LambdaInvokerParts): LambdaInvoker {
  const { client, functionName, here, clock, slots = DEFAULT_SLOTS, isHedged = true } = parts;
  const width = new CallWidth(slots, clock);
  const budget = createRetryBudget();
  const hedge = new StragglerHedge(clock);
  const figures: LambdaFigures = {
    invocations: 0,
    refused: 0,
    retried: 0,
    get hedged() {
      return hedge.figures.hedges;
    },
    here: { taskTooLarge: 0, answerTooLarge: 0, throttled: 0 },
  };

  /**
   * Throws NoConcurrencyError, LostCallError for failures worth a retry, InvokerError for others, and the signal's
   * reason.
   */
  async function send(payload: string, signal: AbortSignal): Promise<WorkerResult> {
    figures.invocations++;
    let answer: InvokeCommandOutput;
    try {
      answer = await client().send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: 'RequestResponse',
          Payload: Buffer.from(payload),
        }),
        { abortSignal: signal },
      );
    } catch (error) {
      signal.throwIfAborted();
      throw errorOfCall(error, functionName);
    }
    const { FunctionError: failed, Payload: bytes } = answer;
    const text = Buffer.from(bytes ?? []).toString();
    if (failed === undefined) return JSON.parse(text) as WorkerResult;
    // The function ended without a result: it ran out of time or memory, or it is broken.
    throw new LostCallError(`query worker ${functionName} failed: ${text}`);
  }

  /** Sends a call within the width limit, and retries as long as that may help. */
  async function steadily(payload: string, signal: AbortSignal): Promise<WorkerResult> {
    for (let [failures, refusals] = [0, 0]; ; ) {
      await width.enter(signal);
      let end: Parameters<CallWidth['leave']>[0] = 'other';
      try {
        const result = isHedged
          ? await hedge.run(signal, one => send(payload, one))
          : await send(payload, signal);
        end = 'answered';
        if (failures === 0) budget.give(SUCCESS_REFUND);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof NoConcurrencyError) {
          end = 'refused';
          if (++refusals >= MAX_REFUSALS) throw error;
          figures.refused++;
        } else {
          if (!(error instanceof LostCallError)) throw error;
          if (++failures >= MAX_FAILURES || !budget.take(RETRY_PRICE)) throw error;
          figures.retried++;
        }
      } finally {
        width.leave(end);
      }
      await clock.sleep(Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (failures + refusals - 1)), signal);
    }
  }

  return {
    slots,
    figures,
    async invoke(task, options) {
      const { signal } = options;
      signal.throwIfAborted();
      if (task.length > MAX_RAW_PAYLOAD_BYTES) {
        figures.here.taskTooLarge++;
        return here.invoke(task, options);
      }
      const event: WorkerEvent = { task: Buffer.from(task).toString('base64') };
      const payload = JSON.stringify(event);
      let result: WorkerResult;
      try {
        result = await steadily(payload, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof NoConcurrencyError)) throw error;
        figures.here.throttled++;
        return here.invoke(task, options);
      }
      if ('answer' in result) return Buffer.from(result.answer, 'base64');
      figures.here.answerTooLarge++;
      return here.invoke(task, options);
    },
    close: () => here.close(),
  };
}

/** Reports a lost worker or a failed service. A retry may succeed. */
class LostCallError extends InvokerError {}

function errorOfCall(error: unknown, functionName: string): Error {
  const { code, status } = describe(error);
  if (status === 429)
    return new NoConcurrencyError('the account has no concurrency left for the call', { cause: error });
  const message = `query worker ${functionName} cannot be invoked: ${code ?? error}`;
  const mayPass = status === undefined || status >= 500;
  return mayPass ? new LostCallError(message, { cause: error }) : new InvokerError(message, { cause: error });
}

/**
 * Creates an invoker without sending a request, so a function can do it at its start. Region and credentials
 * are those of the function.
 */
export function createLambdaInvoker(parts: Omit<LambdaInvokerParts, 'client'>): LambdaInvoker {
  // This invoker retries instead of the client, so that refused calls reduce the width.
  const { slots = DEFAULT_SLOTS } = parts;
  // One call in ten may be hedged by a second one.
  return lambdaInvoker({ client: lambdaClient(1, Math.ceil(slots * 1.2)), ...parts });
}
