import { describe, expect, test } from '@jest/globals';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';
import { UsageLedger, WRITE_EVERY_MS } from '../../shared/server/usage/usage-ledger.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { configOf, memoryStores, startProcess } from './support/store.ts';

const START_MS = Date.UTC(2026, 10, 21, 12);
const TODAY = '2026-11-21';

describe('GET /svc/api/v1/usage', () => {
  test('contains the pushes, refusals and queries of today, written or not', async () => {
    const config = configOf({}, { maxLineSize: 10 });
    const { push, get, usage, defects } = startProcess(memoryStores(virtualClock(START_MS)), {
      seed: 1,
      config,
    });
    await push('acme', ['a', 'b'], ['12345', 'far too long to be stored']);
    await push('acme', ['b', 'c'], ['123']);
    await push('globex', ['z'], ['1']);
    await get('/loki/api/v1/query_range?query=%7Bapp%3D%22a%22%7D', { tenant: 'acme' });
    const acme = await usage('acme', '?since=1s');
    expect(acme).toMatchObject({ tenant: 'acme', currency: 'USD', stored_bytes_complete: true });
    expect(acme.days).toEqual([
      {
        day: TODAY,
        pushes: 2,
        lines: 4,
        bytes: 16,
        structured_metadata_bytes: 0,
        streams: 3,
        refused: { line_too_long: { lines: 2, bytes: 50 } },
        queries: 1,
        query_bytes: expect.any(Number),
        query_seconds: expect.any(Number),
        stored_bytes: expect.any(Number),
        cost: {
          ingest: expect.any(Number),
          storage: expect.any(Number),
          queries: expect.any(Number),
          total: expect.any(Number),
        },
      },
    ]);
    const [{ cost, stored_bytes, query_bytes }] = acme.days as { cost: Record<string, number> }[] &
      typeof acme.days;
    // Two requests, with 50 ms of a function and two write units each.
    const { gatewayRequestMillion, functionRequestMillion, tableWriteMillion, functionGbSecond } =
      DEFAULT_PRICES;
    const ofPush = gatewayRequestMillion + functionRequestMillion + 2 * tableWriteMillion;
    expect((cost as Record<string, number>).ingest).toBeCloseTo(
      2 * (ofPush / 1e6 + 0.05 * (1769 / 1024) * functionGbSecond),
      8,
    );
    expect(stored_bytes).toBeGreaterThan(0);
    expect(query_bytes).toBeGreaterThan(0);
    expect((await usage('globex', '?since=1s')).days).toMatchObject([
      { lines: 1, streams: 1, refused: {}, queries: 0 },
    ]);
    expect((await usage('nobody', '?since=1s')).days).toMatchObject([
      { lines: 0, pushes: 0, stored_bytes: 0 },
    ]);
    expect(defects).toEqual([]);
  });

  test.each([
    ['', 30, '2026-10-23', TODAY],
    ['?start=2026-11-20T23:59:59Z&end=2026-11-21T00:00:00Z', 2, '2026-11-20', TODAY],
    ['?start=2025-10-18T00:00:00Z', 400, '2025-10-18', TODAY],
  ])('%s: %i days', async (parameters, count, first, last) => {
    const { usage } = startProcess(memoryStores(virtualClock(START_MS)), { seed: 1 });
    const { days } = await usage('acme', parameters);
    expect([days.length, days[0].day, days.at(-1)?.day]).toEqual([count, first, last]);
  });

  test.each<[string, string | undefined, number, string]>([
    ['', undefined, 401, 'no org id\n'],
    ['', 'a|b', 400, 'multiple org IDs present'],
    ['?start=2025-10-17T00:00:00Z', 'a', 400, 'the usage range has too many days: 401, limit: 400'],
    ['?start=x', 'a', 400, expect.stringContaining('start') as unknown as string],
  ])('%s of %s: %i', async (parameters, tenant, status, body) => {
    const { get } = startProcess(memoryStores(virtualClock(START_MS)), { seed: 1 });
    expect(await get(`/loki/api/v1/usage${parameters}`, { tenant })).toMatchObject({ status, body });
  });

  test('stored bytes are those of the days until then, by their storage', async () => {
    const clock = virtualClock(START_MS);
    const free = Object.fromEntries(
      Object.keys(DEFAULT_PRICES).map(name => [name, 0]),
    ) as unknown as typeof DEFAULT_PRICES;
    const prices = { ...free, objectStorageGbMonth: 1e9, tableStorageGbMonth: 2e9 };
    const config = configOf({ prices, inlineMaxBytes: 2000, currency: 'EUR' });
    const stores = memoryStores(clock);
    const first = startProcess(stores, { seed: 1, config });
    const day = async (process: typeof first) => {
      const { days, currency } = await process.usage(
        'acme',
        '?start=2026-11-20T00:00:00Z&end=2026-11-23T00:00:00Z',
      );
      expect(currency).toBe('EUR');
      return days.map(({ stored_bytes, cost }) => [stored_bytes, (cost as Record<string, number>).storage]);
    };
    await first.push('acme', ['a'], ['small']);
    const [before, inTable] = await day(first);
    expect(before).toEqual([0, 0]);
    const inline = inTable[0] as number;
    expect(inline).toBeGreaterThan(5);
    // Per byte and month of 30 days: 2 in the table, 1 in objects.
    expect(inTable[1]).toBeCloseTo((2 * inline) / 30, 6);
    await clock.advance(MS_PER_DAY);
    const lines = Array.from({ length: 500 }, (_, i) => `line ${i} ${(i * 2_654_435_761) % 4_294_967_296}`);
    await first.push('acme', ['a'], lines);
    const rows = await day(startProcess(stores, { seed: 2, config }));
    const inObject = stores.store.storedBytes;
    expect(inObject).toBeGreaterThan(2000);
    expect(rows[1]).toEqual(inTable);
    expect(rows[2][0]).toBe(inline + inObject);
    expect(rows[2][1]).toBeCloseTo((2 * inline + inObject) / 30, 6);
    expect(rows[3]).toEqual(rows[2]);
  });
});

