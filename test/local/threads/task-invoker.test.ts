import { expect, test } from '@jest/globals';
import { taskInvoker } from '../../../local/threads/task-invoker.ts';
import { ClientError } from '../../../shared/base/model/errors.ts';

const signal = new AbortController().signal;
const run = (index: number, there: () => Promise<Uint8Array> = async () => Uint8Array.of(2)) =>
  taskInvoker({ threads: 3, index, here: async () => Uint8Array.of(1), there });

test.each([
  [0, 0, 1],
  [0, 1, 2],
  [0, 3, 1],
  [1, 4, 1],
  [2, 4, 2],
])('in thread %i a task of affinity %i is run by %i: 1 is this one', async (index, affinity, by) => {
  const invoker = run(index);
  expect(await invoker.invoke(new Uint8Array(1), { affinity, signal })).toEqual(Uint8Array.of(by));
  expect(invoker.slots).toBe(3);
});

test('the query gets the response or error of the other thread', async () => {
  const error = new ClientError(503, 'was restarted while it processed the request');
  const invoker = run(0, () => Promise.reject(error));
  await expect(invoker.invoke(new Uint8Array(1), { affinity: 1, signal })).rejects.toBe(error);
});
