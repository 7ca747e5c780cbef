/** Calls to a thread, whatever becomes of it. */
import { afterEach, expect, test } from '@jest/globals';
import { ThreadCalls, type ThreadHub } from '../../local/thread-calls.ts';

interface Call {
  readonly does: 'echo' | 'end' | 'fail' | 'fill' | 'tellCancelled' | 'ask' | 'nothing';
  readonly what?: unknown;
  readonly failure?: unknown;
}

const forever = new AbortController().signal;
let calls: ThreadCalls<Call, unknown> | undefined;

afterEach(() => calls?.close());

function start(hub?: ThreadHub): ThreadCalls<Call, unknown> {
  const entry = new URL('./calling-thread.mjs', import.meta.url);
  calls = new ThreadCalls({ entry, data: 'given', maxHeapMb: 64, ...(hub && { hub }) });
  return calls;
}

test('several calls at once go to one thread, started with the first', async () => {
  const thread = start();
  expect(thread.starts).toBe(0);
  const all = await Promise.all([1n, 'two', [3]].map(what => thread.call({ does: 'echo', what }, forever)));
  expect(all).toEqual([
    [1n, 'given'],
    ['two', 'given'],
    [[3], 'given'],
  ]);
  expect([thread.starts, thread.calls, thread.running]).toEqual([1, 3, 0]);
});

test('mistakes of the client keep their status and words', async () => {
  const failure = { status: 422, name: 'ClientError', message: 'no' };
  await expect(start().call({ does: 'fail', failure }, forever)).rejects.toMatchObject({
    status: 422,
    message: 'no',
  });
});

test('a thread that ends is replaced, and its calls are tried once more, one after the other', async () => {
  const thread = start();
  const first = thread.call({ does: 'end' }, forever);
  const second = thread.call({ does: 'echo', what: 2 }, forever);
  await expect(first).rejects.toThrow('a thread ended with code 3');
  expect(await second).toEqual([2, 'given']);
  expect(await thread.call({ does: 'echo', what: 3 }, forever)).toEqual([3, 'given']);
  // One for both, one for the first alone, one for the second and all behind it.
  expect(thread.starts).toBe(3);
});

test('one that needs more memory than the thread has is told so, and those beside it are answered', async () => {
  const thread = start();
  const fills = thread.call({ does: 'fill' }, forever);
  const beside = thread.call({ does: 'echo', what: 'beside' }, forever);
  await expect(fills).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('more memory than there is'),
  });
  expect(await beside).toEqual(['beside', 'given']);
  expect(await thread.call({ does: 'echo', what: 'after' }, forever)).toEqual(['after', 'given']);
});

test('who aborts is free at once, and the thread hears of it', async () => {
  const thread = start();
  const gone = new AbortController();
  const waits = thread.call({ does: 'nothing' }, gone.signal);
  expect(thread.running).toBe(1);
  const reason = new Error('the client went away');
  gone.abort(reason);
  await expect(waits).rejects.toBe(reason);
  expect(await thread.call({ does: 'tellCancelled' }, forever)).toBe(1);
  await expect(thread.call({ does: 'echo' }, gone.signal)).rejects.toBe(reason);
});

test('closed, it ends what is under way and takes nothing more', async () => {
  const thread = start();
  const waits = thread.call({ does: 'nothing' }, forever);
  const closing = thread.close();
  await expect(waits).rejects.toThrow('stopped');
  await closing;
  await expect(thread.call({ does: 'echo' }, forever)).rejects.toThrow('stopped');
  expect(thread.starts).toBe(1);
});

test('the thread asks and tells meanwhile, and hears why it gets no reply', async () => {
  const heard: unknown[] = [];
  const thread = start({
    reply: async question => {
      if (question === 'refused') throw new Error('not this');
      return [question];
    },
    hear: told => void heard.push(told),
  });
  const asks = ['one', 'refused', 'two'].map(what => thread.call({ does: 'ask', what }, forever));
  expect(await Promise.all(asks)).toEqual([['one'], 'not this', ['two']]);
  expect(heard).toEqual(['one', 'refused', 'two']);
});

test('called once, it is not tried again', async () => {
  const thread = start();
  await expect(thread.callOnce({ does: 'end' }, forever)).rejects.toThrow('a thread ended with code 3');
  expect([thread.starts, thread.calls]).toEqual([1, 1]);
});
