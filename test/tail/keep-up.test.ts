/** Messages of a tail without pushes, and its end at its maximum duration. */
import { expect, test } from '@jest/globals';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import type { TenantTailParts } from '../../shared/read/tail/tail-parts.ts';
import { TenantTail } from '../../shared/read/tail/tenant-tail.ts';
import { drive, processOver, requestFor, sharedParts, TENANT } from './support.ts';

const STEP_MS = 30_000;

async function withTail(
  more: Partial<TenantTailParts>,
  use: (parts: {
    clock: ReturnType<typeof virtualClock>;
    tail: TenantTail;
    open: (id: string, form?: 'current' | 'legacy') => Promise<{ readonly messages: readonly string[] }>;
    /** Steps of the dispatcher, for so long. */
    pass: (ms: number) => Promise<void>;
    process: ReturnType<typeof processOver>;
  }) => Promise<void>,
): Promise<void> {
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const process = processOver(shared, { seed: 1, joinMs: 0 });
  const tail = new TenantTail(TENANT, { ...process.parts, ...more });
  const step = () => drive(clock, tail.step({ readsLog: true }));
  await use({
    clock,
    tail,
    process,
    async open(id, form = 'current') {
      const connection = shared.connections.open(id);
      expect(await process.service.open({ ...requestFor(clock), form }, id)).toBeUndefined();
      tail.changed();
      await step();
      return connection;
    },
    async pass(ms) {
      for (let passed = 0; passed < ms; passed += STEP_MS) {
        await clock.advance(STEP_MS);
        await step();
        await drive(clock, tail.drained());
      }
    },
  });
  await drive(clock, tail.stop());
}

test('a connection that nothing was posted to for long gets a frame without entries', async () => {
  await withTail({ keepAliveMs: 300_000 }, async ({ open, pass, process }) => {
    const { messages } = await open('c');
    const legacy = await open('old', 'legacy');
    await pass(270_000);
    expect(messages).toEqual([]);
    await pass(30_000);
    expect([messages, legacy.messages]).toEqual([
      ['{"streams":[]}'],
      ['{"streams":[],"dropped_entries":null}'],
    ]);
    await pass(270_000);
    expect(messages).toHaveLength(1);
    // Any frame keeps it.
    await process.push(['line']);
    await pass(STEP_MS);
    expect(messages).toHaveLength(2);
    await pass(270_000);
    expect(messages).toHaveLength(2);
    await pass(30_000);
    expect(messages.slice(2)).toEqual(['{"streams":[]}']);
  });
});

test('a tail ends when it has lasted as long as it may, with the reason that clients know', async () => {
  await withTail({ maxDurationMs: 3_600_000 }, async ({ clock, tail, open, pass, process }) => {
    const first = await open('first');
    await pass(600_000);
    const second = await open('second');
    await pass(2_940_000);
    expect([first, second]).toMatchObject([{ closed: undefined }, { closed: undefined }]);
    expect(tail.nextMs()).toBeLessThanOrEqual(60_000);
    await clock.advance(tail.nextMs());
    await pass(STEP_MS);
    expect(first).toMatchObject({ closed: { code: 1011, reason: 'reached tail max duration limit' } });
    expect(second).toMatchObject({ closed: undefined });
    const left = await process.catalog.subscriptions.list(TENANT);
    expect(left.map(({ connectionId }) => connectionId)).toEqual(['second']);
  });
});
