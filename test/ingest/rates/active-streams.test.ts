/** Number of active streams of a tenant over several processes and hours. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Limits } from '../../../shared/base/model/limits.ts';
import { hashOfText } from '../../../shared/base/model/text-hash.ts';
import { MS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import { ActiveStreams } from '../../../shared/write/ingest/rates/active-streams.ts';
import { EXCHANGE_MS, FIRST_READ_MS } from '../../../shared/write/ingest/rates/bounds.ts';
import { TenantStreams } from '../../../shared/write/ingest/rates/tenant-streams.ts';
import { type Processes, processes, pushOfBytes, SMALL_LIMITS, settle, storedStreams } from './processes.ts';

const limitsOf = (maxGlobalStreamsPerUser: number, maxStreamsPerUser = 0): Limits => ({
  ...SMALL_LIMITS,
  maxGlobalStreamsPerUser,
  maxStreamsPerUser,
});

/** Pushes an entry to each stream; those that took it. */
async function push(
  all: Processes,
  process: number,
  names: readonly string[],
  limits: Limits,
): Promise<string[]> {
  const pushed = pushOfBytes(Object.fromEntries(names.map(name => [name, 1])));
  const stored = storedStreams(await all.running[process].admit('t', limits, pushed), pushed);
  await settle();
  return stored;
}

test('a million streams that could not be announced count as new again', () => {
  const streams = new TenantStreams();
  const count = 1_000_000;
  streams.startHour(MS_PER_HOUR);
  for (let hash = 0; hash < count; hash++) streams.admit(hash, limitsOf(count));
  const news = streams.takeUnannounced();
  expect([news.hashes.length, streams.hasUnannounced]).toEqual([count, false]);
  streams.restoreUnannounced(news);
  expect(streams.takeUnannounced().hashes).toHaveLength(count);
});

describe('active streams in one process', () => {
  test('keep existing streams and refuse new ones at the limit', async () => {
    const all = processes(1);
    expect(await push(all, 0, ['a', 'b', 'c', 'd'], limitsOf(3))).toEqual(['a', 'b', 'c']);
    expect(await push(all, 0, ['d', 'c', 'e', 'a'], limitsOf(3))).toEqual(['c', 'a']);
  });

  test('are active in their hour and the next one', async () => {
    const all = processes(1);
    const limits = limitsOf(2);
    await push(all, 0, ['a', 'b'], limits);
    all.clock.advance(MS_PER_HOUR);
    expect(await push(all, 0, ['c'], limits)).toEqual([]);
    expect(await push(all, 0, ['b'], limits)).toEqual(['b']);
    all.clock.advance(MS_PER_HOUR);
    expect(await push(all, 0, ['c'], limits)).toEqual(['c']);
    expect(await push(all, 0, ['a'], limits)).toEqual([]);
    expect(await push(all, 0, ['b'], limits)).toEqual(['b']);
  });

  test.each([
    ['0 is off', limitsOf(0), 3],
    ['the limit of one process', limitsOf(0, 2), 2],
    ['the smaller of both', limitsOf(1, 2), 1],
    ['the smaller of both, the other way', limitsOf(2, 1), 1],
  ])('%s', async (_, limits, want) => {
    expect(await push(processes(1), 0, ['a', 'b', 'c'], limits)).toHaveLength(want);
  });

  test('write nothing if the limit is per process', async () => {
    const all = processes(1);
    await push(all, 0, ['a'], limitsOf(0, 2));
    expect(all.calls).toEqual({ puts: 0, queries: 0 });
  });
});

test('the stored bytes of a push are reduced to the bytes that were stored', async () => {
  const pushed = pushOfBytes({ a: 5, b: 7 });
  const admission = await processes(1).running[0].admit('t', limitsOf(1), pushed);
  expect(storedStreams(admission, pushed)).toEqual(['a']);
  expect(admission.discards).toEqual([{ reason: 'stream_limit', policy: '', lines: 1, bytes: 7 }]);
  expect([...pushed.totals.entries]).toEqual([1, 0]);
  expect([...pushed.totals.lineBytes]).toEqual([5, 0]);
});

