/** Tails that start together: one read of the catalog and one lookback, of which each gets its part. */
import { expect, test } from '@jest/globals';
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { TenantTail } from '../../shared/read/tail/tenant-tail.ts';
import { drive, linesOf, processOver, requestFor, sharedParts, TENANT } from './support.ts';

test('each gets the newest entries of its start and limit, and later ones', async () => {
  const clock = virtualClock();
  const shared = sharedParts(clock);
  const process = processOver(shared, { seed: 1, joinMs: 0, savesCursor: false });
  let looks = 0;
  const daysForQuery = process.catalog.daysForQuery.bind(process.catalog);
  process.catalog.daysForQuery = (...asked) => {
    looks++;
    return daysForQuery(...asked);
  };
  let engines = 0;
  const limitsOf = (tenant: string) => {
    engines++;
    return process.parts.limitsOf(tenant);
  };
  const tail = new TenantTail(TENANT, { ...process.parts, limitsOf });
  for (let i = 5; i > 0; i--) await drive(clock, process.push([`line ${6 - i}`], { agoMs: i * 60_000 }));
  const asked = [
    { id: 'all', limit: 100, agoMs: 3_600_000, query: '{app="a"}', want: [1, 2, 3, 4, 5] },
    { id: 'two', limit: 2, agoMs: 3_600_000, query: '{app="a"}', want: [4, 5] },
    { id: 'late', limit: 100, agoMs: 200_000, query: '{app="a"}', want: [3, 4, 5] },
    { id: 'late and few', limit: 1, agoMs: 130_000, query: '{app="a"}', want: [5] },
    { id: 'none', limit: 0, agoMs: 3_600_000, query: '{app="a"}', want: [] },
    { id: 'to come', limit: 100, agoMs: -60_000, query: '{app="a"}', want: [] },
    { id: 'other', limit: 100, agoMs: 3_600_000, query: '{app="a"} |~ "[24]"', want: [2, 4] },
  ];
  const connections = asked.map(({ id }) => shared.connections.open(id));
  for (const { id, limit, agoMs, query } of asked) {
    const startNs = clock.nowNs() - BigInt(agoMs) * NS_PER_MS;
    const opened = process.service.open({ ...requestFor(clock, query, limit), startNs }, id);
    expect(await drive(clock, opened)).toBeUndefined();
  }
  await drive(clock, tail.step({ readsLog: true }));
  await drive(clock, tail.drained());
  const shown = () => connections.map(({ messages }) => linesOf(messages));
  const wanted = asked.map(({ want }) => want.map(i => `line ${i}`));
  expect(shown()).toEqual(wanted);
  // Two queries.
  expect({ looks, engines }).toEqual({ looks: 1, engines: 2 });

  await drive(clock, process.push(['line 24']));
  await drive(clock, tail.step({ readsLog: true }));
  await drive(clock, tail.drained());
  expect(shown()).toEqual(wanted.map(lines => [...lines, 'line 24']));
  expect(process.failures).toEqual([]);
  await tail.stop();
});
