import { expect, test } from '@jest/globals';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Members } from '../../shared/storage/catalog/members.ts';
import { HEARTBEAT_MS, Membership } from '../../shared/storage/catalog/membership.ts';
import { manualClock } from '../support/manual-clock.ts';

const SELF = { id: 'me', address: 'here', zone: '', components: ['querier'] };

/** A process whose writes wait for `release`, once `hold` was called. */
function createProcess() {
  const clock = manualClock(0);
  const memory = memoryTable({ clock });
  let held: Promise<void> = Promise.resolve();
  let release: () => void = () => {};
  const table: Table = {
    get: key => memory.get(key),
    query: (pk, options) => memory.query(pk, options),
    delete: (key, condition) => memory.delete(key, condition),
    transact: writes => memory.transact(writes),
    put: async (item, condition) => {
      await held;
      return await memory.put(item, condition);
    },
  };
  const members = new Members({ table });
  return {
    clock,
    members,
    membership: new Membership({ members, clock, self: SELF, log: { warn: () => {} } }),
    hold: () => {
      held = new Promise(resolve => {
        release = resolve;
      });
    },
    release: () => release(),
  };
}

test('a member that has left is not removed again when it stops', async () => {
  const { members, membership } = createProcess();
  await membership.join();
  await membership.left();
  await membership.leaving();
  expect(await members.list()).toEqual([]);
});

test('a heartbeat in flight does not restore a member that has left', async () => {
  const { clock, members, membership, hold, release } = createProcess();
  await membership.join();
  const stop = new AbortController();
  const beating = membership.keepAlive(stop.signal);
  hold();
  clock.advance(HEARTBEAT_MS);
  await new Promise(resolve => setImmediate(resolve));
  const left = membership.left();
  await new Promise(resolve => setImmediate(resolve));
  release();
  await left;
  await new Promise(resolve => setImmediate(resolve));
  expect(await members.list()).toEqual([]);
  stop.abort();
  await beating;
});
