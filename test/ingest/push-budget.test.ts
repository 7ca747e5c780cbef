/** Memory budget of pushes: which pushes are granted memory, wait, or are refused. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { type HeldBytes, PushBudget, PushMemoryError } from '../../shared/write/ingest/push-budget.ts';

const MIB = 1024 * 1024;

function budgetOf(mib: number) {
  const clock = virtualClock(0);
  const budget = new PushBudget({
    maxBytes: mib * MIB,
    sleep: (ms, signal) => clock.sleep(ms, signal),
    maxWaitMs: 100,
  });
  return { clock, budget };
}

/** Outcome of each request: granted, waiting, or refused. */
function takes() {
  const states: string[] = [];
  const take = (held: HeldBytes, mib: number): void => {
    const index = states.length;
    const granted = held.take(mib * MIB);
    states.push(granted === undefined ? 'at once' : 'waits');
    granted?.then(
      () => (states[index] = 'later'),
      error => (states[index] = error instanceof PushMemoryError ? 'refused' : String(error)),
    );
  };
  return { states, take };
}

const settled = () => new Promise(resolve => setImmediate(resolve));

describe('the memory budget of pushes', () => {
  test('is granted in full to a single push, however large it is', () => {
    const { states, take } = takes();
    const { budget } = budgetOf(100);
    const held = budget.open('a');
    take(held, 90);
    take(held, 900);
    held.release();
    held.release();
    expect(budget.figures).toEqual({ bytes: 0, waiting: 0 });
    take(budget.open('b'), 100);
    expect(states).toEqual(['at once', 'at once', 'at once']);
  });

  test('makes a push wait, and refuses it after a while with a hint', async () => {
    const { states, take } = takes();
    const { clock, budget } = budgetOf(100);
    const first = budget.open('a');
    take(first, 60);
    const second = budget.open('b');
    const third = budget.open('c');
    take(second, 60);
    take(third, 60);
    expect(budget.figures.waiting).toBe(2);
    first.release();
    await settled();
    expect(states).toEqual(['at once', 'later', 'waits']);
    await clock.advance(100);
    expect(states).toEqual(['at once', 'later', 'refused']);
    const refused = expect(budget.open('c').take(80 * MIB)).rejects.toMatchObject({
      status: 503,
      message: `memory limit for concurrent pushes exceeded (limit: ${100 * MIB} bytes, in use: ${60 * MIB}, by tenant 'c': 0); retry later`,
    });
    await clock.advance(100);
    await refused;
  });

  test('grants one tenant a quarter while another waits, and at most three quarters next to others', async () => {
    const { states, take } = takes();
    const { budget } = budgetOf(100);
    const quiet = budget.open('quiet');
    take(quiet, 1);
    const loud = [budget.open('loud'), budget.open('loud'), budget.open('loud')];
    take(loud[0], 40);
    take(loud[1], 34);
    take(loud[2], 2);
    // Less than a quarter is left: the next push waits, and until then the heavy tenant gets no more.
    const other = budget.open('other');
    take(other, 26);
    expect(states).toEqual(['at once', 'at once', 'at once', 'waits', 'waits']);
    loud[0].release();
    await settled();
    expect(states).toEqual(['at once', 'at once', 'at once', 'later', 'later']);
  });

  test('is not granted to a tenant that has a quarter while another waits, even if some is left', async () => {
    const { states, take } = takes();
    const { budget } = budgetOf(100);
    const [a, b, c] = [budget.open('a'), budget.open('b'), budget.open('c')];
    take(a, 30);
    take(c, 60);
    take(b, 20);
    take(budget.open('a'), 5);
    // A tenant that would have less than a quarter gets some of the rest.
    take(budget.open('d'), 5);
    expect(states).toEqual(['at once', 'at once', 'waits', 'waits', 'at once']);
    c.release();
    await settled();
    expect(states).toEqual(['at once', 'at once', 'later', 'later', 'at once']);
  });

  test('is granted first to the tenant with the least', async () => {
    const { states, take } = takes();
    const { budget } = budgetOf(100);
    const [a, b] = [budget.open('a'), budget.open('b')];
    take(a, 50);
    take(b, 50);
    const again = budget.open('a');
    take(again, 20);
    const newcomer = budget.open('c');
    take(newcomer, 40);
    b.release();
    await settled();
    // In order of arrival, the first would have 70 of 100.
    expect(states).toEqual(['at once', 'at once', 'waits', 'later']);
  });

  test('is granted to a small push immediately, whatever others hold', () => {
    const { budget } = budgetOf(1);
    const large = budget.open('a');
    large.take(MIB);
    const small = budget.open('b');
    expect(small.take(64 * 1024)).toBeUndefined();
    expect(small.take(1)).toBeInstanceOf(Promise);
  });

  test('is never awaited by all pushes that hold some: the last of the tenant with the most is refused', async () => {
    const { states, take } = takes();
    const { budget } = budgetOf(100);
    const [a, b, c] = [budget.open('a'), budget.open('b'), budget.open('b')];
    take(a, 40);
    take(b, 30);
    take(c, 30);
    take(a, 10);
    take(b, 10);
    take(c, 10);
    await settled();
    expect(states).toEqual(['at once', 'at once', 'at once', 'waits', 'waits', 'refused']);
    c.release();
    await settled();
    expect(states.slice(3)).toEqual(['later', 'later', 'refused']);
  });

  test('property: is never exceeded by several pushes, and is released completely', async () => {
    const action = fc.record({ push: fc.nat(5), mib: fc.integer({ min: 1, max: 60 }), ends: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async actions => {
        const { clock, budget } = budgetOf(100);
        const pushes = Array.from({ length: 6 }, (_, i) => ({
          held: budget.open(`${i % 3}`),
          bytes: 0,
          pending: undefined as Promise<void> | undefined,
        }));
        for (const { push: index, mib, ends } of actions) {
          const push = pushes[index];
          if (push.pending !== undefined) continue;
          if (ends) {
            push.held.release();
            push.bytes = 0;
          } else {
            const bytes = mib * MIB;
            const granted = push.held.take(bytes);
            if (granted === undefined) push.bytes += bytes;
            else {
              push.pending = granted.then(
                () => void (push.bytes += bytes),
                () => {
                  push.held.release();
                  push.bytes = 0;
                },
              );
              void push.pending.then(() => (push.pending = undefined));
            }
          }
          await settled();
          const held = pushes.reduce((sum, { bytes }) => sum + bytes, 0);
          expect(budget.figures.bytes).toBe(held);
          const holders = pushes.filter(({ bytes }) => bytes > 0).length;
          if (held > 100 * MIB) expect(holders).toBe(1);
        }
        await clock.advance(1000);
        for (const { held } of pushes) held.release();
        await settled();
        await clock.advance(1000);
        for (const { held } of pushes) held.release();
        expect(budget.figures).toEqual({ bytes: 0, waiting: 0 });
      }),
      { numRuns: 100 },
    );
  });
});
