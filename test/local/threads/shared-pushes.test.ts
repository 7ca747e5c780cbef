/** The memory for pushes, as several threads share it: each has a separate budget over the same counts. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  bytesOfPushes,
  forgetPushes,
  PushBoard,
  sharedPushes,
} from '../../../local/threads/shared-pushes.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { type HeldBytes, PushBudget } from '../../../shared/write/ingest/push-budget.ts';
import { PushCounts } from '../../../shared/write/ingest/push-counts.ts';

const MIB = 1024 * 1024;
/** Longer than a budget waits before it looks at the other threads again. */
const LOOKED_MS = 100;

function threadsOf(mib: number, threads: number) {
  const clock = virtualClock(0);
  const shared = sharedPushes(threads);
  const running: PushBoard[] = [];
  const start = (index: number) => {
    const board = new PushBoard(shared, index);
    running[index] = board;
    // A lost thread reports nothing any more.
    const publish: PushBoard['publish'] = own => void (running[index] === board && board.publish(own));
    return new PushBudget({
      maxBytes: mib * MIB,
      sleep: (ms, signal) => clock.sleep(ms, signal),
      maxWaitMs: 10_000,
      counts: new PushCounts({ publish, rows: () => board.rows() }),
    });
  };
  return { clock, shared, start, budgets: Array.from({ length: threads }, (_, index) => start(index)) };
}

/** State of a request for bytes. */
function take(held: HeldBytes, mib: number): { state: string } {
  const granted = held.take(mib * MIB);
  const taken = { state: granted === undefined ? 'at once' : 'waits' };
  granted?.then(
    () => (taken.state = 'later'),
    () => (taken.state = 'refused'),
  );
  return taken;
}

const settled = () => new Promise(resolve => setImmediate(resolve));

describe('pushes of several threads', () => {
  test('share one bound: a push that is alone in its thread is not alone', async () => {
    const { clock, shared, budgets } = threadsOf(100, 2);
    const first = budgets[0].open('a');
    expect(take(first, 60).state).toBe('at once');
    const second = take(budgets[1].open('b'), 60);
    expect([second.state, bytesOfPushes(shared)]).toEqual(['waits', 60 * MIB]);
    first.release();
    await clock.advance(LOOKED_MS);
    expect([second.state, bytesOfPushes(shared)]).toEqual(['later', 60 * MIB]);
  });

  test('the bound is all for one that is alone in the process', () => {
    const { budgets } = threadsOf(100, 3);
    expect(take(budgets[1].open('a'), 400).state).toBe('at once');
    expect(take(budgets[2].open('a'), 1).state).toBe('waits');
  });

  test('a tenant has a quarter in all threads together while another one waits in one of them', () => {
    const { budgets } = threadsOf(100, 3);
    const states = [
      take(budgets[0].open('loud'), 20),
      take(budgets[1].open('loud'), 20),
      take(budgets[1].open('quiet'), 2),
      take(budgets[2].open('other'), 70),
      take(budgets[2].open('loud'), 10),
    ].map(({ state }) => state);
    expect(states).toEqual(['at once', 'at once', 'at once', 'waits', 'waits']);
    expect(take(budgets[0].open('third'), 20).state).toBe('at once');
  });

  test('a small push is stored immediately, whatever other threads hold', () => {
    const { budgets } = threadsOf(1, 2);
    take(budgets[0].open('a'), 10);
    expect(budgets[1].open('b').take(64 * 1024)).toBeUndefined();
  });

  test('bytes of a lost thread are available to the others, and the next thread starts with none', async () => {
    const { clock, shared, start, budgets } = threadsOf(100, 2);
    take(budgets[1].open('a'), 90);
    const waiting = take(budgets[0].open('b'), 60);
    expect(waiting.state).toBe('waits');
    forgetPushes(shared, 1);
    await clock.advance(LOOKED_MS);
    expect([waiting.state, bytesOfPushes(shared)]).toEqual(['later', 60 * MIB]);
    expect(take(start(1).open('a'), 25).state).toBe('at once');
  });

  test('if all wait in all threads, one of the tenant that holds most is refused, in one thread', async () => {
    const { clock, budgets } = threadsOf(100, 3);
    const light = budgets[0].open('light');
    const heavy = [budgets[1].open('heavy'), budgets[2].open('heavy')];
    take(light, 30);
    for (const held of heavy) take(held, 35);
    const wanted = [light, ...heavy].map(held => take(held, 30));
    await clock.advance(LOOKED_MS);
    expect(wanted.map(({ state }) => state)).toEqual(['waits', 'refused', 'waits']);
    heavy[0].release();
    await clock.advance(LOOKED_MS);
    expect(wanted[0].state).toBe('later');
  });

  test('counts more tenants than rows nevertheless', () => {
    const { shared, budgets } = threadsOf(100, 2);
    const held = Array.from({ length: 300 }, (_, i) => budgets[0].open(`tenant-${i}`));
    for (const one of held) one.take(64 * 1024);
    expect(bytesOfPushes(shared)).toBe(300 * 64 * 1024);
    expect(take(budgets[1].open('b'), 90).state).toBe('waits');
    for (const one of held) one.release();
    expect(bytesOfPushes(shared)).toBe(0);
  });

  test('property: never exceed the bound together, and all of it comes back', async () => {
    const action = fc.record({
      push: fc.nat(8),
      mib: fc.integer({ min: 1, max: 60 }),
      does: fc.constantFrom('take', 'take', 'take', 'end', 'lose its thread'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async actions => {
        const { clock, shared, start, budgets } = threadsOf(100, 3);
        const open = (place: number) => ({
          held: budgets[place % 3].open(`${place % 4}`),
          bytes: 0,
          isWaiting: false,
        });
        const pushes = Array.from({ length: 9 }, (_, place) => open(place));
        for (const { push: place, mib, does } of actions) {
          const push = pushes[place];
          if (does === 'lose its thread') {
            forgetPushes(shared, place % 3);
            budgets[place % 3] = start(place % 3);
            for (let other = place % 3; other < 9; other += 3) pushes[other] = open(other);
          } else if (does === 'end' && !push.isWaiting) {
            push.held.release();
            push.bytes = 0;
          } else if (!push.isWaiting) {
            const granted = push.held.take(mib * MIB);
            if (granted === undefined) push.bytes += mib * MIB;
            else {
              push.isWaiting = true;
              const isOver = (bytes: number) => {
                push.isWaiting = false;
                push.bytes = bytes;
              };
              granted.then(
                () => isOver(push.bytes + mib * MIB),
                () => {
                  push.held.release();
                  isOver(0);
                },
              );
            }
          }
          await clock.advance(LOOKED_MS);
          await settled();
          const held = pushes.reduce((sum, { bytes }) => sum + bytes, 0);
          expect(bytesOfPushes(shared)).toBe(held);
          if (held > 100 * MIB) expect(pushes.filter(({ bytes }) => bytes > 0)).toHaveLength(1);
        }
        for (let round = 0; round < 9; round++) {
          for (const { held, isWaiting } of pushes) if (!isWaiting) held.release();
          await clock.advance(LOOKED_MS);
          await settled();
        }
        expect(bytesOfPushes(shared)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });
});
