/** Choice of the thread for a push. */
import { expect, test } from '@jest/globals';
import { PushAffinity } from '../../../local/threads/push-affinity.ts';
import { type PooledThread, RolePool } from '../../../local/threads/role-pool.ts';
import { tenants } from '../../http/request.ts';

interface TestThread extends PooledThread {
  readonly index: number;
  isReady: boolean;
  running: number;
}

const startThread = (index: number): TestThread => ({
  index,
  isReady: true,
  running: 0,
  ready: async () => undefined,
  stop: async () => undefined,
});

function threadsOf(count: number) {
  const pool = new RolePool<TestThread>(count, startThread);
  pool.at(count - 1);
  const affinity = new PushAffinity(pool);
  const send = (text: string, tenant = 'a') =>
    affinity.pick({ tenants: tenants(tenant), body: Buffer.from(text) }).index;
  return { threads: pool.threads, send };
}

test('a push is sent to the least busy thread, and its repeat to the same one', () => {
  const { threads, send } = threadsOf(3);
  expect(send('one')).toBe(0);
  threads[0].running = 5;
  expect([send('two'), send('one'), send('two')]).toEqual([1, 0, 1]);
  threads[1].running = 4;
  // Another tenant, another length, another byte at either end or in the middle.
  const body = `a${'x'.repeat(1000)}b${'x'.repeat(1000)}c`;
  threads[2].running = 6;
  threads[1].running = 7;
  expect(send(body)).toBe(0);
  threads[0].running = 9;
  const others = [`${body}c`, `b${body.slice(1)}`, body.replace('b', 'y'), `${body.slice(0, -1)}d`];
  expect(others.map(other => send(other))).toEqual([2, 2, 2, 2]);
  expect([send(body, 'b'), send(body)]).toEqual([2, 0]);
});

test('skips a thread that is not ready, or far busier', () => {
  const { threads, send } = threadsOf(2);
  expect(send('one')).toBe(0);
  threads[0].running = 32;
  expect(send('one')).toBe(0);
  threads[0].running = 33;
  expect(send('one')).toBe(1);
  threads[0].running = 0;
  // It is the one that stored it last.
  expect(send('one')).toBe(1);
  threads[1].isReady = false;
  expect(send('one')).toBe(0);
});

test('with a single thread, the body of a push is not read', () => {
  const pool = new RolePool<TestThread>(1, startThread);
  const affinity = new PushAffinity(pool);
  const push = {
    tenants: tenants('a'),
    get body(): Uint8Array {
      throw new Error('the body was read');
    },
  };
  expect([affinity.pick(push).index, affinity.pick(push).index]).toEqual([0, 0]);
});
