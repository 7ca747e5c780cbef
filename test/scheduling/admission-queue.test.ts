import { describe, expect, test } from '@jest/globals';
import { AdmissionQueue } from '../../shared/base/scheduling/admission-queue.ts';
import { FanOut } from '../../shared/read/query/tasks/fan-out.ts';

const forever = new AbortController().signal;
const turn = () => new Promise(resolve => setImmediate(resolve));

describe('turns of tenants', () => {
  test('rotates among tenants, for any number of requests', async () => {
    const queue = new AdmissionQueue({ slots: 1, maxWaiting: 10 });
    const order: string[] = [];
    const ask = (tenant: string, name: string) =>
      queue.run(tenant, forever, async () => {
        order.push(name);
        await turn();
      });
    await Promise.all([
      ask('a', 'a1'),
      ask('a', 'a2'),
      ask('a', 'a3'),
      ask('a', 'a4'),
      ask('b', 'b1'),
      ask('c', 'c1'),
      ask('b', 'b2'),
    ]);
    expect(order).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4']);
    expect([queue.length, queue.active]).toEqual([0, 0]);
  });

  test('never runs more tasks than slots, and frees a slot however its task ends', async () => {
    const queue = new AdmissionQueue({ slots: 3, maxWaiting: 100 });
    let running = 0;
    let most = 0;
    const task = async (i: number) => {
      most = Math.max(most, ++running);
      await turn();
      running--;
      if (i % 2 === 0) throw new Error('failed');
    };
    const all = Array.from({ length: 20 }, (_, i) => queue.run(`${i % 4}`, forever, () => task(i)));
    const results = await Promise.allSettled(all);
    expect(results.filter(({ status }) => status === 'rejected').length).toBe(10);
    expect([most, queue.active]).toEqual([3, 0]);
  });

  test('keeps slots for others, which need not wait until a long task ends', async () => {
    const queue = new AdmissionQueue({ slots: 4, maxWaiting: 100, keptForOthers: 1 });
    const ends: (() => void)[] = [];
    const long = () => new Promise<void>(resolve => ends.push(resolve));
    const loud = Array.from({ length: 6 }, () => queue.run('loud', forever, long));
    expect([queue.active, queue.length]).toEqual([3, 3]);
    const quiet = queue.run('quiet', forever, long);
    expect([queue.active, queue.length]).toEqual([4, 3]);
    const third = queue.run('third', forever, long);
    // One task of the heavy tenant ends: its next one precedes the third tenant's, which follows it.
    ends[0]();
    await turn();
    expect([queue.active, queue.length]).toEqual([4, 3]);
    ends[1]();
    await turn();
    expect([queue.active, queue.length]).toEqual([4, 2]);
    for (let left = 0; left < 8; left++) {
      for (const end of ends) end();
      await turn();
    }
    await Promise.all([...loud, quiet, third]);
    expect([queue.active, queue.length]).toEqual([0, 0]);
  });

  test('too many of one tenant are refused; others are not', async () => {
    const queue = new AdmissionQueue({ slots: 1, maxWaiting: 2 });
    let end = () => {};
    const first = queue.run(
      'a',
      forever,
      () =>
        new Promise<void>(resolve => {
          end = resolve;
        }),
    );
    const rest = [queue.run('a', forever, turn), queue.run('a', forever, turn)];
    await expect(queue.run('a', forever, turn)).rejects.toMatchObject({
      status: 429,
      message: 'too many outstanding requests',
    });
    rest.push(queue.run('b', forever, turn));
    end();
    await Promise.all([first, ...rest]);
  });

  test('a caller that disconnects while waiting leaves the queue', async () => {
    const queue = new AdmissionQueue({ slots: 1, maxWaiting: 1 });
    let end = () => {};
    const first = queue.run(
      'a',
      forever,
      () =>
        new Promise<void>(resolve => {
          end = resolve;
        }),
    );
    const leaving = new AbortController();
    const gone = queue.run('a', leaving.signal, turn);
    leaving.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    const next = queue.run('a', forever, turn);
    end();
    await Promise.all([first, next]);
    expect(queue.active).toBe(0);
  });
});

describe('tasks of a query', () => {
  test('runs no more tasks than the width, which doubles, and merges results in order', async () => {
    const fanOut = new FanOut({ signal: forever, firstWidth: 1, maxWidth: 5 });
    let running = 0;
    const most: number[] = [];
    const merged: number[] = [];
    for (let i = 0; i < 1000; i++) {
      await fanOut.add(
        async () => {
          most[i] = ++running;
          for (let turns = (i * 7) % 3; turns >= 0; turns--) await turn();
          running--;
          return i;
        },
        answer => merged.push(answer),
      );
    }
    await fanOut.drain();
    expect(merged).toEqual(Array.from({ length: 1000 }, (_, i) => i));
    expect([most[0], Math.max(...most)]).toEqual([1, 5]);
  });

  test('a failed task or the client ends the others with the reason', async () => {
    for (const isClient of [false, true]) {
      const client = new AbortController();
      const fanOut = new FanOut({ signal: client.signal, firstWidth: 3, maxWidth: 3 });
      const ended: unknown[] = [];
      const until = (signal: AbortSignal) =>
        new Promise<never>((_, reject) =>
          signal.addEventListener('abort', () => {
            ended.push(signal.aborted);
            reject(signal.reason);
          }),
        );
      await fanOut.add(isClient ? until : async () => Promise.reject(new Error('broken')), () => undefined);
      await fanOut.add(until, () => undefined);
      if (isClient) client.abort(new Error('broken'));
      await expect(fanOut.drain()).rejects.toThrow('broken');
      fanOut.stop();
      expect(ended.length).toBe(isClient ? 2 : 1);
    }
  });

  test('a canceled call is neither awaited nor merged', async () => {
    const fanOut = new FanOut({ signal: forever, firstWidth: 4, maxWidth: 4 });
    const merged: number[] = [];
    let signalOfLast: AbortSignal | undefined;
    await fanOut.add(
      async () => 1,
      answer => merged.push(answer),
    );
    await fanOut.add(
      signal => {
        signalOfLast = signal;
        return new Promise<number>(() => {});
      },
      answer => merged.push(answer),
      () => false,
    );
    await fanOut.drain();
    fanOut.stop();
    expect(merged).toEqual([1]);
    expect(signalOfLast?.aborted).toBe(true);
  });
});
