/**
 * Query tasks as invocations of a function. Lambda takes and gives 6 MB, and a task travels as base64 in JSON. What is
 * larger is run in this process instead: slower, never wrong, and without objects that somebody would have to clean up.
 *
 *     call      429: wait and try again, with fewer calls at once        (call-width.ts)
 *               5xx, or the function ended: try again, within a budget   (retry-budget.ts)
 *               slow: start it again, the first answer counts            (straggler-hedge.ts)
 *     then      what was refused to the end is run here
 */
import { InvokeCommand, type InvokeCommandOutput, type LambdaClient } from '@aws-sdk/client-lambda';
import type { Clock } from '../base/ports/clock.ts';
import { type Invoker, InvokerError, type InvokerFigures } from '../base/ports/invoker.ts';
import { CallWidth } from './call-width.ts';
import { describe } from './errors.ts';
import { lambdaClient } from './lambda-client.ts';
import { createRetryBudget, RETRY_PRICE, SUCCESS_REFUND } from './retry-budget.ts';
import { StragglerHedge } from './straggler-hedge.ts';

/** Of 6 MB, less the JSON around it, at 4/3 for base64. */
export const MAX_PAYLOAD_BYTES = 4_400_000;
/**
 * Calls at once. A fifth of an account's first quota (1,000, https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html);
 * an account with less refuses calls, and fewer are made.
 */
export const DEFAULT_SLOTS = 200;
/** Of one task: the function is broken if it ends without an answer so often. */
const MAX_FAILURES = 3;
/** Of one task; with the waits below about 8 s. */
const MAX_REFUSALS = 10;
const FIRST_WAIT_MS = 50;
const MAX_WAIT_MS = 1_000;

/** What the function is given. */
export interface WorkerEvent {
  /** A task, base64. */
  readonly task: string;
}

/** What it gives back: the answer, base64, or that there is one which is larger than it may give. */
export type WorkerResult = { readonly answer: string } | { readonly tooLarge: number };

export interface LambdaInvokerParts {
  /** Makes the client, or returns the one that is made: most queries call no worker. */
  readonly client: () => Pick<LambdaClient, 'send'>;
  readonly functionName: string;
  /** Runs what the function cannot. */
  readonly here: Invoker;
  /** Default: DEFAULT_SLOTS. */
  readonly slots?: number;
  readonly clock: Clock;
}

export interface LambdaFigures extends InvokerFigures {
  invocations: number;
  refused: number;
  retried: number;
  /** Run here, by reason. */
  readonly here: { taskTooLarge: number; answerTooLarge: number; throttled: number };
}

export interface LambdaInvoker extends Invoker {
  readonly figures: LambdaFigures;
}

/** The account has no room for the call. */
class RefusedError extends Error {}

export function lambdaInvoker(parts: LambdaInvokerParts): LambdaInvoker {
  const { client, functionName, here, clock, slots = DEFAULT_SLOTS } = parts;
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

  /** Throws RefusedError, InvokerError for what another try may help, and the signal's reason. */
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
    // It ended without an answer: time or memory ran out, or it is broken.
    throw new LostCallError(`the query worker ${functionName} failed: ${text}`);
  }

  /** The same in its turn, and again as long as that may help. */
  async function steadily(payload: string, signal: AbortSignal): Promise<WorkerResult> {
    for (let [failures, refusals] = [0, 0]; ; ) {
      await width.enter(signal);
      let end: Parameters<CallWidth['leave']>[0] = 'other';
      try {
        const result = await hedge.run(signal, one => send(payload, one));
        end = 'answered';
        if (failures === 0) budget.give(SUCCESS_REFUND);
        return result;
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof RefusedError) {
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
      if (task.length > MAX_PAYLOAD_BYTES) {
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
        if (!(error instanceof RefusedError)) throw error;
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

/** A worker was lost, or the service failed: another try may be answered. */
class LostCallError extends InvokerError {}

function errorOfCall(error: unknown, functionName: string): Error {
  const { code, status } = describe(error);
  if (status === 429) return new RefusedError('the account has no room for the call', { cause: error });
  const message = `the query worker ${functionName} cannot be called: ${code ?? error}`;
  const mayPass = status === undefined || status >= 500;
  return mayPass ? new LostCallError(message, { cause: error }) : new InvokerError(message, { cause: error });
}

/** Sends nothing by itself: fit for the start of a function. Region and credentials are those of the function. */
export function createLambdaInvoker(parts: Omit<LambdaInvokerParts, 'client'>): LambdaInvoker {
  // Tries are made here, where refused calls make the width smaller.
  const { slots = DEFAULT_SLOTS } = parts;
  // One call in ten may have a second one beside it.
  return lambdaInvoker({ client: lambdaClient(1, Math.ceil(slots * 1.2)), ...parts });
}
