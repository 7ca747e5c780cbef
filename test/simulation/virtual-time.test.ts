import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Dice } from './dice.ts';
import { VirtualTime } from './virtual-time.ts';

function wakeOrder(seed: number): Promise<string[]> {
  const time = new VirtualTime(1000, new Dice(seed));
  const order: string[] = [];
  const sleeper = async (name: string, ms: number) => {
    await time.sleep(ms);
    order.push(`${name}@${time.nowMs()}`);
  };
  const names = ['a', 'b', 'c', 'd', 'e'];
  const all = Promise.all([...names.map(name => sleeper(name, 5)), sleeper('late', 6), sleeper('soon', 1)]);
  return time.run(all.then(() => order));
}

test('sleepers wake in order of time, and equal ones in the order of the seed', async () => {
  const orders: string[][] = [];
  for (const seed of [1, 1, 2, 3, 4]) orders.push(await wakeOrder(seed));
  expect(orders[0]).toEqual(orders[1]);
  expect(new Set(orders.map(order => order.join())).size).toBeGreaterThan(2);
  for (const order of orders) {
    expect([order[0], order.at(-1)]).toEqual(['soon@1001', 'late@1006']);
    expect(order.slice(1, -1).sort()).toEqual(['a@1005', 'b@1005', 'c@1005', 'd@1005', 'e@1005']);
  }
});

test('time does not move while work waits for the event loop', async () => {
  const time = new VirtualTime(0, new Dice(1));
  const seen: number[] = [];
  const busy = async () => {
    await time.sleep(1);
    for (let i = 0; i < 50; i++) await nextTurn();
    seen.push(time.nowMs());
  };
  await time.run(Promise.all([busy(), time.sleep(2)]));
  expect(seen).toEqual([1]);
});

test('work that waits for nothing that can come is reported', async () => {
  const time = new VirtualTime(0, new Dice(1));
  await expect(time.run(new Promise(() => undefined))).rejects.toThrow('requests-end');
});

test('an aborted sleep rejects with the reason, and its time passes without it', async () => {
  const time = new VirtualTime(0, new Dice(1));
  const controller = new AbortController();
  const asleep = time.sleep(100, controller.signal);
  controller.abort(new Error('gone'));
  await expect(asleep).rejects.toThrow('gone');
  await time.drain();
  expect(time.nowMs()).toBe(0);
});
