/**
 * Rules that every implementation of the table port shares: limits, conditions, expiry, page sizes. With one
 * definition, a record that one table accepts is never refused by another.
 */
import { types } from 'node:util';
import {
  type Condition,
  type Item,
  type ItemKey,
  MAX_ITEM_BODY_BYTES,
  MAX_TRANSACTION_BYTES,
  MAX_TRANSACTION_ITEMS,
  type QueryOptions,
  type Write,
} from './table.ts';

/** DynamoDB's limits for the two parts of a key, bytes. */
const MAX_PARTITION_KEY_BYTES = 2048;
export const MAX_SORT_KEY_BYTES = 1024;

/** Maximum number of items in a page. */
const MAX_QUERY_LIMIT = 1000;
/**
 * Page size limit, bytes: a page ends with the item that reaches it. DynamoDB reads 1 MB per query request.
 */
export const MAX_QUERY_PAGE_BYTES = 1024 * 1024;
/** Maximum number of items that one sweep deletes. A sweep shares a thread with requests. */
const MAX_SWEEP_ITEMS = 1000;

/**
 * Returns whether an item that expires at `expiresAt` (Unix seconds) is hidden from readers, which starts in
 * that second.
 */
export function isExpired(expiresAt: number | undefined | null, nowMs: number): boolean {
  return typeof expiresAt === 'number' && expiresAt * 1000 <= nowMs;
}

/** Returns whether `condition` holds for the stored version; undefined means an absent or expired item. */
export function conditionHolds(condition: Condition | undefined, version: number | undefined): boolean {
  if (condition === undefined) return true;
  switch (condition.kind) {
    case 'absent':
      return version === undefined;
    case 'present':
      return version !== undefined;
    case 'version':
      return version === condition.version;
  }
}

/** Returns the size of an item in pages and transactions, bytes. */
export function itemBytes(item: Item): number {
  return Buffer.byteLength(item.pk) + Buffer.byteLength(item.sk) + item.body.byteLength;
}

/** Computes `bodyEnd` of an item head. */
export function endOfBody(body: Uint8Array): string {
  return Buffer.from(body.subarray(-4)).toString('hex').toUpperCase();
}

export function keyOfWrite(write: Write): ItemKey {
  return write.kind === 'put' ? write.item : write.key;
}

/** Throws RangeError unless both parts of the key are well-formed text of 1 byte to their limit. */
export function checkItemKey(key: ItemKey): void {
  checkKeyPart('partition key', key.pk, MAX_PARTITION_KEY_BYTES);
  checkKeyPart('sort key', key.sk, MAX_SORT_KEY_BYTES);
}

/** Throws RangeError unless the query is valid; empty bounds are allowed. */
export function checkQuery(pk: string, options: QueryOptions): void {
  checkKeyPart('partition key', pk, MAX_PARTITION_KEY_BYTES);
  for (const bound of [options.from, options.to, options.after]) {
    if (bound !== undefined && !bound.isWellFormed())
      throw new RangeError('bound of sort keys is not well-formed');
  }
}

/** Returns the page size of a query. Throws RangeError unless it is a whole number from 1. */
export function queryLimit(limit: number | undefined): number {
  if (limit === undefined) return MAX_QUERY_LIMIT;
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit ${limit} is not a whole number from 1`);
  return Math.min(limit, MAX_QUERY_LIMIT);
}

/**
 * Returns the number of items that a sweep may delete. Throws RangeError unless it is a whole number from 1.
 */
export function sweepLimit(limit: number | undefined): number {
  return boundedLimit(limit, MAX_SWEEP_ITEMS);
}

/** Throws RangeError unless the item respects every limit. */
export function checkItem(item: Item): void {
  checkItemKey(item);
  // SQLite in Node.js 22 truncates returned text at a NUL. A lookup of such a key is allowed and finds
  // nothing.
  if (`${item.pk}${item.sk}`.includes('\0'))
    throw new RangeError(`key of ${item.pk} / ${item.sk} contains a NUL character`);
  if (!Number.isSafeInteger(item.version) || item.version < 0) {
    throw new RangeError(`version ${item.version} of ${item.pk} / ${item.sk} is not a whole number from 0`);
  }
  if (item.expiresAt !== undefined && (!Number.isSafeInteger(item.expiresAt) || item.expiresAt < 0)) {
    throw new RangeError(`expiresAt ${item.expiresAt} of ${item.pk} / ${item.sk} is not whole Unix seconds`);
  }
  if (!types.isUint8Array(item.body)) throw new TypeError(`body of ${item.pk} / ${item.sk} is not bytes`);
  if (item.body.byteLength > MAX_ITEM_BODY_BYTES) {
    throw new RangeError(
      `item ${item.pk} / ${item.sk} has ${item.body.byteLength} bytes, at most ${MAX_ITEM_BODY_BYTES} are allowed`,
    );
  }
}

/**
 * Throws RangeError unless the writes can be one transaction. An empty transaction is allowed and has no
 * effect.
 */
export function checkTransaction(writes: readonly Write[]): void {
  if (writes.length > MAX_TRANSACTION_ITEMS) {
    throw new RangeError(
      `transaction of ${writes.length} writes, at most ${MAX_TRANSACTION_ITEMS} are allowed`,
    );
  }
  let bytes = 0;
  const keys = new Set<string>();
  for (const write of writes) {
    const key = keyOfWrite(write);
    if (write.kind === 'put') {
      checkItem(write.item);
      bytes += itemBytes(write.item);
    } else {
      checkItemKey(key);
    }
    // The length prefix separates ('a', 'bc') from ('ab', 'c').
    const joined = `${key.pk.length}:${key.pk}${key.sk}`;
    if (keys.has(joined)) throw new RangeError(`transaction writes ${key.pk} / ${key.sk} twice`);
    keys.add(joined);
  }
  if (bytes > MAX_TRANSACTION_BYTES) {
    throw new RangeError(`transaction of ${bytes} bytes, at most ${MAX_TRANSACTION_BYTES} are allowed`);
  }
}

function boundedLimit(limit: number | undefined, most: number): number {
  if (limit === undefined) return most;
  if (!Number.isInteger(limit) || limit < 1)
    throw new RangeError(`limit ${limit} is not a whole number from 1`);
  return Math.min(limit, most);
}

function checkKeyPart(what: string, part: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(part);
  if (bytes === 0) throw new RangeError(`${what} is empty`);
  if (bytes > maxBytes) throw new RangeError(`${what} of ${bytes} bytes, at most ${maxBytes} are allowed`);
  if (!part.isWellFormed()) throw new RangeError(`${what} is not well-formed text`);
}
