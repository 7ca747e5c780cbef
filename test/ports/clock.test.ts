import { describe, expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';

describe('virtual clock', () => {
  test('moves only on request', async () => {
    const clock = virtualClock(1_500);
    expect([clock.nowMs(), clock.nowNs()]).toEqual([1_500, 1_500_000_000n]);
    await clock.advance(250);
    expect([clock.nowMs(), clock.nowNs()]).toEqual([1_750, 1_750_000_000n]);
  });

  test('sleepers wake in order of their time, equal ones in order of their call', async () => {
    const clock = virtualClock(0);
    const woken: string[] = [];
    const sleep = async (name: string, ms: number): Promise<void> => {
      await clock.sleep(ms);
      woken.push(`${name}@${clock.nowMs()}`);
    };
    const all = [
      sleep('c', 30),
      sleep('a', 10),
      sleep('b1', 20),
      sleep('b2', 20),
      sleep('late', 31),
      sleep('now', 0),
    ];
    await clock.advance(30);
    expect(woken).toEqual(['now@0', 'a@10', 'b1@20', 'b2@20', 'c@30']);
    expect(clock.sleepers).toBe(1);
    await clock.advance(1);
    await Promise.all(all);
    expect(woken.at(-1)).toBe('late@31');
  });

  test('a chain of sleeps inside one advance sees every instant', async () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    const chain = (async () => {
      for (let i = 0; i < 5; i++) {
        await clock.sleep(10);
        seen.push(clock.nowMs());
      }
    })();
    await clock.advance(1000);
    await chain;
    expect(seen).toEqual([10, 20, 30, 40, 50]);
    expect(clock.nowMs()).toBe(1000);
  });

  test('an aborted sleep rejects with the reason and is forgotten', async () => {
    const clock = virtualClock(0);
    const controller = new AbortController();
    const asleep = clock.sleep(10, controller.signal);
    controller.abort(new Error('client went away'));
    await expect(asleep).rejects.toThrow('client went away');
    await expect(clock.sleep(1, controller.signal)).rejects.toThrow('client went away');
    expect(clock.sleepers).toBe(0);
  });

  test('run moves time until the work is done, and passes its error on', async () => {
    const clock = virtualClock(0);
    const work = async (): Promise<string> => {
      await clock.sleep(86_400_000);
      return 'done';
    };
    expect(await clock.run(work())).toBe('done');
    expect(clock.nowMs()).toBe(86_400_000);
    const failing = clock.sleep(5).then(() => Promise.reject(new Error('broken')));
    await expect(clock.run(failing)).rejects.toThrow('broken');
  });
});

describe('system clock', () => {
  test('both readings are the same time', () => {
    const before = SYSTEM_CLOCK.nowMs();
    const now = Number(SYSTEM_CLOCK.nowNs() / 1_000_000n);
    expect(now).toBeGreaterThanOrEqual(before);
    expect(now).toBeLessThanOrEqual(SYSTEM_CLOCK.nowMs());
  });

  test('a sleep ends, and an aborted one rejects with the reason', async () => {
    await SYSTEM_CLOCK.sleep(1);
    const controller = new AbortController();
    const asleep = SYSTEM_CLOCK.sleep(2 ** 40, controller.signal);
    controller.abort(new Error('shutting down'));
    await expect(asleep).rejects.toThrow('shutting down');
    await expect(SYSTEM_CLOCK.sleep(1, controller.signal)).rejects.toThrow('shutting down');
  });
});

describe('ids', () => {
  test('hex of the requested length; seeded ones repeat, the system does not', () => {
    for (const ids of [SYSTEM_IDS, seededIds(1)]) expect(ids.randomHex(12)).toMatch(/^[0-9a-f]{24}$/);
    expect(seededIds(1).randomHex(16)).toBe(seededIds(1).randomHex(16));
    expect(seededIds(1).randomHex(16)).not.toBe(seededIds(2).randomHex(16));
    expect(SYSTEM_IDS.randomHex(16)).not.toBe(SYSTEM_IDS.randomHex(16));
    const ids = seededIds(3);
    expect(new Set(Array.from({ length: 10_000 }, () => ids.randomHex(8))).size).toBe(10_000);
  });

  test('the system never repeats bytes, whatever length is asked for', () => {
    const texts = Array.from({ length: 3_000 }, (_, i) => SYSTEM_IDS.randomHex(8 + (i % 700)));
    for (const [i, text] of texts.entries())
      expect(text).toMatch(new RegExp(`^[0-9a-f]{${2 * (8 + (i % 700))}}$`));
    const parts = texts.flatMap(text => text.match(/.{16}/g)!);
    expect(new Set(parts).size).toBe(parts.length);
  });

  test('seeded numbers fill [0, 1) evenly', () => {
    const random = seededRandom(9);
    const buckets = new Array(10).fill(0);
    for (let i = 0; i < 10_000; i++) buckets[Math.floor(random() * 10)]++;
    for (const count of buckets) expect(Math.abs(count - 1000)).toBeLessThan(150);
  });
});
