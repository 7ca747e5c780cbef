/** A patient taker outlives the lease of a process that died, and not one that is renewed. */
import { expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { Leases } from '../../shared/storage/catalog/leases.ts';

const LEASE_MS = 60_000;

test('takePatiently waits until a lease has ended', async () => {
  const { clock, ours, theirs } = setUp();
  await theirs.take('x', LEASE_MS);
  const startMs = clock.nowMs();
  expect(await clock.run(ours.takePatiently('x', LEASE_MS))).toBeDefined();
  expect(clock.nowMs() - startMs).toBeLessThanOrEqual(LEASE_MS + 2000);
});

test('takePatiently gives up on a lease that its holder renews', async () => {
  const { clock, ours, theirs } = setUp();
  const lease = (await theirs.take('x', LEASE_MS))!;
  let isTrying = true;
  const renewing = (async () => {
    while (isTrying) {
      await clock.sleep(LEASE_MS / 3);
      await theirs.renew(lease, LEASE_MS);
    }
  })();
  expect(await clock.run(ours.takePatiently('x', LEASE_MS))).toBeUndefined();
  isTrying = false;
  await clock.run(renewing);
});

test('takePatiently ends when its caller may not wait any more', async () => {
  const { clock, ours, theirs } = setUp();
  await theirs.take('x', LEASE_MS);
  let holds = 0;
  const hold = async () => {
    if (++holds === 3) throw new Error('the caller has lost its own lease');
  };
  await expect(clock.run(ours.takePatiently('x', LEASE_MS, hold))).rejects.toThrow('its own lease');
  expect(holds).toBe(3);
});

function setUp() {
  const clock = virtualClock();
  const table = memoryTable({ clock });
  const leasesOf = (seed: number) => new Leases({ table, clock, ids: seededIds(seed) });
  return { clock, ours: leasesOf(1), theirs: leasesOf(2) };
}
