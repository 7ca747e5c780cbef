/**
 * Small fleets of functions that merge one tenant's day. For large ones, see `npm run simulate -- fleet
 * --compaction`.
 */
import { describe, expect, test } from '@jest/globals';
import { MS_PER_MINUTE } from '../../../shared/base/model/time-units.ts';
import { compactFleet } from './compact-fleet.ts';

const TB = 1e12;
const ASKED = { bytesPerDay: 20 * TB, minutes: 8, pushBytes: 8e6 };

describe('one tenant that pushes 20 TB a day', () => {
  test('is far behind with one function', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 1 });
    expect(outcome).toMatchObject({ atOnce: 0, rowsStored: outcome.rowsPushed });
    expect(outcome.swaps).toBe(outcome.merges);
    // It merges a GB in 34 s: 14 GB in 8 minutes, of 111.
    expect(outcome.mergedBytes).toBeLessThan(outcome.pushedBytes / 7);
  });

  test('is merged in time by several functions, which share swaps', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 100 });
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
    expect(outcome.atOnce).toBeGreaterThan(10);
    expect(outcome.backlogMs).toBeLessThan(MS_PER_MINUTE);
    // Each part has a lease, which is taken and released, and renewed after 10 s. A merge of 8 parts takes 14 s.
    expect(outcome.leaseWrites).toBeGreaterThanOrEqual(2 * outcome.merges);
    expect(outcome.leaseWrites).toBeLessThan(3.2 * outcome.merges);
    expect(outcome.swaps).toBeLessThan(outcome.merges / 2);
    // 24 s a GB for merging pushes, 2 s for requests, 4 s of the holder of the day: it has 14 GB a minute.
    const secondsPerGb = outcome.functionMs / 1000 / (outcome.mergedBytes / 1e9);
    expect(secondsPerGb).toBeGreaterThan(26);
    expect(secondsPerGb).toBeLessThan(35);
  });

  test('is divided into more parts of the streams, the more it pushed in 5 minutes', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 100 });
    expect(outcome.parts).toBe(8);
    const { 8: ofEighths = 0, ...fewer } = outcome.chunksByParts;
    // The first minutes of the day have fewer parts, and pushes have none.
    expect(ofEighths).toBeGreaterThan(outcome.chunks / 2);
    expect(Object.keys(fewer).length).toBeGreaterThan(1);
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
  });

  test('takes no more functions than are allowed', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 7 });
    expect(outcome).toMatchObject({ atOnce: 7, rowsStored: outcome.rowsPushed });
  });

  test('is merged in time although functions are lost', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 100, lostShare: 0.02 });
    expect(outcome.lost).toBeGreaterThan(0);
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
    expect(outcome.backlogMs).toBeLessThan(5 * MS_PER_MINUTE);
  });

  test('has each part merged by one function at a time although calls are repeated and lost', async () => {
    const outcome = await compactFleet({ ...ASKED, functions: 100, lostShare: 0.02, calledTwiceShare: 0.05 });
    expect(outcome.calledTwice).toBeGreaterThan(4);
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
    expect(outcome.backlogMs).toBeLessThan(5 * MS_PER_MINUTE);
  });

  test('is merged in time although the function that holds the day is lost', async () => {
    const holderLostEveryMs = 3.1 * MS_PER_MINUTE;
    const outcome = await compactFleet({ ...ASKED, functions: 100, holderLostEveryMs });
    expect(outcome.holdersLost).toBe(2);
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
    expect(outcome.backlogMs).toBeLessThan(5 * MS_PER_MINUTE);
  });
});

describe('one tenant that pushes 3.5 TB a day', () => {
  test('has the parts of an hour merged apart, although functions are lost', async () => {
    const asked = { bytesPerDay: 3.5 * TB, minutes: 75, pushBytes: 8e6, functions: 32, lostShare: 0.02 };
    const outcome = await compactFleet(asked);
    expect(outcome.parts).toBe(4);
    expect(outcome.lost).toBeGreaterThan(0);
    // The hour has 146 GB of lines, and a merge of a part 0.9 GB.
    expect(outcome.mergesOfParts).toBeGreaterThan(100);
    expect(outcome.rowsStored).toBe(outcome.rowsPushed);
    expect(outcome.backlogMs).toBeLessThan(5 * MS_PER_MINUTE);
  });
});
