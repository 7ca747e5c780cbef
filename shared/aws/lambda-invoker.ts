/**
 * Query tasks as invocations of a function. Lambda takes and gives 6 MB, and a task travels as base64 in JSON. What is
 * larger, and what the account has no room for at the moment, is run in this process instead: slower, never wrong, and
 * without objects that somebody would have to clean up.
 */
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { type Invoker, InvokerError, type InvokerFigures } from '../base/ports/invoker.ts';
import { describe } from './errors.ts';

/** Of 6 MB, less the JSON around it, at 4/3 for base64. */
export const MAX_PAYLOAD_BYTES = 4_400_000;
/** A query asks for 32 tasks at once by default; the least that an account may run at once is 10. */
const DEFAULT_SLOTS = 32;
/** A worker that was frozen or lost: once more, in another. */
const MAX_TRIES = 2;

/** What the function is given. */
export interface WorkerEvent {
  /** A task, base64. */
  readonly task: string;
}

/** What it gives back: the answer, base64, or that there is one which is larger than it may give. */
export type WorkerResult = { readonly answer: string } | { readonly tooLarge: number };

export interface LambdaInvokerParts {
  readonly client: Pick<LambdaClient, 'send'>;
  readonly functionName: string;
  /** Runs what the function cannot. */
  readonly here: Invoker;
  readonly slots?: number;
}

export interface LambdaFigures extends InvokerFigures {
  invocations: number;
  /** Run here, by reason. */
  readonly here: { taskTooLarge: number; answerTooLarge: number; throttled: number };
}

export interface LambdaInvoker extends Invoker {
  readonly figures: LambdaFigures;
}

export function lambdaInvoker(parts: LambdaInvokerParts): LambdaInvoker {
  const { client, functionName, here, slots = DEFAULT_SLOTS } = parts;
  const figures: LambdaFigures = {
    invocations: 0,
    here: { taskTooLarge: 0, answerTooLarge: 0, throttled: 0 },
  };

  async function send(payload: string, signal: AbortSignal): Promise<WorkerResult> {
    for (let attempt = 1; ; attempt++) {
      figures.invocations++;
      const { FunctionError: failed, Payload: bytes } = await client.send(
        new InvokeCommand({
          FunctionName: functionName,
          InvocationType: 'RequestResponse',
          Payload: Buffer.from(payload),
        }),
        { abortSignal: signal },
      );
      const text = Buffer.from(bytes ?? []).toString();
      if (failed === undefined) return JSON.parse(text) as WorkerResult;
      // It ended without an answer: time or memory ran out, or it is broken.
      if (attempt === MAX_TRIES) throw new InvokerError(`the query worker ${functionName} failed: ${text}`);
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
      let result: WorkerResult;
      try {
        result = await send(JSON.stringify(event), signal);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof InvokerError) throw error;
        const { code, status } = describe(error);
        if (status !== 429) {
          throw new InvokerError(`the query worker ${functionName} cannot be called: ${code ?? error}`, {
            cause: error,
          });
        }
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

/** Sends nothing by itself: fit for the start of a function. Region and credentials are those of the function. */
export function createLambdaInvoker(functionName: string, here: Invoker): LambdaInvoker {
  return lambdaInvoker({ client: new LambdaClient({ maxAttempts: 2 }), functionName, here });
}
