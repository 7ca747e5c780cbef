/**
 * How many partitions of the table a tenant's records should be spread over. DynamoDB writes 1,000 units (KB) a second to a partition,
 * and a tenant whose agents push little at a time writes a record for each push:
 *
 *     units for a byte of lines (what this process wrote)  x  bytes a second (what all processes are offered)  /  units a partition takes
 *
 * The number is a power of two and is only ever asked to rise: a day keeps the most that any process asked for (day-item.ts).
 */
import { LruCache } from '../../base/model/lru.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { CHUNK_SHARDS, MAX_CHUNK_SHARDS } from '../../storage/catalog/keys.ts';

/**
 * Units of puts a second in one partition. Merges delete each record in a transaction, for twice the units of its put, so at this
 * rate a partition takes 900.
 */
const UNITS_OF_PARTITION = 300;
/** Groups of pushes before anything is asked for: a single small push says little of a tenant. */
const MIN_GROUPS = 20;
/** Of a new group in what is known of a byte; the groups of about a minute at one a second count. */
const FORGET = 1 - 1 / 64;
/** Tenants that are remembered, about 100 bytes each. */
const MAX_TENANTS = 10_000;
/** A record without its object or footer: names, sizes, hashes of label pairs. */
const RECORD_BYTES = 300;
const UNIT_BYTES = 1024;

interface Written {
  units: number;
  bytes: number;
  groups: number;
}

export class RecordPartitions {
  readonly #written = new LruCache<string, Written>(MAX_TENANTS);

  /**
   * Notes a group of pushes that is about to be committed; returns the partitions that its tenant needs.
   * @param demand bytes a second that all processes are offered; undefined if it is not known
   */
  wanted(
    tenant: string,
    { bytes, records }: { readonly bytes: number; readonly records: readonly ChunkRecord[] },
    demand: number | undefined,
  ): number {
    let known = this.#written.get(tenant);
    if (known === undefined) this.#written.set(tenant, (known = { units: 0, bytes: 0, groups: 0 }));
    known.units = known.units * FORGET + records.reduce((sum, record) => sum + unitsOf(record), 0);
    known.bytes = known.bytes * FORGET + bytes;
    known.groups++;
    if (demand === undefined || known.groups < MIN_GROUPS || known.bytes === 0) return CHUNK_SHARDS;
    return partitionsFor((known.units / known.bytes) * demand);
  }
}

/** Partitions that take so many units of puts a second. */
export function partitionsFor(unitsPerSecond: number): number {
  let partitions = CHUNK_SHARDS;
  while (partitions < MAX_CHUNK_SHARDS && partitions * UNITS_OF_PARTITION < unitsPerSecond) partitions *= 2;
  return partitions;
}

function unitsOf({ inline, footer, pairs }: ChunkRecord): number {
  const bytes = RECORD_BYTES + (inline ?? footer ?? '').length + 4 * (pairs?.length ?? 0);
  return Math.ceil(bytes / UNIT_BYTES);
}
