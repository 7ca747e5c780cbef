/** A table that shows transactions half way is a valid table; and it does show them. */
import { expect, test } from '@jest/globals';
import { itemByItemTable } from '../../shared/base/ports/faulty/item-by-item.ts';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Item, Write } from '../../shared/base/ports/table.ts';
import { manualClock } from '../support/manual-clock.ts';
import { tableContract } from './table.contract.ts';

const item = (sk: string, version = 0): Item => ({ pk: 'p', sk, version, body: new Uint8Array(0) });
const put = (sk: string): Write => ({ kind: 'put', item: item(sk) });

tableContract('item by item', async clock => ({
  table: itemByItemTable(memoryTable({ clock }), { random: seededRandom(1), pause: async () => undefined }),
}));

/** Query results while a transaction is applied, and the table afterwards. */
async function watched(seed: number, writes: readonly Write[]) {
  const inner = memoryTable({ clock: manualClock() });
  const seen: string[] = [];
  const pause = async () => {
    seen.push((await inner.query('p')).items.map(({ sk }) => sk).join(''));
  };
  await inner.put(item('x'));
  const table = itemByItemTable(inner, { random: seededRandom(seed), pause });
  await table.transact(writes);
  return { seen, table };
}

test('queries see every part of a transaction, in every order', async () => {
  const writes: Write[] = [put('a'), put('b'), { kind: 'delete', key: { pk: 'p', sk: 'x' } }];
  const orders = new Set<string>();
  for (let seed = 0; seed < 60; seed++) {
    const { seen, table } = await watched(seed, writes);
    orders.add(seen.join(' '));
    expect((await table.query('p')).items.map(({ sk }) => sk)).toEqual(['a', 'b']);
  }
  // An order is visible as the state before each of the three items.
  expect([...orders].sort()).toEqual(['x  a', 'x  b', 'x ax a', 'x ax abx', 'x bx abx', 'x bx b']);
});

test('a condition that fails lets nothing be seen', async () => {
  const writes: Write[] = [put('a'), { kind: 'put', item: item('x'), condition: { kind: 'absent' } }];
  await expect(watched(1, writes)).rejects.toMatchObject({ name: 'ConditionFailedError', index: 1 });
});

test('writes of its keys wait for its end, those that it only checks included', async () => {
  const inner = memoryTable({ clock: manualClock() });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const table = itemByItemTable(inner, { random: seededRandom(3), pause: () => released });
  await inner.put(item('lease', 7));
  const order: string[] = [];
  const first = table
    .transact([put('a'), { kind: 'check', key: item('lease'), condition: { kind: 'version', version: 7 } }])
    .then(() => order.push('transaction'));
  const second = table.put(item('lease', 8)).then(() => order.push('lease'));
  const third = table.transact([put('a'), put('b')]).then(() => order.push('next'));
  await table.put(item('c'));
  expect(order).toEqual([]);
  release();
  await Promise.all([first, second, third]);
  expect(order[0]).toBe('transaction');
  expect((await table.get(item('lease')))?.version).toBe(8);
});
