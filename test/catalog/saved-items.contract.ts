/**
 * Contract of saved queries and boards. It runs on memory, SQLite and DynamoDB. Each test has separate tenants.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import {
  MAX_SAVED,
  NoSavedItemError,
  SavedConflictError,
  SavedItems,
} from '../../shared/storage/catalog/saved-items.ts';
import type { TableUnderTest } from '../ports/table.contract.ts';

const NOW_MS = Date.UTC(2026, 0, 1);
const given = (name: string, content: unknown = { name }) => ({ name, about: `about ${name}`, content });

export function savedItemsContract(
  name: string,
  open: (clock: ReturnType<typeof virtualClock>) => Promise<TableUnderTest>,
): void {
  describe(`saved items on ${name}`, () => {
    let opened: TableUnderTest;
    /** Two processes, if the table can be opened twice. */
    let saved: SavedItems;
    let other: SavedItems;
    beforeAll(async () => {
      const clock = virtualClock(NOW_MS);
      opened = await open(clock);
      saved = new SavedItems({ table: opened.table, clock, ids: seededIds(1) });
      const again = (await opened.another?.()) ?? opened.table;
      other = new SavedItems({ table: again, clock, ids: seededIds(2) });
    });
    afterAll(() => opened?.close?.());
    const newTenant = () => randomBytes(8).toString('hex');

    test('reads an item as it was written, and lists heads by name', async () => {
      const tenant = newTenant();
      const content = { panels: ['é', { deep: [1, null] }] };
      const b = await saved.create(tenant, 'boards', given('b', content));
      const a = await saved.create(tenant, 'boards', given('a'));
      expect(b).toEqual({ id: b.id, name: 'b', about: 'about b', version: 1, updatedMs: b.updatedMs });
      expect(await other.get(tenant, 'boards', b.id)).toEqual({ ...b, content });
      expect(await other.list(tenant, 'boards')).toEqual([a, b]);
      expect(await saved.list(tenant, 'queries')).toEqual([]);
      expect(await saved.list(newTenant(), 'boards')).toEqual([]);
      await expect(saved.get(tenant, 'queries', b.id)).rejects.toThrow(NoSavedItemError);
      await expect(saved.get(newTenant(), 'boards', b.id)).rejects.toThrow(NoSavedItemError);
    });

    test('replaces the version that was read, and no other', async () => {
      const tenant = newTenant();
      const first = await saved.create(tenant, 'boards', given('x'));
      const second = await other.replace(tenant, 'boards', first, given('y'));
      expect(second).toMatchObject({ id: first.id, name: 'y', version: 2 });
      const late = saved.replace(tenant, 'boards', first, given('z'));
      await expect(late).rejects.toThrow(SavedConflictError);
      await expect(saved.delete(tenant, 'boards', first)).rejects.toThrow('(current version: 2)');
      expect(await saved.get(tenant, 'boards', first.id)).toMatchObject({ name: 'y', version: 2 });
      await saved.delete(tenant, 'boards', second);
      expect(await other.list(tenant, 'boards')).toEqual([]);
      await expect(saved.delete(tenant, 'boards', second)).rejects.toThrow(NoSavedItemError);
      await expect(saved.replace(tenant, 'boards', second, given('w'))).rejects.toThrow(NoSavedItemError);
    });

    test('one of two concurrent editors wins, and the other one gets a conflict', async () => {
      const tenant = newTenant();
      const first = await saved.create(tenant, 'queries', given('x'));
      const ends = await Promise.allSettled([
        saved.replace(tenant, 'queries', first, given('mine')),
        other.replace(tenant, 'queries', first, given('yours')),
      ]);
      expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      expect(ends.find(({ status }) => status === 'rejected')).toMatchObject({
        reason: { status: 409, message: expect.stringContaining('load it again, or save a copy') },
      });
      expect((await saved.list(tenant, 'queries')).map(({ version }) => version)).toEqual([2]);
    });

    test('concurrent writers lose no item', async () => {
      const tenant = newTenant();
      const names = Array.from({ length: 12 }, (_, i) => `n${i}`).sort();
      await Promise.all(names.map((one, i) => (i % 2 ? saved : other).create(tenant, 'queries', given(one))));
      expect((await saved.list(tenant, 'queries')).map(one => one.name)).toEqual(names);
    });

    test('adopts an item of another tenant once, with its version', async () => {
      const [from, to] = [newTenant(), newTenant()];
      const { id } = await saved.create(from, 'boards', given('x'));
      await saved.replace(from, 'boards', { id, version: 1 }, given('y'));
      const item = await saved.get(from, 'boards', id);
      await saved.adopt(to, 'boards', item);
      await saved.adopt(to, 'boards', { ...item, name: 'another' });
      expect(await other.get(to, 'boards', id)).toEqual(item);
      expect(await other.list(to, 'boards')).toHaveLength(1);
    });

    test('refuses an item that is too large', async () => {
      const tenant = newTenant();
      const large = { text: 'x'.repeat(64 * 1024) };
      await expect(saved.create(tenant, 'queries', given('x', large))).rejects.toThrow('limit: 65536');
      expect(await saved.list(tenant, 'queries')).toEqual([]);
    });
  });
}

/** Needs 300 writes, for tables without latency. */
export function savedLimitsContract(name: string, open: () => Promise<SavedItems>): void {
  test(`saved items on ${name} have a limit for each kind, with the longest names`, async () => {
    const saved = await open();
    const long = '€'.repeat(80);
    for (let i = 0; i < MAX_SAVED.queries; i++)
      await saved.create('t', 'queries', { name: long, about: '€'.repeat(500), content: i });
    await expect(saved.create('t', 'queries', given('x'))).rejects.toThrow(
      'too many queries: 300, limit: 300',
    );
    const [head] = await saved.list('t', 'queries');
    expect(head.about).toHaveLength(120);
    await saved.delete('t', 'queries', head);
    await saved.create('t', 'queries', given('x'));
    await saved.create('t', 'boards', given('x'));
  });
}