describe('active streams over several processes', () => {
  test('are known to a new process before its first decision', async () => {
    const all = processes(1);
    await push(all, 0, ['a', 'b'], limitsOf(3));
    all.start();
    expect(await push(all, 1, ['c', 'd'], limitsOf(3))).toEqual(['c']);
    expect(await push(all, 1, ['a', 'b', 'c'], limitsOf(3))).toEqual(['a', 'b', 'c']);
  });

  test('are known from the previous hour to a process that starts in the next one', async () => {
    const all = processes(1);
    await push(all, 0, ['a', 'b'], limitsOf(2));
    all.clock.advance(MS_PER_HOUR);
    all.start();
    expect(await push(all, 1, ['c'], limitsOf(2))).toEqual([]);
    expect(await push(all, 1, ['b'], limitsOf(2))).toEqual(['b']);
    all.clock.advance(MS_PER_HOUR);
    all.start();
    expect(await push(all, 2, ['c', 'd'], limitsOf(2))).toEqual(['c']);
  });

  test('streams of another process are known with the next new stream', async () => {
    const all = processes(2);
    const limits = limitsOf(4);
    await push(all, 0, ['a'], limits);
    await push(all, 1, ['b'], limits);
    all.clock.advance(EXCHANGE_MS);
    await push(all, 0, ['c'], limits);
    expect(await push(all, 0, ['d', 'e'], limits)).toEqual(['d']);
  });

  test('exceed the limit at most by the streams that each process creates between two exchanges', async () => {
    const name = fc.integer({ min: 0, max: 60 }).map(String);
    const step = fc.record({
      process: fc.nat(2),
      names: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
      waitMs: fc.integer({ min: EXCHANGE_MS, max: 3 * EXCHANGE_MS }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 40 }), async steps => {
        const all = processes(3);
        const stored = new Set<string>();
        for (const { process, names, waitMs } of steps) {
          for (const stream of await push(all, process, names, limitsOf(20))) stored.add(stream);
          all.clock.advance(waitMs);
        }
        // Each push is an interval after the one before: a process may not know of the streams that one push of each
        // other process created.
        expect(stored.size).toBeLessThanOrEqual(20 + 2 * 4);
      }),
      { numRuns: 40 },
    );
  });

  test('are announced once per hour in the steady state', async () => {
    const all = processes(2);
    const names = ['a', 'b', 'c'];
    const limits: Limits = { ...limitsOf(3), ingestionRateStrategy: 'local' };
    for (let minute = 0; minute < 180; minute++) {
      for (const process of [0, 1]) expect(await push(all, process, names, limits)).toEqual(names);
      all.clock.advance(60_000);
    }
    // They start ten minutes into an hour and so see four; the second in an hour learns of the first.
    expect(all.calls.puts).toBe(4);
    // Both read two hours at first, and again at each new hour.
    expect(all.calls.queries).toBeLessThanOrEqual(2 * 2 + 8 * 2);
  });
});

describe('active streams with a failing table', () => {
  test('are allowed if unknown, and announced once possible', async () => {
    let isBroken = true;
    const all = processes(1, {
      wrap: table => {
        const refuse = () => Promise.reject(new Error('no table'));
        return {
          ...table,
          put: item => (isBroken ? refuse() : table.put(item)),
          query: (...args) => (isBroken ? refuse() : table.query(...args)),
        };
      },
    });
    expect(await push(all, 0, ['a', 'b', 'c'], limitsOf(2))).toEqual(['a', 'b']);
    isBroken = false;
    all.clock.advance(EXCHANGE_MS);
    await push(all, 0, ['a'], limitsOf(2));
    all.start();
    expect(await push(all, 1, ['d', 'b'], limitsOf(2))).toEqual(['b']);
  });

  test('are announced later after a failed announcement', async () => {
    let isBroken = true;
    const all = processes(1, {
      wrap: table => ({
        ...table,
        put: item => (isBroken ? Promise.reject(new Error('no table')) : table.put(item)),
      }),
    });
    await push(all, 0, ['a', 'b'], limitsOf(2));
    isBroken = false;
    all.clock.advance(EXCHANGE_MS);
    await push(all, 0, ['a'], limitsOf(2));
    all.start();
    expect(await push(all, 1, ['c'], limitsOf(2))).toEqual([]);
  });

  test('delay a push only for the first read', async () => {
    let hangs = false;
    const all = processes(1, {
      wrap: table => ({
        ...table,
        query: (...args) => (hangs ? new Promise(() => undefined) : table.query(...args)),
      }),
    });
    await push(all, 0, ['a'], limitsOf(3));
    hangs = true;
    all.clock.advance(60_000);
    expect(await push(all, 0, ['b'], limitsOf(3))).toEqual(['b']);
  });

  test('delay a push for the first read by at most one second', async () => {
    const all = processes(1, { wrap: table => ({ ...table, query: () => new Promise(() => undefined) }) });
    let isDone = false;
    const pushed = push(all, 0, ['a'], limitsOf(2)).then(stored => {
      isDone = true;
      return stored;
    });
    await settle();
    all.clock.advance(FIRST_READ_MS - 1);
    await settle();
    expect(isDone).toBe(false);
    all.clock.advance(1);
    expect(await pushed).toEqual(['a']);
    expect(await push(all, 0, ['b'], limitsOf(2))).toEqual(['b']);
  });
});

test('active streams equal those of a model', () => {
  const step = fc.record({ hash: fc.nat(10), back: fc.nat(2), hours: fc.nat(2) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 50 }), steps => {
      const streams = new ActiveStreams();
      const model = new Map<number, number>();
      let hour = 1000;
      streams.startHour(hour);
      for (const { hash, back, hours } of steps) {
        streams.add(hash, hour - back);
        model.set(hash, Math.max(model.get(hash) ?? 0, hour - back));
        hour += hours;
        streams.startHour(hour);
        const active = [...model].filter(([, seen]) => seen >= hour - 1).map(([key]) => key);
        expect(streams.size).toBe(active.length);
        for (let key = 0; key <= 10; key++) expect(streams.has(key)).toBe(active.includes(key));
      }
    }),
  );
});

test('stream hashes are integers below 2^53 of the stream text', () => {
  const hashes = Array.from({ length: 5000 }, (_, i) => hashOfText(`{app="a${i}"}`));
  expect(new Set(hashes).size).toBe(5000);
  for (const hash of hashes) expect(Number.isSafeInteger(hash) && hash >= 0).toBe(true);
  expect(Math.max(...hashes)).toBeGreaterThan(2 ** 52);
  expect(hashOfText(`{app="a1"}`)).toBe(hashes[1]);
});
