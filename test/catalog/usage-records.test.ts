import { expect, test } from '@jest/globals';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { KEPT_DAYS, type UsageRecord, UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { manualClock } from '../support/manual-clock.ts';

const DAY = 20_000;

async function read(records: UsageRecords, tenant: string, day: number): Promise<UsageRecord[]> {
  return Array.fromAsync(records.read(tenant, day));
}

const record = (tenant: string, day: number, writer: string, text: string): UsageRecord => ({
  tenant,
  day,
  writer,
  body: Buffer.from(text),
});

test('a day contains the last record of each writer, and nothing of other days and tenants', async () => {
  const records = new UsageRecords(memoryTable({ clock: manualClock(DAY * MS_PER_DAY) }));
  for (const one of [
    record('acme', DAY, 'a', 'old'),
    record('acme', DAY, 'b', 'of b'),
    record('acme', DAY, 'a', 'new'),
    record('acme', DAY + 1, 'a', 'tomorrow'),
    record('acme2', DAY, 'a', 'another tenant'),
  ]) {
    await records.write(one);
  }
  expect(await read(records, 'acme', DAY)).toEqual([
    record('acme', DAY, 'a', 'new'),
    record('acme', DAY, 'b', 'of b'),
  ]);
  expect(await read(records, 'acme', DAY - 1)).toEqual([]);
});

test('all pages are read', async () => {
  const records = new UsageRecords(memoryTable({ clock: manualClock(DAY * MS_PER_DAY) }));
  const writers = Array.from({ length: 2500 }, (_, i) => `w${String(i).padStart(5, '0')}`);
  for (const writer of writers) await records.write(record('acme', DAY, writer, writer));
  expect((await read(records, 'acme', DAY)).map(({ writer }) => writer)).toEqual(writers);
});

test('records go when their days are over', async () => {
  const clock = manualClock(DAY * MS_PER_DAY);
  const records = new UsageRecords(memoryTable({ clock }));
  await records.write(record('acme', DAY, 'a', 'x'));
  clock.advance((KEPT_DAYS + 1) * MS_PER_DAY - 1000);
  expect(await read(records, 'acme', DAY)).toHaveLength(1);
  clock.advance(1000);
  expect(await read(records, 'acme', DAY)).toHaveLength(0);
});
