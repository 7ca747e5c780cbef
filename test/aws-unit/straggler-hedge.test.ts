import { describe, expect, test } from '@jest/globals';
import { StragglerHedge } from '../../shared/aws/straggler-hedge.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';

const forever = new AbortController().signal;

describe('calls that take long', () => {
  /** Calls that take these times, side by side; the second call of one takes the time behind it. */
  async function timesOf(...list: readonly (readonly [firstMs: number, secondMs: number])[]) {
    const clock = virtualClock(0);
    const hedge = new StragglerHedge(clock);
    const calls = list.map(() => 0);
    const ended: number[] = [];
    const all = list.map(async ([firstMs, secondMs], i) => {
      const answer = await hedge.run(forever, async signal => {
        const number = ++calls[i];
        await clock.sleep(number === 1 ? firstMs : secondMs, signal);
        return number;
      });
      ended[i] = clock.nowMs();
      return answer;
    });
    const answers = await clock.run(Promise.all(all));
    return { hedge, calls, ended, answers };
  }

  test('are started again, also those that began before any time was known', async () => {
    const usual = Array.from({ length: 20 }, () => [300, 300] as const);
    const { calls, ended, answers, hedge } = await timesOf(...usual, [20_000, 300]);
    expect(calls).toEqual([...usual.map(() => 1), 2]);
    expect(answers.at(-1)).toBe(2);
    expect(ended.at(-1)).toBeLessThan(1_500);
    expect(hedge.figures).toEqual({ hedges: 1, won: 1 });
  });

  test('are late compared to response times, which exclude refused calls', async () => {
    const clock = virtualClock(0);
    const hedge = new StragglerHedge(clock);
    const refused = Array.from({ length: 20 }, () =>
      hedge.run(forever, async () => Promise.reject(new Error('refused'))).catch(() => undefined),
    );
    await Promise.all(refused);
    const calls = Array.from({ length: 20 }, () => hedge.run(forever, signal => clock.sleep(900, signal)));
    await clock.run(Promise.all(calls));
    expect(hedge.figures.hedges).toBe(0);
  });

  test('keep their answer if it comes first', async () => {
    const usual = Array.from({ length: 20 }, () => [300, 300] as const);
    const { answers } = await timesOf(...usual, [900, 5_000]);
    expect(answers.at(-1)).toBe(1);
  });

  test('are at most one in ten and a few, so a slow service does not get twice the load', async () => {
    const usual = Array.from({ length: 20 }, () => [300, 300] as const);
    const slow = Array.from({ length: 20 }, () => [30_000, 30_000] as const);
    const { hedge } = await timesOf(...usual, ...slow);
    expect(hedge.figures.hedges).toBeLessThanOrEqual(8);
  });

  test('are not started again if many are late, so that single stragglers among them are', async () => {
    const clock = virtualClock(0);
    const hedge = new StragglerHedge(clock);
    const calls = Array.from({ length: 40 }, () => 0);
    const round = (list: readonly number[]) =>
      clock.run(
        Promise.all(
          list.map((firstMs, i) =>
            hedge.run(forever, signal => clock.sleep(++calls[i] === 1 ? firstMs : 3000, signal)),
          ),
        ),
      );
    // Short calls, and then long ones: all of them look late.
    await round(Array.from({ length: 40 }, () => 600));
    calls.fill(0);
    const startedMs = clock.nowMs();
    await round(Array.from({ length: 40 }, (_, i) => (i === 7 ? 60_000 : 3000)));
    expect(calls.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(40 + 6);
    expect(calls[7]).toBe(2);
    expect(clock.nowMs() - startedMs).toBeLessThan(12_000);
  });

  test('are started once more if the second call is refused', async () => {
    const clock = virtualClock(0);
    const hedge = new StragglerHedge(clock);
    const usual = Array.from({ length: 20 }, () => hedge.run(forever, signal => clock.sleep(300, signal)));
    let calls = 0;
    const slow = hedge.run(forever, async signal => {
      if (++calls === 2) throw new Error('refused');
      await clock.sleep(calls === 1 ? 20_000 : 300, signal);
      return calls;
    });
    await clock.run(Promise.all([...usual, slow]));
    expect(await slow).toBe(3);
    expect(clock.nowMs()).toBeLessThan(2_000);
  });

  test('throw the error of the first call', async () => {
    const hedge = new StragglerHedge(virtualClock(0));
    await expect(hedge.run(forever, async () => Promise.reject(new Error('broken')))).rejects.toThrow(
      'broken',
    );
  });
});
