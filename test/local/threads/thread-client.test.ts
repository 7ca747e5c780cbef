/** One thread and its starter, whatever becomes of either. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { ThreadClient, type ThreadOptions } from '../../../local/threads/thread-client.ts';
import { ClientError, CorruptionError, TooLargeError } from '../../../shared/base/model/errors.ts';
import { ConditionFailedError } from '../../../shared/base/ports/table.ts';
import { ThrottledError } from '../../../shared/base/ports/throttled.ts';
import { until } from '../../support/until.ts';
import type { TestCall, ThreadData } from './support/thread.ts';

type TestThread = ThreadClient<TestCall, unknown>;

const ENTRY = new URL('./support/thread.ts', import.meta.url);
const threads: TestThread[] = [];

afterEach(async () => {
  // A thread that hangs is not waited for.
  for (const thread of threads.splice(0)) {
    const stopped = thread.stop();
    await thread.terminate();
    await stopped;
  }
});

function start(options: Partial<ThreadOptions> & { readonly start?: ThreadData['start'] } = {}): TestThread {
  const { start: how, ...rest } = options;
  let number = 0;
  const thread: TestThread = new ThreadClient({
    name: 'test-0',
    entry: ENTRY,
    data: (): ThreadData => ({ start: how, number: ++number }),
    maxHeapMb: 64,
    ...rest,
  });
  threads.push(thread);
  return thread;
}

const echo = (thread: TestThread, what: unknown) => thread.call({ does: 'echo', what });
/** Rejections that a test looks at later. */
const settled = <T>(promise: Promise<T>): Promise<T | Error> => promise.catch((error: Error) => error);

describe('calls', () => {
  test('are answered each with its own answer, also those made before the thread is ready', async () => {
    const thread = start();
    expect(thread.isReady).toBe(false);
    const all = await Promise.all([1n, 'two', [3]].map(what => echo(thread, what)));
    expect(all).toEqual([
      [1n, 1],
      ['two', 1],
      [[3], 1],
    ]);
    expect([thread.isReady, thread.starts, thread.running]).toEqual([true, 1, 0]);
  });

  test.each<[Extract<TestCall, { does: 'fails' }>['error'], new (...args: never[]) => Error, object]>([
    ['client', ClientError, { status: 422, message: 'no' }],
    ['tooLarge', TooLargeError, { status: 413, message: 'too much' }],
    ['corrupt', CorruptionError, { message: 'chunk x: broken' }],
    ['throttled', ThrottledError, { message: 'later' }],
    ['condition', ConditionFailedError, { index: 3 }],
    ['caused', Error, { message: 'outer', cause: expect.any(CorruptionError) }],
    ['text', Error, { message: 'only text' }],
  ])('a call that fails keeps the class and the words of the error: %s', async (error, kind, expected) => {
    const failed = await settled(start().call({ does: 'fails', error }));
    expect(failed).toBeInstanceOf(kind);
    expect(failed).toMatchObject(expected);
  });

  test('buffers that are moved are not copied, in either direction', async () => {
    const thread = start();
    const bytes = new Uint8Array(100_000).fill(1);
    const { buffer } = bytes;
    const answer = thread.call({ does: 'moves', bytes }, { moved: [buffer] });
    expect(buffer.byteLength).toBe(0);
    expect(await answer).toEqual(new Uint8Array(100_000).fill(7));
  });

  test('shared memory is seen by both', async () => {
    const bytes = new Uint8Array(new SharedArrayBuffer(4)).fill(9);
    const [seen] = (await echo(start(), bytes)) as [Uint8Array];
    bytes[0] = 1;
    expect([...seen]).toEqual([1, 9, 9, 9]);
  });

  test('a call that cannot be sent or answered is rejected and leaves nothing behind', async () => {
    const thread = start();
    await expect(echo(thread, () => undefined)).rejects.toThrow('could not be cloned');
    await expect(thread.call({ does: 'unclonable' })).rejects.toThrow('could not be cloned');
    expect(thread.running).toBe(0);
    expect(await echo(thread, 1)).toEqual([1, 1]);
  });
});