describe('usage in the table', () => {
  test('counts of two processes and their successors add up to all pushes', async () => {
    const clock = virtualClock(START_MS);
    const stores = memoryStores(clock);
    const [one, two] = [startProcess(stores, { seed: 1 }), startProcess(stores, { seed: 2 })];
    await one.push('acme', ['a', 'b'], ['12']);
    await two.push('acme', ['b', 'c'], ['345']);
    await one.context.usage.ledger.write();
    await two.context.usage.ledger.write();
    // The next write: an item contains all counts, not only new ones.
    await one.push('acme', ['d'], ['6']);
    await one.context.usage.ledger.write();
    await one.context.usage.ledger.write();
    const whole = { pushes: 3, lines: 5, bytes: 11, streams: 4 };
    expect((await one.usage('acme', '?since=1s')).days).toMatchObject([whole]);
    expect((await two.usage('acme', '?since=1s')).days).toMatchObject([whole]);
    // Both die, and one comes back.
    const three = startProcess(stores, { seed: 3 });
    expect((await three.usage('acme', '?since=1s')).days).toMatchObject([whole]);
    await three.push('acme', ['a'], ['7']);
    expect((await three.usage('acme', '?since=1s')).days).toMatchObject([
      { ...whole, pushes: 4, lines: 6, bytes: 12 },
    ]);
  });

  test('unwritten figures are lost with their process, and nothing else', async () => {
    const stores = memoryStores(virtualClock(START_MS));
    const one = startProcess(stores, { seed: 1 });
    await one.push('acme', ['a'], ['12']);
    await one.context.usage.ledger.write();
    await one.push('acme', ['a'], ['lost']);
    const two = startProcess(stores, { seed: 2 });
    expect((await two.usage('acme', '?since=1s')).days).toMatchObject([{ pushes: 1, bytes: 2 }]);
  });
});

