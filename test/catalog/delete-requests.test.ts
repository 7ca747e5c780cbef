import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { openSqliteTable, type SqliteTable } from '../../local/sqlite-table.ts';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { MASKED_AFTER_PROCESSED_MS } from '../../shared/storage/catalog/delete-request.ts';
import {
  decodeDeleteRequest,
  encodeDeleteRequest,
} from '../../shared/storage/catalog/delete-request-codec.ts';
import {
  DeleteRequests,
  MAX_PROCESSED_REQUESTS,
  MAX_UNPROCESSED_BYTES,
  MAX_UNPROCESSED_REQUESTS,
} from '../../shared/storage/catalog/delete-requests.ts';
import { manualClock } from '../support/manual-clock.ts';
import { deleteRequestsContract, newRequest } from './delete-requests.contract.ts';

deleteRequestsContract('memory', async clock => ({ table: memoryTable({ clock }) }));

deleteRequestsContract(
  'SQLite',
  async clock => {
    const directory = await mkdtemp(path.join(tmpdir(), 'logboom-deletes-'));
    const opened: SqliteTable[] = [];
    const open = async () => {
      opened.push(await openSqliteTable(path.join(directory, 'table.db'), { clock }));
      return opened.at(-1)!;
    };
    return {
      table: await open(),
      another: open,
      close: async () => {
        for (const table of opened) await table.close();
        await rm(directory, { recursive: true });
      },
    };
  },
  { rounds: 30 },
);

test('a stored request reads back as it was', () => {
  const ns = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n);
  const ms = fc.option(fc.maxSafeNat(), { nil: undefined });
  const request = fc.record({
    query: fc.string({ unit: 'binary' }),
    startNs: ns,
    endNs: ns,
    intervalNs: ns,
    createdMs: fc.maxSafeNat(),
    pickedUpMs: ms,
    sealedMs: ms,
    processedMs: ms,
    doneToNs: fc.option(ns, { nil: undefined }),
    bytesDone: fc.maxSafeNat(),
    bytesTotal: fc.maxSafeNat(),
  });
  fc.assert(
    fc.property(request, given => {
      const whole = newRequest(given);
      expect(decodeDeleteRequest('acme', encodeDeleteRequest(whole))).toEqual(whole);
    }),
  );
});

test('a request that is processed while they are listed is listed', async () => {
  const clock = manualClock();
  const table = memoryTable({ clock });
  const other = new DeleteRequests({ table, clock });
  let meddle: (() => Promise<void>) | undefined;
  const query: Table['query'] = async (pk, options) => {
    const page = await table.query(pk, options);
    // Runs after the first of the two reads, whichever that is.
    await meddle?.();
    return page;
  };
  const deletes = new DeleteRequests({ table: { ...table, query }, clock });
  for (const [i, id] of ['0000000a', '0000000b'].entries()) {
    const request = newRequest({ id, createdMs: i });
    await other.create(request);
    meddle = async () => {
      meddle = undefined;
      expect(await other.replace(request, { ...request, processedMs: 1 })).toBe(true);
    };
    expect((await deletes.list('acme')).at(-1)).toEqual({ ...request, processedMs: 1 });
    expect(meddle).toBeUndefined();
  }
});

describe('bounds', () => {
  function store() {
    const clock = manualClock();
    return { clock, deletes: new DeleteRequests({ table: memoryTable({ clock }), clock }) };
  }
  const idOf = (number: number) => number.toString(16).padStart(8, '0');

  test('requests of a tenant that are not processed', async () => {
    const { deletes } = store();
    for (let i = 0; i < MAX_UNPROCESSED_REQUESTS; i++) await deletes.create(newRequest({ id: idOf(i) }));
    const oneMore = newRequest({ id: idOf(MAX_UNPROCESSED_REQUESTS) });
    await expect(deletes.create(oneMore)).rejects.toThrow(
      new BadRequestError('too many delete requests are not processed yet: 10000, limit: 10000'),
    );
    await deletes.create({ ...oneMore, tenant: 'other' });
    const [first, second] = await deletes.list('acme');
    expect(await deletes.remove(first)).toBe(true);
    await deletes.create(oneMore);
    await expect(deletes.create(first)).rejects.toThrow(BadRequestError);
    expect(await deletes.replace(second, { ...second, processedMs: 1 })).toBe(true);
    await deletes.create(first);
  });

  test('counts the bytes of requests, which change with the request and go with it', async () => {
    const { deletes } = store();
    const query = 'x'.repeat(300_000);
    const fitting = Math.floor(MAX_UNPROCESSED_BYTES / 300_200);
    for (let i = 0; i < fitting; i++) await deletes.create(newRequest({ id: idOf(i), query }));
    const oneMore = newRequest({ id: 'ffffffff', query });
    await expect(deletes.create(oneMore)).rejects.toThrow(/would take \d+ bytes, limit: 16777216$/);
    const [first] = await deletes.list('acme');
    const pickedUp = { ...first, pickedUpMs: 1 };
    expect(await deletes.replace(first, pickedUp)).toBe(true);
    expect(await deletes.replace(pickedUp, { ...pickedUp, processedMs: 2 })).toBe(true);
    await deletes.create(oneMore);
  });

  test('deletes the oldest processed requests, except those that still hide entries', async () => {
    const { deletes, clock } = store();
    const processed = async (from: number, to: number) => {
      for (let i = from; i < to; i++) {
        // Made long ago, in the other order of their ids.
        const request = newRequest({ id: idOf(99_999 - i), createdMs: i });
        await deletes.create(request);
        await deletes.replace(request, { ...request, processedMs: clock.nowMs() });
      }
    };
    await processed(0, 1200);
    expect(await deletes.list('acme')).toHaveLength(1200);
    clock.advance(MASKED_AFTER_PROCESSED_MS);
    await processed(1200, 1210);
    const kept = await deletes.list('acme');
    expect(kept.length).toBeGreaterThanOrEqual(MAX_PROCESSED_REQUESTS);
    expect(kept.length).toBeLessThan(1100);
    expect(kept.map(({ createdMs }) => createdMs)).toEqual(
      Array.from({ length: kept.length }, (_, i) => 1210 - kept.length + i),
    );
  });
});
