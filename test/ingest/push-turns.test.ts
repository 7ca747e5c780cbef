import { expect, test } from '@jest/globals';
import { PushTurns } from '../../shared/ingest/push-turns.ts';
import { virtualClock } from '../../shared/ports/memory/clock.ts';
import { TenantLoad } from '../../shared/query/tenant-load.ts';

/** Pieces of pushes that take some ms each: time is what they worked and what they slept. */
function pushing() {
  const clock = virtualClock(0);
  let workedMs = 0;
  const nowMs = () => clock.nowMs() + workedMs;
  const load = new TenantLoad({ nowMs });
  const turns = new PushTurns({ load, sleep: (ms, by) => clock.sleep(ms, by) });
  const order: string[] = [];
  const push = async (tenant: string, pieces: number, pieceMs: number) => {
    for (let piece = 0; piece < pieces; piece++) {
      await turns.take(tenant);
      const startedMs = turns.nowMs();
      order.push(tenant);
      workedMs += pieceMs;
      turns.note(startedMs, tenant);
    }
  };
  return { clock, load, turns, push, order };
}

test('alone nobody waits', async () => {
  const { clock, load, push } = pushing();
  load.begin('loud');
  await push('loud', 100, 5);
  expect(clock.nowMs()).toBe(0);
});

test('pushes of who works much wait for a request of who works little, and go on when it is answered', async () => {
  const { clock, load, turns, push, order } = pushing();
  await push('loud', 30, 10);
  const end = load.begin('quiet');
  const before = order.length;
  const pushes = Promise.all([push('loud', 1, 10), push('loud', 1, 10)]);
  await clock.advance(6);
  expect(order.length).toBe(before);
  await turns.take('quiet');
  end();
  await clock.run(pushes);
  expect(order.length).toBe(before + 2);
  expect(clock.nowMs()).toBe(6);
});

test('they wait for twice as long as they work, and come one at a time', async () => {
  const { clock, load, push } = pushing();
  await push('loud', 30, 10);
  load.begin('quiet');
  await clock.run(Promise.all([push('loud', 1, 10), push('loud', 1, 10)]));
  expect(clock.nowMs()).toBe(40);
});

test('without a load there is a turn for others, and no more', async () => {
  const turns = new PushTurns();
  let hasHadTurn = false;
  setImmediate(() => {
    hasHadTurn = true;
  });
  await turns.take('loud');
  expect(hasHadTurn).toBe(true);
});
