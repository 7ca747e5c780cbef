import { expect, test } from '@jest/globals';
import { type HeadRow, pageOfKnown, type TableRow } from '../../local/sqlite-page.ts';
import type { Item } from '../../shared/base/ports/table.ts';
import { endOfBody, MAX_QUERY_PAGE_BYTES } from '../../shared/base/ports/table-rules.ts';

const item = (sk: string): Item => ({ pk: 'p', sk, version: 1, body: Buffer.from(`body of ${sk}`) });
const headOf = ({ sk, version, body }: Item): HeadRow => [sk, version, null, body.length, endOfBody(body)];
const rowOf = ({ sk, version, body }: Item): TableRow => ({ sk, version, body, expires_at: null });
const ITEMS = Array.from({ length: 20 }, (_, i) => item(`k${10 + i}`));
const bySk = new Map(ITEMS.map(one => [one.sk, one]));
const none = () => undefined;

function page(known: readonly Item[], { limit = 100, rows = (sk: string) => rowOf(bySk.get(sk)!) } = {}) {
  const read: string[] = [];
  const found = pageOfKnown(
    'p',
    ITEMS.map(headOf),
    limit,
    ({ sk }) => known.find(one => one.sk === sk),
    sk => {
      read.push(sk);
      return rows(sk);
    },
  );
  return { found, read };
}

test('reads only unknown items, one by one', () => {
  const { found, read } = page(ITEMS.slice(3));
  expect(read).toEqual(['k10', 'k11', 'k12']);
  expect(found?.items).toEqual(ITEMS);
  expect(found?.items[5]).toBe(ITEMS[5]);
  expect(found?.next).toBeUndefined();
});

test('reads the whole page if much of it is unknown', () => {
  const { found, read } = page(ITEMS.slice(9));
  expect(found).toBeUndefined();
  expect(read).toHaveLength(8);
});

test('reads the page again if items were deleted, changed or made to expire after its head was read', () => {
  const gone = page(ITEMS.slice(1), { rows: () => undefined as unknown as TableRow });
  expect(gone.found).toBeUndefined();
  for (const change of [
    { version: 2 },
    { body: Buffer.from('longer than it was') },
    { body: Buffer.from('BODY OF K10') },
    { expires_at: 5 },
  ]) {
    const changed = page(ITEMS.slice(1), { rows: sk => ({ ...rowOf(bySk.get(sk)!), ...change }) });
    expect(changed.found).toBeUndefined();
  }
  const expiring = [...ITEMS.map(headOf), ['z', 1, 99, 1, ''] as const];
  expect(pageOfKnown('p', expiring, 100, ({ sk }) => bySk.get(sk), none as never)).toBeUndefined();
});

test('a page ends at its limits of items and bytes', () => {
  expect(page(ITEMS, { limit: 5 }).found).toEqual({ items: ITEMS.slice(0, 5), next: 'k14' });
  const large = { ...item('a'), body: new Uint8Array(MAX_QUERY_PAGE_BYTES / 2) };
  const heads = ['a', 'b', 'c'].map((sk): HeadRow => [sk, 1, null, large.body.length, '']);
  const found = pageOfKnown('p', heads, 100, ({ sk }) => ({ ...large, sk }), none);
  expect(found?.items.map(({ sk }) => sk)).toEqual(['a', 'b']);
  expect(found?.next).toBe('b');
});
