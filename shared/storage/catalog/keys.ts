/**
 * Defines the keys of the catalog's items. A partition contains only items that are read together, and none is a hot
 * spot.
 *
 *     c/<tenant>                 <day>/<last time>/<chunk id>  a chunk of a day that had one partition
 *     c/<tenant>/<day>/<shard>   <last time, hex>/<chunk id>   a chunk of a day with several
 *     d/<tenant>                 <day>                         a day with chunks; its version rises with every swap
 *     w/<shard>                  <tenant>/<day>                a day with work outstanding
 *     t/<shard>                  <tenant>                      a tenant that has or had data
 *     g/<shard>                  <due, hex>/<id>               objects to delete from then on
 *     l/<name>                   lease                         the process that may do some work
 */
import type { ItemKey } from '../../base/ports/table.ts';
import type { ChunkRecord } from './chunk-record.ts';

/** Partitions of a tenant's day if its item and records do not state another number (day-item.ts). */
export const CHUNK_SHARDS = 4;
/**
 * Partitions of a new day over a distant table: the one that all such days of the tenant share, so that a query reads
 * any number of days with one request. DynamoDB writes 1,000 units a second to a partition. A day gets its own ones with
 * the rate of its tenant (record-partitions.ts). Merges write into the first ones, so a reader with an outdated smaller
 * number misses only recent pushes.
 */
export const DISTANT_CHUNK_SHARDS = 1;
/** Maximum partitions, a power of two like every number of them: one for each value of a random byte. */
export const MAX_CHUNK_SHARDS = 256;
/** Number of partitions for items that all tenants share. */
export const COMMON_SHARDS = 4;
/** Offset of stored days, so that they sort as text. Covers every int64 nanosecond. */
export const DAY_BIAS = 1_000_000;

export function chunkPartition(tenant: string, day: number, shard: number): string {
  return `c/${tenant}/${day}/${shard}`;
}

/** Partition of the records of all days that had one partition when the record was written. */
export function commonChunkPartition(tenant: string): string {
  return `c/${tenant}`;
}

/** Start of the sort keys of a day in the common partition. */
export function commonDayText(day: number): string {
  return `${dayText(day)}/`;
}

export function chunkKey({ tenant, day, last, id, partitions }: ChunkRecord): ItemKey {
  const sk = `${timeKeyText(last)}/${id}`;
  if (partitions === 1) return { pk: commonChunkPartition(tenant), sk: commonDayText(day) + sk };
  return { pk: chunkPartition(tenant, day, shardOf(id, partitions ?? CHUNK_SHARDS)), sk };
}

/** Human-readable content of a partition that a query reads. */
export function contentOfPartition(pk: string): string {
  const [kind] = pk.split('/', 1);
  return PARTITION_CONTENTS[kind] ?? 'otherItems';
}

const PARTITION_CONTENTS: Readonly<Record<string, string>> = {
  c: 'chunkRecords',
  d: 'days',
  e: 'deleteRequests',
  f: 'deleteRequests',
  v: 'deleteRequests',
};

/** Tenant and day of a chunk record; undefined for keys of other items. */
export function dayOfChunkKey({
  pk,
  sk,
}: ItemKey): { readonly tenant: string; readonly day: number } | undefined {
  const [kind, tenant, day] = pk.split('/');
  if (kind !== 'c') return undefined;
  return { tenant, day: day === undefined ? dayOfText(sk) : Number(day) };
}

export function dayPartition(tenant: string): string {
  return `d/${tenant}`;
}

export function dayKey(tenant: string, day: number): ItemKey {
  return { pk: dayPartition(tenant), sk: dayText(day) };
}

export function workPartition(shard: number): string {
  return `w/${shard}`;
}

export function workKey(tenant: string, day: number): ItemKey {
  return { pk: workPartition(shardOfText(tenant)), sk: `${tenant}/${dayText(day)}` };
}

export function tenantPartition(shard: number): string {
  return `t/${shard}`;
}

export function tenantKey(tenant: string): ItemKey {
  return { pk: tenantPartition(shardOfText(tenant)), sk: tenant };
}

export function garbagePartition(shard: number): string {
  return `g/${shard}`;
}

export function garbageKey(dueMs: number, id: string): ItemKey {
  return { pk: garbagePartition(shardOf(id, COMMON_SHARDS)), sk: `${timeKeyText(dueMs)}/${id}` };
}

export function leaseKey(name: string): ItemKey {
  return { pk: `l/${name}`, sk: 'lease' };
}

export function dayText(day: number): string {
  return String(day + DAY_BIAS).padStart(7, '0');
}

export function dayOfText(text: string): number {
  return Number.parseInt(text, 10) - DAY_BIAS;
}

/** Formats a time of day in ns or a Unix time in ms. Both fit 47 bits, and 12 hex digits sort like numbers. */
export function timeKeyText(time: number): string {
  return time.toString(16).padStart(12, '0');
}

/** Selects the shard by the random end of a chunk's name, because the start is the time. */
function shardOf(id: string, shards: number): number {
  return Number.parseInt(id.slice(-2), 16) % shards;
}

export function shardOfText(text: string): number {
  let sum = 0;
  for (let i = 0; i < text.length; i++) sum = (sum * 31 + text.charCodeAt(i)) >>> 0;
  return sum % COMMON_SHARDS;
}