describe('a call that is canceled', () => {
  test('rejects with the reason when the thread has released it', async () => {
    const thread = start();
    const leaving = new AbortController();
    const waits = settled(thread.call({ does: 'waits' }, { signal: leaving.signal }));
    await echo(thread, 1);
    const reason = new Error('the client disconnected');
    leaving.abort(reason);
    expect(thread.running).toBe(1);
    expect(await waits).toBe(reason);
    expect(thread.running).toBe(0);
    expect(await thread.call({ does: 'reports' })).toMatchObject({ canceled: 1 });
    await expect(thread.call({ does: 'waits' }, { signal: leaving.signal })).rejects.toBe(reason);
  });

  test('a call that is canceled before the thread is ready does nothing there', async () => {
    const thread = start();
    const leaving = new AbortController();
    const waits = settled(thread.call({ does: 'waits' }, { signal: leaving.signal }));
    const reason = new Error('gone');
    leaving.abort(reason);
    expect(await waits).toBe(reason);
  });

  test('counts as running while the thread holds on to it, but is not waited for without end', async () => {
    const thread = start({ times: { letGoMs: 50 } });
    const leaving = new AbortController();
    const holds = settled(thread.call({ does: 'holds' }, { signal: leaving.signal }));
    await echo(thread, 1);
    leaving.abort(new Error('gone'));
    expect(thread.running).toBe(1);
    expect(await holds).toMatchObject({ message: 'gone' });
    expect(thread.running).toBe(0);
    // The late response is discarded.
    thread.tell('release');
    expect(await echo(thread, 2)).toEqual([2, 1]);
  });

  test('takes no other with it, and leaves no listener on the signal', async () => {
    const thread = start();
    const { signal } = new AbortController();
    const counted = Object.assign(Object.create(signal) as AbortSignal, { listeners: 0 }) as AbortSignal & {
      listeners: number;
    };
    Object.defineProperties(counted, {
      aborted: { get: () => signal.aborted },
      throwIfAborted: { value: () => signal.throwIfAborted() },
      addEventListener: { value: () => void counted.listeners++ },
      removeEventListener: { value: () => void counted.listeners-- },
    });
    for (const call of [
      { does: 'echo', what: 1 },
      { does: 'fails', error: 'client' },
    ] as const) {
      await settled(thread.call(call, { signal: counted }));
      expect(counted.listeners).toBe(0);
    }
  });

  test('ends a thread that does not notice, and the next call finds another', async () => {
    const lost: string[] = [];
    const thread = start({
      times: { letGoMs: 10, hangMs: 50 },
      onLost: ({ message }) => void lost.push(message),
    });
    await thread.ready();
    const leaving = new AbortController();
    const hangs = settled(thread.call({ does: 'hangs' }, { signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    expect(await hangs).toMatchObject({ message: 'gone' });
    expect(await settled(echo(thread, 1))).toMatchObject({ name: 'ThreadLostError' });
    expect(await echo(thread, 2)).toEqual([2, 2]);
    expect(lost).toEqual([expect.stringContaining('the thread did not respond for 50 ms')]);
  });

  test('does not end a thread that notices late, but in time', async () => {
    const thread = start({ times: { letGoMs: 10, hangMs: 60_000 } });
    await thread.ready();
    const leaving = new AbortController();
    const works = settled(thread.call({ does: 'works', ms: 200 }, { signal: leaving.signal }));
    leaving.abort(new Error('gone'));
    expect(await works).toMatchObject({ message: 'gone' });
    expect(await echo(thread, 1)).toEqual([1, 1]);
    expect(thread.starts).toBe(1);
  });
});

describe('requests of the thread', () => {
  const asks = (thread: TestThread, what: unknown, more = {}) => thread.call({ does: 'asks', what, ...more });

  test('is replied to, or refused with the class of the error', async () => {
    const thread = start({
      hub: {
        reply: async asked => {
          if (asked === 'refused') throw new ThrottledError('not now');
          return { value: [asked] };
        },
        hear: () => undefined,
      },
    });
    expect(await Promise.all([asks(thread, 1), asks(thread, 'refused'), asks(thread, 2)])).toEqual([
      [1],
      { name: 'ThrottledError', message: 'not now' },
      [2],
    ]);
  });

  test('are refused if there is no handler, or if the reply cannot be sent', async () => {
    expect(await asks(start(), 1)).toMatchObject({
      message: 'no component handles requests of the thread test-0',
    });
    const thread = start({
      hub: { reply: async () => ({ value: () => undefined }), hear: () => undefined },
    });
    expect(await asks(thread, 1)).toMatchObject({ message: expect.stringContaining('cloned') });
  });

  test('is canceled if the thread does not want the reply any more', async () => {
    const reasons: unknown[] = [];
    const thread = start({
      hub: {
        reply: (_, signal) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              reasons.push((signal.reason as Error).name);
              reject(signal.reason);
            }),
          ),
        hear: () => undefined,
      },
    });
    expect(await asks(thread, 1, { cancelsAfterMs: 1 })).toEqual({ name: 'Error', message: 'enough' });
    await until(() => reasons.length > 0);
    expect(reasons).toEqual(['AbortError']);
  });

  test('are canceled if the thread ends, and do not mix with those of the next one', async () => {
    const asked: { readonly what: unknown; readonly signal: AbortSignal; reply(value: unknown): void }[] = [];
    const thread = start({
      hub: {
        reply: (what, signal) =>
          new Promise(resolve => asked.push({ what, signal, reply: value => resolve({ value }) })),
        hear: () => undefined,
      },
    });
    const first = settled(asks(thread, 'first'));
    await until(() => asked.length === 1);
    await thread.terminate();
    expect(await first).toMatchObject({ name: 'ThreadLostError' });
    expect(asked[0].signal.aborted).toBe(true);
    const second = asks(thread, 'second', { cancelsAfterMs: 100 });
    await until(() => asked.length === 2);
    // Both threads gave their question the number 1.
    asked[0].reply('for the first');
    expect(await second).toEqual({ name: 'Error', message: 'enough' });
    await until(() => asked[1].signal.aborted);
  });
});

