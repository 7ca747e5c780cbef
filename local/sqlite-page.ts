/** Builds pages of the SQLite table from its rows. */
import type { Item, QueryOptions, QueryPage } from '../shared/base/ports/table.ts';
import { endOfBody, isExpired, itemBytes, MAX_QUERY_PAGE_BYTES } from '../shared/base/ports/table-rules.ts';

export type TableRow = Record<string, unknown>;

/** Columns of a HeadRow. */
export const HEAD_COLUMNS = 'sk, version, expires_at, length(body), hex(substr(body, -4))';
/**
 * An item without its body. A body costs more than the rest of its row, because it needs a separate
 * allocation.
 */
export type HeadRow = readonly [
  sk: string,
  version: number,
  expiresAt: number | null,
  bodyBytes: number,
  bodyEnd: string,
];

/** Maximum number of bodies that are read one by one. A page with more is read by one statement. */
const MAX_SINGLE_BODIES = 8;

/** Counts expired rows for the page, as DynamoDB does, so that one call reads a bounded number of rows. */
export function pageOf(pk: string, rows: Iterable<TableRow>, limit: number, nowMs: number): QueryPage {
  const items: Item[] = [];
  let read = 0;
  let bytes = 0;
  let last = '';
  for (const row of rows) {
    if (read === limit || bytes >= MAX_QUERY_PAGE_BYTES) return { items, next: last };
    const item = itemOfRow(pk, row);
    if (!isExpired(item.expiresAt, nowMs)) items.push(item);
    read++;
    bytes += itemBytes(item);
    last = item.sk;
  }
  return { items };
}

/**
 * Builds the same page if most of its items are known and none expires; `undefined` otherwise.
 *
 * @param heads in ascending order, at most one more than `limit`
 * @param rowOf reads the row with its body, if it still exists
 */
export function pageOfKnown(
  pk: string,
  heads: readonly HeadRow[],
  limit: number,
  known: NonNullable<QueryOptions['known']>,
  rowOf: (sk: string) => TableRow | undefined,
): QueryPage | undefined {
  const items: Item[] = [];
  const keyBytes = Buffer.byteLength(pk);
  let single = 0;
  let bytes = 0;
  let last = '';
  for (const [sk, version, expiresAt, bodyBytes, bodyEnd] of heads) {
    if (items.length === limit || bytes >= MAX_QUERY_PAGE_BYTES) return { items, next: last };
    if (expiresAt !== null) return undefined;
    let item = known({ pk, sk, version, bodyBytes, bodyEnd });
    if (item === undefined) {
      const row = ++single <= MAX_SINGLE_BODIES ? rowOf(sk) : undefined;
      item = row && itemOfRow(pk, row);
      // The row is read later than its head. If it changed, other rows may have changed too.
      if (item?.version !== version || item.expiresAt !== undefined) return undefined;
      if (item.body.length !== bodyBytes || endOfBody(item.body) !== bodyEnd) return undefined;
    }
    items.push(item);
    bytes += keyBytes + Buffer.byteLength(sk) + bodyBytes;
    last = sk;
  }
  return { items };
}

export function itemOfRow(pk: string, row: TableRow): Item {
  const item = { pk, sk: row.sk as string, version: row.version as number, body: row.body as Uint8Array };
  return row.expires_at === null ? item : { ...item, expiresAt: row.expires_at as number };
}
