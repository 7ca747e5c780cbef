/**
 * Invokes the dispatcher of live tails in an account, asynchronously and with the tenant's name. A dispatcher
 * run continues for a while, so a process invokes it for a tenant at most once per second. If an invocation
 * fails, the next scheduled run picks up the tenant.
 */
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { LruCache } from '../base/model/lru.ts';
import type { Clock } from '../base/ports/clock.ts';
import type { TailLog } from '../storage/catalog/tail-log.ts';

/**
 * Shorter than the time that a dispatcher run waits for more commits (functions/tail-dispatch-handler.ts).
 */
const WAKE_EVERY_MS = 1_000;
const REMEMBERED_TENANTS = 10_000;
/**
 * Maximum time that a push response waits for the invocation to be sent. A function is frozen after its
 * response.
 */
const SETTLE_MS = 100;
const TIMEOUT_MS = 2_000;

interface WakerLog {
  warn(fields: object, message: string): void;
}

export interface TailWaker {
  wake(tenant: string): void;
  /** Resolves when the running calls have ended, or after SETTLE_MS. Never rejects. */
  settled(): Promise<void>;
  /** Wakes the dispatcher from now on when this process commits for tenants with tails. */
  follow(log: TailLog): void;
}

interface TailWakerOptions {
  /** Returns the client, created on first use: a process that invokes nothing needs none. */
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
