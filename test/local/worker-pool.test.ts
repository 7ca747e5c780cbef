import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { openFileObjectStore } from '../../local/file-object-store.ts';
import { createWorkerPool, defaultWorkers, type WorkerPool } from '../../local/worker-pool.ts';
import { virtualClock } from '../../shared/ports/memory/clock.ts';
import { makeWorld } from '../query/tasks/world.ts';
import { asker, DAY, DAY_START_NS, rangeQuery } from '../support/engine.ts';

const CRASHING = new URL('./crashing-worker.mjs', import.meta.url);
const forever = new AbortController().signal;
let pool: WorkerPool | undefined;

afterEach(async () => {
  await pool?.close();
  pool = undefined;
});

function crashing(workers: number, clock = virtualClock(0)): WorkerPool {
  pool = createWorkerPool({ storage: { kind: 'embedded', dataDir: '' }, workers, entry: CRASHING, clock });
  return pool;
}

const ask = (to: WorkerPool, bytes: number[], signal = forever, affinity = 0) =>
  to.invoke(Uint8Array.from(bytes), { signal, affinity });

describe('a pool of worker threads', () => {
  test('answers, keeps its threads, and prefers the same one for the same affinity', async () => {
    const two = crashing(2);
    expect(await Promise.all([ask(two, [0, 7], forever, 1), ask(two, [0, 8], forever, 1)])).toEqual([
      Uint8Array.of(0, 7, 1),
      Uint8Array.of(0, 8, 1),
    ]);
    expect(two.starts).toBe(2);
    for (let i = 0; i < 5; i++) await ask(two, [0, i], forever, 1);
    expect(two.starts).toBe(2);
  });

  test('tries a task once more where its thread ended, then fails; others are unharmed', async () => {
    const one = crashing(1);
    const dying = ask(one, [1]);
    const behind = ask(one, [0, 5]);
    await expect(dying).rejects.toThrow('a query worker ended with code 3');
    expect(await behind).toEqual(Uint8Array.of(0, 5, 1));
    // The one that waited had the first thread's place, and the second try came behind it.
    expect(one.starts).toBe(2);
    expect(await ask(one, [0, 6])).toEqual(Uint8Array.of(0, 6, 1));
    expect(one.starts).toBe(3);
  });

  test('says what a task did that needs more heap than a thread has, and goes on', async () => {
    const one = crashing(1);
    await expect(ask(one, [2])).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('more memory than a worker has'),
    });
    expect(await ask(one, [0])).toEqual(Uint8Array.of(0, 1));
  });

  test('cancels by message: the caller is free at once, the thread when it has noticed', async () => {
    const one = crashing(1);
    const cancel = new AbortController();
    const running = ask(one, [3], cancel.signal);
    const reason = new Error('the client went away');
    setImmediate(() => cancel.abort(reason));
    await expect(running).rejects.toBe(reason);
    expect(await ask(one, [4])).toEqual(Uint8Array.of(1));
    expect(one.starts).toBe(1);
  });

  test('ends a thread that does not notice', async () => {
    const clock = virtualClock(0);
    const one = crashing(1, clock);
    const cancel = new AbortController();
    const running = ask(one, [5], cancel.signal);
    setImmediate(() => cancel.abort(new Error('gone')));
    await expect(running).rejects.toThrow('gone');
    const next = ask(one, [0]);
    await clock.advance(10_000);
    expect(await next).toEqual(Uint8Array.of(0, 1));
    expect(one.starts).toBe(2);
  });

  test('one that waits leaves when it is cancelled; none starts when the pool is closed', async () => {
    const one = crashing(1);
    const cancel = new AbortController();
    const running = ask(one, [3], cancel.signal);
    const gone = new AbortController();
    const waits = ask(one, [0], gone.signal);
    gone.abort(new Error('gone'));
    await expect(waits).rejects.toThrow('gone');
    await one.close();
    await expect(running).rejects.toThrow('the query worker was stopped');
    await expect(ask(one, [0])).rejects.toThrow('the query workers are stopped');
  });
});

test.each([
  [1, 0],
  [2, 0],
  [4, 3],
  [64, 8],
])('of %s cores %s are for query workers', (cores, workers) => {
  expect(defaultWorkers(cores)).toBe(workers);
});

test('threads that read files answer as one scan does, and tell a mistake in its own words', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'logboom-workers-'));
  try {
    const world = makeWorld(undefined, await openFileObjectStore(dataDir));
    for (let push = 0; push < 4; push++) {
      const entries = Array.from({ length: 30 }, (_, i) => ({
        stream: { app: i % 2 === 0 ? 'a' : 'b' },
        day: DAY,
        time: (push * 20 + i) * 1_000_000_000,
        line: `n=${i} push=${push % 2}`,
        metadata: { trace: `${i % 3}` },
      }));
      await world.push(entries);
    }
    world.delete('{app="a"} |= "n=4"');
    pool = createWorkerPool({ storage: { kind: 'embedded', dataDir }, workers: 2 });
    const engine = world.engine({ invoker: pool });
    const range = { endNs: DAY_START_NS + 120_000_000_000n, stepNs: 10_000_000_000n };
    for (const query of [
      '{app=~".+"} | logfmt | n > 3',
      'sum by (app, push) (count_over_time({app=~".+"} | logfmt [1m]))',
      'quantile_over_time(0.9, {app=~".+"} | logfmt | unwrap n [30s]) by (app)',
    ]) {
      const { result } = await engine.range(rangeQuery(query, range), asker());
      expect(result).toEqual((await world.plainEngine().range(rangeQuery(query, range), asker())).result);
    }
    const failing = engine.range(
      rangeQuery('sum_over_time({app="a"} | logfmt | unwrap push_ [1m])'),
      asker(),
    );
    expect((await failing).result).toMatchObject({ kind: 'matrix', series: [] });
    const broken = engine.range(
      rangeQuery('sum_over_time({app="a"} | logfmt | unwrap bytes(n) [1m])', range),
      asker(),
    );
    await expect(broken).resolves.toMatchObject({ result: { kind: 'matrix' } });
    const cancel = new AbortController();
    cancel.abort(new DOMException('gone', 'AbortError'));
    await expect(engine.range(rangeQuery('{app="a"}'), asker({ signal: cancel.signal }))).rejects.toThrow(
      'gone',
    );
  } finally {
    await pool?.close();
    await rm(dataDir, { recursive: true });
  }
});