test('messages without a reply arrive in order in both directions', async () => {
  const heard: unknown[] = [];
  const thread = start({
    hub: { reply: async () => ({ value: 0 }), hear: told => void heard.push(told) },
  });
  for (const what of [1, 2, 3]) thread.tell(what);
  for (const what of ['a', 'b']) await thread.call({ does: 'tells', what });
  expect(await thread.call({ does: 'reports' })).toEqual({ canceled: 0, heard: [1, 2, 3] });
  expect(heard).toEqual(['a', 'b']);
});

describe('a thread that ends by itself', () => {
  test.each<[TestCall, string, string]>([
    [{ does: 'exits', code: 3 }, 'ThreadLostError', 'the thread test-0 ended with code 3'],
    [{ does: 'throws-later' }, 'ThreadLostError', 'a defect'],
    [{ does: 'fills' }, 'ThreadMemoryError', 'the thread test-0 ended with code 1'],
  ])('%j: its calls reject, and another is started at once', async (call, name, message) => {
    const lost: string[] = [];
    let ready = 0;
    const thread = start({
      maxHeapMb: 32,
      onLost: error => void lost.push(error.name),
      onReady: () => void ready++,
    });
    const waits = settled(thread.call({ does: 'waits' }));
    const ends = await settled(thread.call(call));
    expect(ends).toMatchObject({ name, message: expect.stringContaining(message) });
    expect(await waits).toBe(ends);
    expect(thread.running).toBe(0);
    expect(await echo(thread, 1)).toEqual([1, 2]);
    expect([thread.starts, lost, ready]).toEqual([2, [name], 2]);
  });

  test('a thread that never becomes ready is started again after a pause, with new data', async () => {
    let isFirst = true;
    const thread = start({
      times: { restartPauseMs: 1 },
      data: () => {
        const data: ThreadData = { start: isFirst ? 'ends' : undefined, number: 5 };
        isFirst = false;
        return data;
      },
    });
    const early = settled(echo(thread, 1));
    await expect(thread.ready()).rejects.toThrow('the thread test-0 ended with code 4');
    expect(await early).toMatchObject({ name: 'ThreadLostError' });
    await expect(echo(thread, 2)).rejects.toThrow('the thread test-0 is not running');
    await thread.ready();
    expect(await echo(thread, 3)).toEqual([3, 5]);
  });

  test('says why it cannot start', async () => {
    const thread = start({ start: 'broken', times: { restartPauseMs: 60_000 } });
    const early = settled(echo(thread, 1));
    const error = await settled(thread.ready());
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ message: 'table x: not readable' });
    await early;
    const missing = start({ entry: new URL('./no-such-file.mjs', import.meta.url) });
    await expect(missing.ready()).rejects.toThrow('no-such-file');
  });
});

describe('stopping', () => {
  test('lets work end, then the service, then the thread, which is not started again', async () => {
    const heard: unknown[] = [];
    const lost: Error[] = [];
    const thread = start({
      hub: { reply: async () => ({ value: 0 }), hear: told => void heard.push(told) },
      onLost: error => void lost.push(error),
    });
    const holds = thread.call({ does: 'holds' });
    await echo(thread, 1);
    const stopped = thread.stop();
    await expect(echo(thread, 2)).rejects.toThrow('the thread test-0 is stopped');
    thread.tell('release');
    expect(await holds).toBe('held');
    await stopped;
    expect(heard).toEqual(['stopped']);
    await expect(echo(thread, 3)).rejects.toThrow('is stopped');
    await expect(thread.ready()).rejects.toThrow('is stopped');
    thread.tell('nobody hears this');
    await thread.stop();
    expect([thread.starts, lost]).toEqual([1, []]);
  });

  test.each<[string, NonNullable<Parameters<typeof start>[0]>, TestCall]>([
    ['hangs', {}, { does: 'hangs' }],
    ['waits forever', {}, { does: 'waits' }],
    ['never became ready', { start: 'silent' }, { does: 'echo', what: 1 }],
  ])('terminates a thread that %s, and rejects its calls', async (_, options, call) => {
    const thread = start({ ...options, times: { stopMs: 50 } });
    if (options.start === undefined) await thread.ready();
    const running = settled(thread.call(call));
    await thread.stop();
    expect(await running).toMatchObject({ name: 'ThreadLostError' });
    expect(thread.starts).toBe(1);
  });

  test('ends a pause before the next start', async () => {
    const thread = start({ start: 'ends', times: { restartPauseMs: 1 } });
    await settled(thread.ready());
    await thread.stop();
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(thread.starts).toBe(1);
  });
});

test('a thread reports its load', async () => {
  const thread = start();
  await thread.ready();
  await thread.call({ does: 'works', ms: 30 });
  const { active, idle } = thread.utilization;
  expect(active).toBeGreaterThan(0);
  expect(idle).toBeGreaterThanOrEqual(0);
});
