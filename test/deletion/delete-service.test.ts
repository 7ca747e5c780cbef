/**
 * Behavior of the service that test/http/deletes.test.ts does not cover over HTTP: collisions of IDs, races,
 * failures.
 */
import { describe, expect, test } from '@jest/globals';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { isHiding } from '../../shared/storage/catalog/delete-request.ts';
import { DeleteService } from '../../shared/upkeep/deletion/delete-service.ts';
import { manualClock } from '../support/manual-clock.ts';

const NEW = { query: '{app="x"}', startNs: 0n, endNs: 10n, intervalNs: 0n };

function setUp({
  ids = ['0000000a', '0000000b', '0000000c'],
  wrap = (table: Table) => table,
}: {
  readonly ids?: string[];
  readonly wrap?: (table: Table) => Table;
} = {}) {
  const clock = manualClock();
  const given = { randomHex: () => ids.shift()! };
  const catalog = new Catalog({ table: wrap(memoryTable({ clock })), clock, ids: given });
  const { deletes, generations } = catalog;
  const service = new DeleteService({ deletes, generations, clock, ids: given, cancelPeriodMs: 1000 });
  return { clock, catalog, service };
}

test('a used ID is not assigned again', async () => {
  const { service } = setUp({ ids: ['0000000a', '0000000a', '0000000a', '0000000b'] });
  expect(await service.create('acme', NEW)).toBe('0000000a');
  expect(await service.create('acme', NEW)).toBe('0000000b');
  expect((await service.list('acme')).map(({ id }) => id)).toEqual(['0000000a', '0000000b']);
});

test('reports an error if no ID is free', async () => {
  const { service } = setUp({ ids: Array.from({ length: 20 }, () => '0000000a') });
  await service.create('acme', NEW);
  await expect(service.create('acme', NEW)).rejects.toThrow('delete request 0000000a already exists');
});

test('retries if a request is accepted while it is canceled', async () => {
  let meddle: (() => Promise<void>) | undefined;
  const wrap = (table: Table): Table => ({
    get: key => table.get(key),
    query: (pk, options) => table.query(pk, options),
    put: (item, condition) => table.put(item, condition),
    delete: (key, condition) => table.delete(key, condition),
    transact: async writes => {
      await meddle?.();
      return table.transact(writes);
    },
  });
  const { service, catalog } = setUp({ wrap });
  const id = await service.create('acme', NEW);
  meddle = async () => {
    meddle = undefined;
    const request = (await catalog.deletes.find('acme', id))!;
    expect(await catalog.deletes.replace(request, { ...request, pickedUpMs: 1 })).toBe(true);
  };
  await expect(service.cancel('acme', id, { force: false })).rejects.toThrow(/^Cancellation of partially/);
  expect(await service.list('acme')).toMatchObject([{ id, pickedUpMs: 1 }]);
  await service.cancel('acme', id, { force: true });
  expect(await service.list('acme')).toEqual([]);
});

describe('a request in progress that is canceled with force', () => {
  const cancelAt = async (doneToNs: bigint | undefined) => {
    const { service, catalog, clock } = setUp();
    const part = { ...NEW, startNs: NS_PER_HOUR / 2n, endNs: 4n * NS_PER_HOUR, intervalNs: NS_PER_HOUR };
    const id = await service.create('acme', part);
    const request = (await catalog.deletes.find('acme', id))!;
    await catalog.deletes.replace(request, { ...request, pickedUpMs: 1, doneToNs });
    clock.advance(5);
    await service.cancel('acme', id, { force: true });
    return { listed: await service.list('acme'), nowMs: clock.nowMs() };
  };

  test.each([undefined, NS_PER_HOUR - 1n])('is removed if no part is done (%s)', async doneToNs => {
    expect((await cancelAt(doneToNs)).listed).toEqual([]);
  });

  test.each([
    [NS_PER_HOUR, NS_PER_HOUR],
    [3n * NS_PER_HOUR + 1n, 3n * NS_PER_HOUR + 1n],
    [9n * NS_PER_HOUR, 4n * NS_PER_HOUR],
  ])('is processed as far as it came (%s)', async (doneToNs, endNs) => {
    const { listed, nowMs } = await cancelAt(doneToNs);
    expect(listed).toMatchObject([{ startNs: NS_PER_HOUR / 2n, endNs, processedMs: nowMs, sealedMs: nowMs }]);
    // Rows of its finished parts that came late and are still stored.
    expect(listed.map(one => isHiding(one, nowMs))).toEqual([false]);
  });
});

test('reports that it cannot cancel a request that changes constantly', async () => {
  const { service, catalog } = setUp();
  const id = await service.create('acme', NEW);
  catalog.deletes.remove = async () => false;
  await expect(service.cancel('acme', id, { force: true })).rejects.toThrow(ThrottledError);
});

test('the generation increases only with changes', async () => {
  const { service, catalog, clock } = setUp();
  const generation = () => catalog.generations.read('acme');
  const before = await generation();
  const id = await service.create('acme', NEW);
  const created = await generation();
  expect(created).not.toBe(before);
  clock.advance(1);
  await expect(service.cancel('acme', 'ffffffff', { force: true })).rejects.toThrow('could not find');
  await service.list('acme');
  expect(await generation()).toBe(created);
  await service.cancel('acme', id, { force: false });
  expect(await generation()).not.toBe(created);
  expect(await catalog.generations.read('other')).toBe('');
});