describe('the ledger', () => {
  const received = (tenant: string, lines: number) => ({
    tenant,
    format: 'loki',
    policy: '',
    lines,
    lineBytes: 0,
    metadataBytes: 0,
  });

  function ledgerOver(wrap: (table: Table) => Table = table => table, maxTallies?: number) {
    const clock = virtualClock(START_MS);
    const table = memoryTable({ clock });
    let writes = 0;
    const counting: Table = {
      ...table,
      put(item) {
        writes++;
        return wrap(table).put(item);
      },
    };
    const failures: unknown[] = [];
    let drops = 0;
    const ledger = new UsageLedger({
      records: new UsageRecords(counting),
      clock,
      ids: seededIds(1),
      maxTallies,
      onFailure: error => failures.push(error),
      onDrop: () => drops++,
    });
    const records = new UsageRecords(table);
    return {
      ledger,
      clock,
      failures,
      counts: () => ({ writes, drops }),
      items: async (tenant: string, day: number) => (await Array.fromAsync(records.read(tenant, day))).length,
    };
  }
  const today = START_MS / MS_PER_DAY - 0.5;

  test('writes the first time, then once a minute, and only new counts', async () => {
    const { ledger, clock, counts } = ledgerOver();
    await ledger.writeIfDue();
    expect(counts().writes).toBe(0);
    ledger.received(received('a', 1));
    await ledger.writeIfDue();
    ledger.received(received('a', 1));
    await clock.advance(WRITE_EVERY_MS - 1);
    await ledger.writeIfDue();
    expect(counts().writes).toBe(1);
    await clock.advance(1);
    await ledger.writeIfDue();
    expect(counts().writes).toBe(2);
    await clock.advance(WRITE_EVERY_MS);
    await ledger.writeIfDue();
    expect(counts().writes).toBe(2);
  });

  test('writes by itself until it is stopped, and then once more', async () => {
    const { ledger, clock, counts } = ledgerOver();
    const stop = new AbortController();
    const ended = ledger.keepWritten(stop.signal);
    for (let minute = 1; minute <= 3; minute++) {
      ledger.received(received('a', 1));
      await clock.advance(WRITE_EVERY_MS);
      expect(counts().writes).toBe(minute);
    }
    ledger.received(received('a', 1));
    stop.abort();
    await ended;
    expect(counts().writes).toBe(4);
  });

  test('a write that fails is made good by the next one', async () => {
    let broken = true;
    const put = async () => {
      throw new Error('no table');
    };
    const { ledger, failures, items } = ledgerOver(table => (broken ? { ...table, put } : table));
    ledger.received(received('a', 1));
    await ledger.write();
    expect(failures).toHaveLength(1);
    expect(await items('a', today)).toBe(0);
    broken = false;
    await ledger.write();
    expect(failures).toHaveLength(1);
    expect(await items('a', today)).toBe(1);
  });

  test('a day that ends is written although another has begun', async () => {
    const { ledger, clock, items, counts } = ledgerOver();
    ledger.received(received('a', 1));
    await clock.advance(MS_PER_DAY);
    ledger.received(received('a', 2));
    expect(ledger.of('a').map(({ day, figures }) => [day, figures.sums.lines])).toEqual([
      [today, 1],
      [today + 1, 2],
    ]);
    await ledger.write();
    expect([await items('a', today), await items('a', today + 1), counts().writes]).toEqual([1, 1, 2]);
    expect(ledger.of('a')).toHaveLength(1);
  });

  test('holds a limited number of tenants, and evicts inactive ones', async () => {
    const { ledger, items, counts } = ledgerOver(undefined, 3);
    for (const tenant of ['a', 'b', 'c', 'd']) ledger.received(received(tenant, 1));
    expect(counts().drops).toBe(1);
    expect(ledger.of('d')).toEqual([]);
    await ledger.write();
    ledger.received(received('a', 1));
    // b and c did nothing since they were written.
    await ledger.write();
    ledger.received(received('d', 1));
    ledger.received(received('b', 1));
    expect(counts().drops).toBe(1);
    await ledger.write();
    expect([await items('a', today), await items('b', today), await items('d', today)]).toEqual([1, 2, 1]);
  });

  test('a query over several tenants counts for each, and its reads are split', () => {
    const { ledger } = ledgerOver();
    const statistics = { ...newStatistics(), compressedBytes: 900, pagesRead: 6, chunksReferenced: 3 };
    ledger.queried(['a', 'b', 'c'], statistics, 3_000_000);
    for (const tenant of ['a', 'b', 'c']) {
      const { sums } = ledger.of(tenant)[0].figures;
      expect(sums.queries).toBe(1);
      expect(sums.queryBytes).toBeCloseTo(300, 9);
      expect(sums.queryMs).toBeCloseTo(1, 9);
      expect(sums.queryGets).toBeCloseTo(2, 9);
      expect(sums.queryRecords).toBeCloseTo(1, 9);
    }
  });
});
