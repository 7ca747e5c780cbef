/** The merge backlog: what counts, which pushes are refused, and when merging is urgent. */
import { expect, test } from '@jest/globals';
import { seededRandom } from '../../shared/base/ports/memory/random.ts';
import { MergeBacklog, MIN_CHUNK_BYTES } from '../../shared/upkeep/compaction/merge-backlog.ts';

const MAX_BYTES = 1_000_000;
const filled = (tenant: string, lineBytes: number, day = 7) => ({ tenant, day, chunks: 1, lineBytes });

function makeBacklog(maxBytes = MAX_BYTES) {
  const told: boolean[] = [];
  return { told, backlog: new MergeBacklog({ maxBytes, onUrgency: isUrgent => told.push(isUrgent) }) };
}

test('counts bytes until compaction has looked at the day', () => {
  const { backlog } = makeBacklog();
  const first = backlog.add(filled('a', 300_000));
  const second = backlog.add(filled('a', 200_000));
  const other = backlog.add(filled('a', 100_000, 8));
  expect(backlog.bytes).toBe(600_000);
  backlog.merged(first);
  expect(backlog.bytes).toBe(300_000);
  // One look covers all tickets up to its own; an earlier one that comes late changes nothing.
  backlog.merged(second);
  backlog.merged(first);
  expect(backlog.bytes).toBe(100_000);
  backlog.merged(other);
  expect(backlog.bytes).toBe(0);
});

test('a later ticket covers earlier ones of its day', () => {
  const { backlog } = makeBacklog();
  backlog.add(filled('a', 300_000));
  backlog.merged(backlog.add(filled('a', 200_000)));
  expect(backlog.bytes).toBe(0);
});

test('small chunks count by their number', () => {
  const { backlog } = makeBacklog();
  backlog.add({ tenant: 'a', day: 7, chunks: 97, lineBytes: 970 });
  expect(backlog.bytes).toBe(97 * MIN_CHUNK_BYTES);
});

test.each<[string, Record<string, number>, Record<string, boolean>]>([
  ['nobody below the bound', { a: MAX_BYTES - 1 }, { a: false, b: false }],
  ['a tenant that is alone from the bound on', { a: MAX_BYTES }, { a: true, b: false }],
  ['tenants with an equal share', { a: 500_000, b: 500_000 }, { a: true, b: true, c: false }],
  ['not those with less than a share', { a: 900_000, b: 100_000 }, { a: true, b: false }],
  [
    'all that are behind from twice the bound on',
    { a: 1_930_000, b: 70_000 },
    { a: true, b: true, c: false },
  ],
  [
    'not those with less than a share of many',
    { a: 700_000, b: 400_000, c: 300_000 },
    { a: true, b: true, c: false },
  ],
])('refuses %s', (_name, bytesOf, want) => {
  const { backlog } = makeBacklog();
  for (const [tenant, bytes] of Object.entries(bytesOf)) backlog.add(filled(tenant, bytes));
  for (const [tenant, isRefused] of Object.entries(want)) {
    expect([tenant, backlog.refuses(tenant)]).toEqual([tenant, isRefused]);
  }
  expect(backlog.refused).toBe(Object.values(want).filter(Boolean).length);
});

test('accepts again when merging has caught up', () => {
  const { backlog } = makeBacklog();
  const ticket = backlog.add(filled('a', MAX_BYTES));
  expect(backlog.refuses('a')).toBe(true);
  backlog.merged(ticket);
  expect(backlog.refuses('a')).toBe(false);
});

test('is bounded for all tenants together by twice the bound and one full merge each', () => {
  const random = seededRandom(30);
  const { backlog } = makeBacklog();
  const tenants = 300;
  const mostOfOne = 3 * MIN_CHUNK_BYTES;
  for (let i = 0; i < 20_000; i++) {
    const tenant = `t${Math.floor(random() * Math.min(tenants, 1 + i / 20))}`;
    if (!backlog.refuses(tenant)) backlog.add(filled(tenant, random() * mostOfOne));
  }
  expect(backlog.bytes).toBeGreaterThan(2 * MAX_BYTES);
  expect(backlog.bytes).toBeLessThanOrEqual(2 * MAX_BYTES + tenants * mostOfOne);
});

test('is urgent from a quarter of the bound until half of that is left', () => {
  const { backlog, told } = makeBacklog();
  const tickets = [backlog.add(filled('a', 125_000, 1)), backlog.add(filled('a', 124_999, 2))];
  expect(told).toEqual([]);
  tickets.push(backlog.add(filled('a', 100_000, 3)));
  expect(told).toEqual([true]);
  backlog.merged(tickets[0]);
  backlog.merged(tickets[2]);
  expect(backlog.bytes).toBe(124_999);
  expect(told).toEqual([true, false]);
});

test('forgets the requests of a lost thread', () => {
  const { backlog, told } = makeBacklog();
  const lost = backlog.add(filled('a', MAX_BYTES));
  backlog.forget();
  expect([backlog.bytes, backlog.refuses('a'), backlog.isUrgent]).toEqual([0, false, false]);
  expect(told).toEqual([true, false]);
  backlog.merged(lost);
  backlog.add(filled('a', 70_000));
  expect(backlog.bytes).toBe(70_000);
});

test('without a bound refuses no push, and is never urgent', () => {
  const { backlog, told } = makeBacklog(0);
  backlog.add(filled('a', 1e12));
  expect([backlog.bytes, backlog.refuses('a')]).toEqual([1e12, false]);
  expect(told).toEqual([]);
});
