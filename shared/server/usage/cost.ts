/**
 * Estimates the cost of a tenant's day on AWS from counters. The formula is the one of
 * docs/dev/cost-model.md, and docs/reference/metrics.md describes it. The constants were measured there. It
 * assumes functions with one chunk per push, even on one machine.
 */

import type { Prices } from '../admin/prices.ts';
import type { Sums } from './figures.ts';

/** Stored bytes of the day's data. */
export interface StoredBytes {
  /** Bytes in objects. */
  readonly objectBytes: number;
  /** Bytes in the table. */
  readonly tableBytes: number;
}

/** Amounts in the currency of the prices. */
export interface Cost {
  readonly ingest: number;
  readonly storage: number;
  readonly queries: number;
  readonly total: number;
}

const KB = 1000;
const GB = 1_000_000_000;
const MILLION = 1_000_000;
/** The gateway bills each started 512 KB as one request. */
const GATEWAY_UNIT_BYTES = 512 * 1024;

/**
 * A push of n KB is a record of about 0.68 + 0.26 n KB below the inline threshold (docs/dev/cost-model.md).
 */
const INLINE_RECORD_KB = 0.68;
const INLINE_KB_PER_KB = 0.26;
const INLINE_MAX_KB = 4.3;
/**
 * Above the threshold, an object, and a record that grows slowly with the number of its streams and pages.
 */
const OBJECT_RECORD_KB = 0.86;
const OBJECT_RECORD_KB_PER_KB = 0.0004;

/** Functions for pushes have 1,769 MB, those for queries 3,008 MB (lib/function-classes.ts). */
const PUSH_MEMORY_GB = 1769 / 1024;
const QUERY_MEMORY_GB = 3008 / 1024;
/** Time to wait for the stores, and CPU time per stored byte. */
const PUSH_WAIT_S = 0.05;
const PUSH_S_PER_GB = 15;
/** A chunk record is about 1 KB, and a read unit is 4 KB. */
const RECORDS_PER_READ_UNIT = 4;

/** Objects and write units of a push with `rawBytes` of lines and metadata, including the later deletion. */
export function chunkWrites(rawBytes: number): { objectPuts: number; writeUnits: number } {
  const inlineKb = INLINE_RECORD_KB + (INLINE_KB_PER_KB * rawBytes) / KB;
  if (inlineKb <= INLINE_MAX_KB) return { objectPuts: 0, writeUnits: 2 * Math.ceil(inlineKb) };
  const recordKb = OBJECT_RECORD_KB + (OBJECT_RECORD_KB_PER_KB * rawBytes) / KB;
  return { objectPuts: 1, writeUnits: 2 * Math.ceil(recordKb) };
}

/** Requests that the gateway bills for a push of `rawBytes`. A compressed push may be billed less. */
export function gatewayUnits(rawBytes: number): number {
  return Math.max(1, Math.ceil(rawBytes / GATEWAY_UNIT_BYTES));
}

/** @param daysOfMonth number of days in the month of the day */
export function costOf(sums: Sums, stored: StoredBytes, prices: Prices, daysOfMonth: number): Cost {
  const ingest = ingestCost(sums, prices);
  const storage = storageCost(stored, prices) / daysOfMonth;
  const queries = queryCost(sums, prices);
  return { ingest, storage, queries, total: ingest + storage + queries };
}

function ingestCost(sums: Sums, prices: Prices): number {
  const { pushes, objectPuts } = sums;
  const rawGb = (sums.lineBytes + sums.metadataBytes) / GB;
  const gbSeconds = (pushes * PUSH_WAIT_S + rawGb * PUSH_S_PER_GB) * PUSH_MEMORY_GB;
  // Compaction reads each object once.
  const objects = objectPuts * (prices.objectPutMillion + prices.objectGetMillion);
  const requests =
    sums.gatewayUnits * prices.gatewayRequestMillion +
    pushes * prices.functionRequestMillion +
    sums.writeUnits * prices.tableWriteMillion +
    objects;
  return requests / MILLION + gbSeconds * prices.functionGbSecond;
}

/** Storage cost of one month. */
function storageCost({ objectBytes, tableBytes }: StoredBytes, prices: Prices): number {
  return (objectBytes * prices.objectStorageGbMonth + tableBytes * prices.tableStorageGbMonth) / GB;
}

function queryCost(sums: Sums, prices: Prices): number {
  const gbSeconds = (sums.queryMs / 1000) * QUERY_MEMORY_GB;
  const requests =
    sums.queries * (prices.gatewayRequestMillion + prices.functionRequestMillion) +
    sums.queryGets * prices.objectGetMillion +
    (sums.queryRecords / RECORDS_PER_READ_UNIT) * prices.tableReadMillion;
  return requests / MILLION + gbSeconds * prices.functionGbSecond;
}
