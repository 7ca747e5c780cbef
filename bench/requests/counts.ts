/** Requests to S3 and DynamoDB as sums that can be added, compared and priced. */
import type { Prices } from '../../shared/server/admin/prices.ts';

export interface RequestCounts {
  readonly objectGets: number;
  readonly objectHeads: number;
  readonly objectPuts: number;
  readonly objectLists: number;
  readonly objectDeletes: number;
  /** Bytes of response bodies, and of objects that were put. */
  readonly objectReadBytes: number;
  readonly objectWrittenBytes: number;
  /** Requests: GetItem and Query; PutItem, DeleteItem and transactions. */
  readonly tableReads: number;
  readonly tableWrites: number;
  /** Bytes of the items that were read. */
  readonly tableReadBytes: number;
  readonly readUnits: number;
  readonly writeUnits: number;
  /** Errors that are not billed: 5xx, throttling. */
  readonly failures: number;
}

export const NO_COUNTS: RequestCounts = Object.freeze({
  objectGets: 0,
  objectHeads: 0,
  objectPuts: 0,
  objectLists: 0,
  objectDeletes: 0,
  objectReadBytes: 0,
  objectWrittenBytes: 0,
  tableReads: 0,
  tableWrites: 0,
  tableReadBytes: 0,
  readUnits: 0,
  writeUnits: 0,
  failures: 0,
});

const MILLION = 1_000_000;
const NAMES = Object.keys(NO_COUNTS) as (keyof RequestCounts)[];

export function plus(a: RequestCounts, b: Partial<RequestCounts>): RequestCounts {
  return combined(name => a[name] + (b[name] ?? 0));
}

/** Difference of two counts. */
export function since(before: RequestCounts, after: RequestCounts): RequestCounts {
  return combined(name => after[name] - before[name]);
}

function combined(of: (name: keyof RequestCounts) => number): RequestCounts {
  return Object.fromEntries(NAMES.map(name => [name, of(name)])) as unknown as RequestCounts;
}

/**
 * Price in the currency of the prices. A HEAD costs as much as a GET, a listing as much as a PUT. S3 deletes
 * for free, and transfer inside a region is free.
 */
export function priceOf(counts: RequestCounts, prices: Prices): number {
  const { objectGets, objectHeads, objectPuts, objectLists } = counts;
  const objects =
    (objectGets + objectHeads) * prices.objectGetMillion +
    (objectPuts + objectLists) * prices.objectPutMillion;
  const table = counts.readUnits * prices.tableReadMillion + counts.writeUnits * prices.tableWriteMillion;
  return (objects + table) / MILLION;
}
