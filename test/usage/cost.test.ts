/** The rows are the tables of docs/dev/cost-model.md: the page and the formula must say the same. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_PRICES, type Prices } from '../../shared/server/admin/prices.ts';
import { chunkWrites, costOf, gatewayUnits } from '../../shared/server/usage/cost.ts';
import { newFigures, type Sums } from '../../shared/server/usage/figures.ts';

const KB = 1000;
const GB = 1_000_000_000;
const FREE: Prices = {
  objectPutMillion: 0,
  objectGetMillion: 0,
  objectStorageGbMonth: 0,
  tableWriteMillion: 0,
  tableReadMillion: 0,
  tableStorageGbMonth: 0,
  functionRequestMillion: 0,
  functionGbSecond: 0,
  gatewayRequestMillion: 0,
};
const NOTHING = { objectBytes: 0, tableBytes: 0 };

function sums(given: Partial<Sums>): Sums {
  return { ...newFigures().sums, ...given };
}

/** A gigabyte in pushes of one size. */
function gigabyte(rawBytes: number): Sums {
  const pushes = GB / rawBytes;
  const { objectPuts, writeUnits } = chunkWrites(rawBytes);
  return sums({
    pushes,
    gatewayUnits: pushes * Math.min(1, gatewayUnits(rawBytes)),
    lineBytes: GB,
    objectPuts: pushes * objectPuts,
    writeUnits: pushes * writeUnits,
  });
}

describe('writes of a push', () => {
  test.each([
    [1 * KB, 0, 2],
    [4 * KB, 0, 4],
    [10 * KB, 0, 8],
    [20 * KB, 1, 2],
    [40 * KB, 1, 2],
    [100 * KB, 1, 2],
    [1000 * KB, 1, 4],
    [0, 0, 2],
  ])('%i bytes: %i objects, %i write units', (rawBytes, objectPuts, writeUnits) => {
    expect(chunkWrites(rawBytes)).toEqual({ objectPuts, writeUnits });
  });

  test.each([
    [0, 1],
    [1, 1],
    [524_288, 1],
    [524_289, 2],
    [100 * 1024 * 1024, 200],
  ])('%i bytes are %i requests for the gateway', (rawBytes, units) => {
    expect(gatewayUnits(rawBytes)).toBe(units);
  });
});

describe('a gigabyte', () => {
  test.each([
    [1 * KB, 3.6],
    [4 * KB, 1.21],
    [10 * KB, 0.74],
    [20 * KB, 0.45],
    [40 * KB, 0.23],
    [100 * KB, 0.09],
    [1000 * KB, 0.01],
  ])('a gigabyte in pushes of %i bytes costs %f dollars', (rawBytes, dollars) => {
    const cost = costOf(gigabyte(rawBytes), NOTHING, DEFAULT_PRICES, 30);
    expect(cost.ingest).toBeCloseTo(dollars, 1);
    expect(Math.abs(cost.ingest - dollars)).toBeLessThan(0.0062);
    expect(cost).toMatchObject({ storage: 0, queries: 0, total: cost.ingest });
  });
});

describe('each price', () => {
  const counted = sums({
    pushes: 2_000_000,
    gatewayUnits: 3_000_000,
    objectPuts: 4_000_000,
    writeUnits: 5_000_000,
    queries: 6_000_000,
    queryGets: 7_000_000,
    queryRecords: 8_000_000,
  });
  const stored = { objectBytes: 31 * GB, tableBytes: 62 * GB };
  test.each<[Partial<Prices>, number, number, number]>([
    [{}, 0, 0, 0],
    [{ gatewayRequestMillion: 1 }, 3, 0, 6],
    [{ functionRequestMillion: 1 }, 2, 0, 6],
    [{ objectPutMillion: 1 }, 4, 0, 0],
    [{ objectGetMillion: 1 }, 4, 0, 7],
    [{ tableWriteMillion: 1 }, 5, 0, 0],
    [{ tableReadMillion: 1 }, 0, 0, 2],
    [{ objectStorageGbMonth: 1 }, 0, 1, 0],
    [{ tableStorageGbMonth: 1 }, 0, 2, 0],
  ])('%j', (prices, ingest, storage, queries) => {
    const cost = costOf(counted, stored, { ...FREE, ...prices }, 31);
    expect(cost.ingest).toBeCloseTo(ingest, 9);
    expect(cost.storage).toBeCloseTo(storage, 9);
    expect(cost.queries).toBeCloseTo(queries, 9);
    expect(cost.total).toBeCloseTo(ingest + storage + queries, 9);
  });

  test('charges memory and time by their prices', () => {
    const prices = { ...FREE, functionGbSecond: 1 };
    // 1,769 MB wait 50 ms for a push, and work 15 s for a GB.
    expect(costOf(sums({ pushes: 1024 }), NOTHING, prices, 30).ingest).toBeCloseTo(1769 * 0.05, 9);
    expect(
      costOf(sums({ lineBytes: GB / 2, metadataBytes: GB / 2 }), NOTHING, prices, 30).ingest,
    ).toBeCloseTo((15 * 1769) / 1024, 9);
    expect(costOf(sums({ queryMs: 1_024_000 }), NOTHING, prices, 30).queries).toBeCloseTo(3008, 9);
  });

  test.each([
    [28, 28],
    [30, 30],
    [31, 31],
  ])('a month of %i days', (daysOfMonth, gb) => {
    const prices = { ...FREE, objectStorageGbMonth: 1 };
    const cost = costOf(sums({}), { objectBytes: gb * GB, tableBytes: 0 }, prices, daysOfMonth);
    expect(cost.storage).toBeCloseTo(1, 9);
  });
});
