/**
 * Lambda as the query function sees it: a client whose calls take as long as an account's would. Environments start cold, calls beyond
 * the account's concurrency are refused with 429, some workers are slow, some are lost.
 */
import type { LambdaClient } from '@aws-sdk/client-lambda';
import type { WorkerEvent, WorkerResult } from '../../../shared/aws/lambda-invoker.ts';
import type { Clock } from '../../../shared/base/ports/clock.ts';
import type { Dice } from '../dice.ts';
import { WORKER } from './figures.ts';

export interface WorkerFaults {
  readonly lostShare: number;
  readonly slowShare: number;
  readonly throttledShare: number;
}

interface LambdaParts {
  readonly clock: Clock;
  readonly dice: Dice;
  /** Maximum concurrent calls. More are refused. */
  readonly concurrency: number;
  readonly faults: WorkerFaults;
  /** Environments that are there already. Default: 0. */
  readonly warm?: number;
  /** Result of a call, and its duration, ms. */
  work(
    event: WorkerEvent,
  ): Promise<{ readonly result: WorkerResult; readonly ms: number; readonly reads: number }>;
}

export interface LambdaCounts {
  calls: number;
  refused: number;
  lost: number;
  /** Billed, of all calls. */
  workedMs: number;
  /** Reads of objects. */
  reads: number;
  mostAtOnce: number;
}

interface ModeledLambda {
  readonly client: Pick<LambdaClient, 'send'>;
  readonly counts: LambdaCounts;
}

export function modeledLambda({
  clock,
  dice,
  concurrency,
  faults,
  work,
  ...given
}: LambdaParts): ModeledLambda {
  const counts: LambdaCounts = { calls: 0, refused: 0, lost: 0, workedMs: 0, reads: 0, mostAtOnce: 0 };
  let running = 0;
  let { warm = 0 } = given;

  async function call(payload: Uint8Array, signal: AbortSignal): Promise<object> {
    counts.calls++;
    if (running >= concurrency || dice.chance(faults.throttledShare)) {
      counts.refused++;
      await clock.sleep(WORKER.callMs, signal);
      throw Object.assign(new Error('Rate Exceeded.'), { $metadata: { httpStatusCode: 429 } });
    }
    running++;
    counts.mostAtOnce = Math.max(counts.mostAtOnce, running);
    const startedMs = clock.nowMs();
    const unbilledMs = warm > 0 ? 0 : WORKER.coldStartMs - WORKER.initMs;
    const end = runToEnd(JSON.parse(Buffer.from(payload).toString()) as WorkerEvent).finally(() => {
      counts.workedMs += clock.nowMs() - startedMs - unbilledMs;
      running--;
    });
    // Lambda runs and bills a call to its end, although its caller has given it up.
    return Promise.race([end, aborted(signal)]);
  }

  async function runToEnd(event: WorkerEvent): Promise<object> {
    if (warm > 0) warm--;
    else await clock.sleep(WORKER.coldStartMs);
    await clock.sleep(WORKER.callMs);
    if (dice.chance(faults.lostShare)) {
      counts.lost++;
      if (dice.chance(0.5)) await clock.sleep(WORKER.hungMs);
      return { FunctionError: 'Unhandled', Payload: Buffer.from('{"errorType":"Runtime.ExitError"}') };
    }
    const { result, ms, reads } = await work(event);
    counts.reads += reads;
    const factor = dice.chance(faults.slowShare)
      ? WORKER.slowFactor * (0.5 + dice.next())
      : 0.9 + 0.2 * dice.next();
    await clock.sleep(ms * factor);
    warm++;
    return { Payload: Buffer.from(JSON.stringify(result)) };
  }

  const send = (
    { input }: { readonly input: { readonly Payload: Uint8Array } },
    { abortSignal }: { readonly abortSignal: AbortSignal },
  ) => call(input.Payload, abortSignal);
  return { client: { send } as unknown as Pick<LambdaClient, 'send'>, counts };
}

/** Rejects when the signal is aborted. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    else signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
