/**
 * Calls the dispatcher of tails in an account: an asynchronous invocation with the tenant's name. It goes on by itself for a
 * while, so a process calls it for a tenant once a second at most; what no call comes through for, the schedule makes good.
 */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { LruCache } from '../base/model/lru.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { TailLog } from '../storage/catalog/tail-log.ts';

/** Shorter than a run of the dispatcher waits for more (functions/tail-dispatch-handler.ts). */
const WAKE_EVERY_MS = 1_000;
const REMEMBERED_TENANTS = 10_000;
/** An answer to a push waits so long at most for the call to be on its way: nothing runs once it is given. */
const SETTLE_MS = 100;
const TIMEOUT_MS = 2_000;

export interface WakerLog {
  warn(fields: object, message: string): void;
}

export interface TailWaker {
  wake(tenant: string): void;
  /** Resolves when the calls under way are, or SETTLE_MS have passed. Never rejects. */
  settled(): Promise<void>;
  /** From now on what this process commits for tenants with tails wakes the dispatcher. */
  follow(log: TailLog): void;
}

export interface TailWakerOptions {
  /** Makes the client, or returns the one that is made: a process that calls nothing needs none. */
  readonly client: () => Pick<LambdaClient, 'send'>;
  readonly functionName: string;
  readonly clock: Clock;
  readonly log: WakerLog;
}

export function tailWaker({ client, functionName, clock, log }: TailWakerOptions): TailWaker {
  const wokenMs = new LruCache<string, number>(REMEMBERED_TENANTS);
  const running = new Set<Promise<void>>();

  async function invoke(tenant: string): Promise<void> {
    const command = new InvokeCommand({
      FunctionName: functionName,
      InvocationType: 'Event',
      Payload: Buffer.from(JSON.stringify({ tenant })),
    });
    try {
      await client().send(command, { abortSignal: AbortSignal.timeout(TIMEOUT_MS) });
    } catch (error) {
      log.warn({ tenant, err: error }, 'tail dispatcher invocation failed; the next scheduled run retries');
    }
  }

  function wake(tenant: string): void {
    const nowMs = clock.nowMs();
    if (Math.abs(nowMs - (wokenMs.get(tenant) ?? -Infinity)) < WAKE_EVERY_MS) return;
    wokenMs.set(tenant, nowMs);
    const call = invoke(tenant).finally(() => running.delete(call));
    running.add(call);
  }

  return {
    wake,
    async settled() {
      if (running.size === 0) return;
      const done = new AbortController();
      const late = clock.sleep(SETTLE_MS, done.signal).catch(() => undefined);
      await Promise.race([Promise.all(running), late]);
      done.abort();
    },
    follow(tailLog) {
      tailLog.listen(chunks => {
        for (const { record } of chunks) wake(record.tenant);
      });
    },
  };
}
