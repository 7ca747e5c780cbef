import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { type Demand, IngestExchange } from '../../shared/storage/catalog/ingest-exchange.ts';
import { manualClock } from '../support/manual-clock.ts';

const DEMAND: Demand = {
  process: 'a',
  bytesPerSecond: 1000.5,
  takenBytes: 2 ** 50,
  newBytes: 7,
  hotStreams: [[2 ** 53 - 1, 12]],
};

function exchange() {
  const clock = manualClock();
  const table = memoryTable({ clock });
  const hour = Math.floor(clock.nowMs() / MS_PER_HOUR);
  return { clock, table, hour, ingest: new IngestExchange({ table, clock }) };
}

describe('demands', () => {
  test('keeps one demand for each process and tenant, the newest', async () => {
    const { ingest } = exchange();
    await ingest.publishDemand('t', { ...DEMAND, takenBytes: 1 }, 15_000);
    await ingest.publishDemand('t', DEMAND, 15_000);
    await ingest.publishDemand('t', { ...DEMAND, process: 'b', hotStreams: [] }, 15_000);
    await ingest.publishDemand('t2', { ...DEMAND, process: 'c' }, 15_000);
    expect(await ingest.demands('t')).toEqual([DEMAND, { ...DEMAND, process: 'b', hotStreams: [] }]);
    expect(await ingest.demands('nobody')).toEqual([]);
  });

  test('reads the demands of many processes', async () => {
    const { ingest } = exchange();
    for (let i = 0; i < 1500; i++) await ingest.publishDemand('t', { ...DEMAND, process: `p${i}` }, 15_000);
    expect(new Set((await ingest.demands('t')).map(({ process }) => process)).size).toBe(1500);
  });

  test('hold for their time, rounded up to a second', async () => {
    const { ingest, clock } = exchange();
    await ingest.publishDemand('t', DEMAND, 14_001);
    clock.advance(14_999);
    expect(await ingest.demands('t')).toEqual([DEMAND]);
    clock.advance(1);
    expect(await ingest.demands('t')).toEqual([]);
  });
});

describe('announced streams', () => {
  const hashes = fc.uniqueArray(fc.maxSafeNat(), { maxLength: 50 });

  test('are read as they were announced, by all processes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(hashes, { maxLength: 5 }), async batches => {
        const { ingest, hour } = exchange();
        for (const [i, batch] of batches.entries()) {
          await ingest.announce('t', { process: `p${i}`, hour, hashes: batch });
        }
        const read = await ingest.announced('t', hour, 0);
        expect(read.sort((a, b) => a - b)).toEqual(batches.flat().sort((a, b) => a - b));
      }),
      { numRuns: 50 },
    );
  });

  test('many take several items, each within the limit of one', async () => {
    const { ingest, table, hour } = exchange();
    const many = Array.from({ length: 10_000 }, (_, i) => 2 ** 53 - 1 - i);
    await ingest.announce('t', { process: 'p', hour, hashes: many });
    expect(table.count).toBe(3);
    expect(await ingest.announced('t', hour, 0)).toEqual(many);
  });

  test('belong to a tenant and an hour; those before a time are omitted', async () => {
    const { ingest, clock, hour } = exchange();
    await ingest.announce('t', { process: 'p', hour, hashes: [1] });
    clock.advance(1000);
    await ingest.announce('t', { process: 'p', hour, hashes: [2] });
    await ingest.announce('t', { process: 'p', hour: hour - 1, hashes: [3] });
    await ingest.announce('u', { process: 'p', hour, hashes: [4] });
    expect(await ingest.announced('t', hour, 0)).toEqual([1, 2]);
    expect(await ingest.announced('t', hour, clock.nowMs())).toEqual([2]);
    expect(await ingest.announced('t', hour - 1, 0)).toEqual([3]);
    expect(await ingest.announced('u', hour, 0)).toEqual([4]);
  });

  test('outlive the hour after theirs, and no more', async () => {
    const { ingest, clock, hour } = exchange();
    await ingest.announce('t', { process: 'p', hour, hashes: [1] });
    clock.advance(2 * MS_PER_HOUR - 1);
    expect(await ingest.announced('t', hour, 0)).toEqual([1]);
    clock.advance(600_001);
    expect(await ingest.announced('t', hour, 0)).toEqual([]);
  });
});
