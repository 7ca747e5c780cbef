import { describe, expect, test } from '@jest/globals';
import { type FaultOptions, InjectedFaultError } from '../../shared/base/ports/faulty/faults.ts';
import { faultyObjectStore } from '../../shared/base/ports/faulty/object-store.ts';
import { faultyTable } from '../../shared/base/ports/faulty/table.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { ConditionFailedError } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';

type Chances = Omit<FaultOptions, 'clock'>;

/** Outcomes of 200 puts in order, and the stored objects afterwards. */
async function runPuts(
  chances: Chances,
): Promise<{ outcomes: string[]; stored: string[]; log: unknown[]; tookMs: number }> {
  const clock = virtualClock(0);
  const inner = memoryObjectStore();
  const store = faultyObjectStore(inner, { ...chances, clock });
  const outcomes: string[] = [];
  await clock.run(
    (async () => {
      for (let i = 0; i < 200; i++) {
        const put = store.putIfAbsent(`k${i}`, new Uint8Array(1));
        outcomes.push(await put.then(String, error => (error as Error).name));
      }
    })(),
  );
  const stored = (await inner.list('')).objects.map(object => object.key);
  return { outcomes, stored, log: [...store.faults.log], tookMs: clock.nowMs() };
}

describe('faulty object store', () => {
  test('the same seed gives the same faults, another seed others', async () => {
    const chances = { errorBefore: 0.1, errorAfter: 0.1, throttle: 0.1, delayMs: [1, 50] } as const;
    const first = await runPuts({ seed: 1, ...chances });
    expect(await runPuts({ seed: 1, ...chances })).toEqual(first);
    expect((await runPuts({ seed: 2, ...chances })).outcomes).not.toEqual(first.outcomes);
    expect(new Set(first.outcomes)).toEqual(new Set(['true', 'InjectedFaultError', 'ThrottledError']));
  });

  test('each kind of fault has the effect of its name, and is logged', async () => {
    const cases: [Partial<Chances>, string, number][] = [
      [{}, 'true', 200],
      [{ errorBefore: 1 }, 'InjectedFaultError', 0],
      [{ errorAfter: 1 }, 'InjectedFaultError', 200],
      [{ throttle: 1 }, 'ThrottledError', 0],
    ];
    for (const [chances, outcome, stored] of cases) {
      const run = await runPuts({ seed: 3, ...chances });
      expect(new Set(run.outcomes)).toEqual(new Set([outcome]));
      expect(run.stored).toHaveLength(stored);
      expect(run.log).toHaveLength(outcome === 'true' ? 0 : 200);
    }
    const { log } = await runPuts({ seed: 3, errorAfter: 1 });
    expect(log[7]).toEqual({ call: 7, operation: 'putIfAbsent', target: 'k7', kind: 'error-after' });
  });

  test('delays take their time on the clock', async () => {
    const { tookMs } = await runPuts({ seed: 4, delayMs: [10, 20] });
    expect(tookMs).toBeGreaterThanOrEqual(200 * 10);
    expect(tookMs).toBeLessThanOrEqual(200 * 20);
  });

  test('a probability is close to the observed frequency', async () => {
    const { log } = await runPuts({ seed: 5, errorBefore: 0.3 });
    expect(log.length).toBeGreaterThan(35);
    expect(log.length).toBeLessThan(85);
  });

  test('switched off, every call passes', async () => {
    const clock = virtualClock();
    const store = faultyObjectStore(memoryObjectStore(), { seed: 1, clock, errorBefore: 1, delayMs: [5, 5] });
    store.faults.enabled = false;
    expect(await store.putIfAbsent('a/b', Buffer.from('0123'))).toBe(true);
    expect(String(await store.get('a/b'))).toBe('0123');
    expect(String(await store.getRange('a/b', 1, 3))).toBe('12');
    expect(String((await store.getTail('a/b', 1)).bytes)).toBe('3');
    expect(await store.head('a/b')).toEqual({ key: 'a/b', size: 4 });
    expect((await store.list('a/', { limit: 1 })).objects).toHaveLength(1);
    await store.delete('a/b');
    expect([store.faults.calls, store.faults.log]).toEqual([7, []]);
    store.faults.enabled = true;
    const get = store.get('a/b').catch((error: unknown) => error);
    expect(await clock.run(get)).toBeInstanceOf(InjectedFaultError);
  });
});

describe('faulty table', () => {
  test('errors of the table itself pass through; a write may have happened in spite of an error', async () => {
    const clock = virtualClock();
    const inner = memoryTable({ clock });
    const table = faultyTable(inner, { seed: 1, clock, errorAfter: 1 });
    const key = { pk: 'p', sk: 's' };
    const item = { ...key, version: 1, body: new Uint8Array(1) };
    await expect(table.put(item, { kind: 'present' })).rejects.toThrow(ConditionFailedError);
    await expect(table.put(item, { kind: 'absent' })).rejects.toMatchObject({ happened: true });
    expect((await inner.get(key))?.version).toBe(1);
    await expect(table.transact([{ kind: 'delete', key }])).rejects.toThrow(InjectedFaultError);
    expect(await inner.get(key)).toBeUndefined();
    expect(table.faults.log.map(fault => [fault.operation, fault.target])).toEqual([
      ['put', 'p / s'],
      ['transact', 'p / s'],
    ]);
  });

  test('every call can be refused', async () => {
    const clock = virtualClock();
    const table = faultyTable(memoryTable({ clock }), { seed: 1, clock, throttle: 1 });
    const key = { pk: 'p', sk: 's' };
    const calls = [
      table.get(key),
      table.query('p'),
      table.put({ ...key, version: 0, body: new Uint8Array(0) }),
      table.delete(key),
      table.transact([]),
    ];
    for (const call of calls) await expect(call).rejects.toThrow(ThrottledError);
  });

  test('increments that retry on every error end at or above their number, never below', async () => {
    for (let seed = 0; seed < 20; seed++) {
      const clock = virtualClock();
      const inner = memoryTable({ clock });
      const key = { pk: 'p', sk: 's' };
      await inner.put({ ...key, version: 0, body: new Uint8Array(0) });
      const table = faultyTable(inner, {
        seed,
        clock,
        errorBefore: 0.1,
        errorAfter: 0.1,
        throttle: 0.1,
        delayMs: [0, 9],
      });
      const increment = async (): Promise<void> => {
        for (;;) {
          try {
            const version = (await table.get(key))!.version;
            const item = { ...key, version: version + 1, body: new Uint8Array(0) };
            await table.put(item, { kind: 'version', version });
            return;
          } catch {
            await clock.sleep(1);
          }
        }
      };
      await clock.run(Promise.all(Array.from({ length: 5 }, increment)));
      const doubled = table.faults.log.filter(
        ({ kind, operation }) => kind === 'error-after' && operation === 'put',
      );
      expect((await inner.get(key))!.version).toBe(5 + doubled.length);
    }
  });
});
