import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_OF_SECOND as S } from '../../shared/base/model/time-units.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, identityOf } from '../support/pushes.ts';
import { arbitraryEntries } from '../support/rows.ts';

function entry(time: number, line: string, stream: Record<string, string> = { app: 'a' }): DatedEntry {
  return { stream, day: DAY, time, line, metadata: {} };
}

async function linesOf(
  engine: ReturnType<typeof memoryEngine>,
  query: ReturnType<typeof rangeQuery>,
  who = requester(),
) {
  const { result, statistics } = await engine.engine.range(query, who);
  if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
  const entries = result.streams.flatMap(stream =>
    stream.entries.map(one => ({ ...one, stream: stream.text })),
  );
  return { entries, statistics, streams: result.streams };
}

describe('log queries', () => {
  test('return the first entries in the requested direction, across chunks and days', async () => {
    const lists = fc.array(
      arbitraryEntries(15).chain(entries =>
        fc
          .tuple(...entries.map(() => fc.constantFrom(DAY, DAY + 1)))
          .map(days => entries.map((one, i): DatedEntry => ({ ...one, day: days[i] }))),
      ),
      { minLength: 1, maxLength: 5 },
    );
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (batches, limit, backward) => {
          const store = memoryEngine(fc.sample(fc.constantFrom(0, 4096), 1)[0]);
          for (const batch of batches) await store.push(batch);
          const query = rangeQuery('{app=~".+"}', {
            limit,
            backward,
            endNs: DAY_START_NS + 2n * 86_400_000_000_000n,
          });
          const { entries } = await linesOf(store, query);
          const all = [...new Map(batches.flat().map(one => [identityOf(one), one])).values()];
          const times = all
            .map(one => BigInt(one.day) * 86_400_000_000_000n + BigInt(one.time))
            .sort((a, b) => (a < b ? -1 : 1));
          const want = backward ? times.reverse().slice(0, limit) : times.slice(0, limit);
          const got = entries.map(one => one.timeNs).sort((a, b) => (a < b === backward ? 1 : -1));
          expect(got).toEqual(want);
        },
      ),
      { numRuns: 60 },
    );
  });

  test('include the start and exclude the end', async () => {
    const store = memoryEngine();
    await store.push([entry(1, 'one'), entry(2, 'two'), entry(3, 'three')]);
    const range = { startNs: DAY_START_NS + 1n, endNs: DAY_START_NS + 3n };
    const { entries } = await linesOf(store, rangeQuery('{app="a"}', { ...range, backward: false }));
    expect(entries.map(one => one.line)).toEqual(['one', 'two']);
  });

  test('stop reading once the limit is met', async () => {
    const store = memoryEngine(0);
    for (let i = 0; i < 50; i++) await store.push([entry(i * S, `line ${i}`)]);
    const { entries, statistics } = await linesOf(store, rangeQuery('{app="a"}', { limit: 2 }));
    expect(entries.map(one => one.line)).toEqual(['line 49', 'line 48']);
    expect(statistics.chunksReferenced).toBe(50);
    expect(statistics.pagesRead).toBeLessThan(10);
    expect(statistics.entriesReturned).toBe(2);
  });

  test('count the data considered', async () => {
    const store = memoryEngine();
    const metadata = { trace: 'xyz' };
    await store.push([{ ...entry(1, 'match'), metadata }, entry(2, 'other line')]);
    await store.push([entry(5, 'of another stream', { app: 'b' })]);
    const { statistics } = await linesOf(store, rangeQuery('{app="a"} |= "match"'));
    expect(statistics).toMatchObject({
      lines: 2,
      lineBytes: 'match'.length + 'other line'.length,
      metadataBytes: 'trace'.length + 'xyz'.length,
      postFilterLines: 1,
      chunksReferenced: 2,
      chunksRead: 1,
      streams: 1,
    });
  });

  test('thin entries by the interval, restarting each hour', async () => {
    const store = memoryEngine();
    const at = [0, 10, 29, 30, 31, 65, 3599, 3600, 3610, 3700].map(seconds =>
      entry(seconds * S, `${seconds}`),
    );
    await store.push(at);
    const interval = { intervalNs: BigInt(30 * S) };
    const forward = await linesOf(store, rangeQuery('{app="a"}', { ...interval, backward: false }));
    expect(forward.entries.map(one => one.line)).toEqual(['0', '30', '65', '3599', '3600', '3700']);
    const backward = await linesOf(store, rangeQuery('{app="a"}', interval));
    expect(backward.entries.map(one => one.line)).toEqual(['3700', '3610', '3599', '65', '31', '0']);
    const limited = await linesOf(store, rangeQuery('{app="a"}', { ...interval, backward: false, limit: 4 }));
    expect(limited.entries.map(one => one.line)).toEqual(['0', '30', '3600', '3700']);
  });

  test('separate tenants, and label entries with the tenant if there are several', async () => {
    const store = memoryEngine();
    await store.push([entry(1, 'of t')]);
    await store.push([entry(2, 'of u', { app: 'a', __tenant_id__: 'fake' })], 'u');
    const alone = await linesOf(store, rangeQuery('{app="a"}'));
    expect(alone.entries.map(one => one.line)).toEqual(['of t']);
    const both = requester({ tenants: ['t', 'u'] });
    const { streams } = await linesOf(store, rangeQuery('{app="a"}'), both);
    expect(streams.map(stream => stream.text)).toEqual([
      '{__tenant_id__="t", app="a"}',
      '{__tenant_id__="u", app="a", original___tenant_id__="fake"}',
    ]);
    const one = await linesOf(store, rangeQuery('{app="a", __tenant_id__=~"u|x"}'), both);
    expect(one.entries.map(e => e.line)).toEqual(['of u']);
    const original = await linesOf(store, rangeQuery('{app="a", original___tenant_id__="fake"}'), both);
    expect(original.entries.map(e => e.line)).toEqual(['of u']);
  });

  test('end when the client disconnects', async () => {
    const store = memoryEngine();
    await store.push([entry(1, 'x')]);
    const signal = AbortSignal.abort();
    await expect(store.engine.range(rangeQuery('{app="a"}'), requester({ signal }))).rejects.toMatchObject({
      name: 'AbortError',
    });
  });

  test("read at most the tenant's byte limit", async () => {
    const store = memoryEngine(0);
    for (let i = 0; i < 10; i++) await store.push([entry(i, 'x'.repeat(1000))]);
    const limits = { ...DEFAULT_LIMITS, maxQueryLengthNs: 0n, maxQueryBytesRead: 4500 };
    const query = rangeQuery('{app="a"} |= "nothing"');
    const message = /the query would read too many bytes \(query: 4\.9KB, limit: 4\.4KB\)/;
    await expect(store.engine.range(query, requester({ limits }))).rejects.toThrow(message);
    await expect(store.engine.range(query, requester({ limits }))).rejects.toBeInstanceOf(BadRequestError);
  });
});
