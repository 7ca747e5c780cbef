/**
 * Estimates over how many table partitions a tenant's chunk records should be spread. DynamoDB writes up to
 * 1,000 units (KB) per second to a partition. A tenant whose agents send small pushes writes a record for
 * each push:
 *
 *     units per byte of lines (of this process)  x  bytes per second (of all processes)  /  units of a partition
 *
 * The number is a power of two and only rises: a day stores the maximum that any process requested
 * (day-item.ts).
 */
import { LruCache } from '../../base/model/lru.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { DISTANT_CHUNK_SHARDS, MAX_CHUNK_SHARDS } from '../../storage/catalog/keys.ts';

/**
 * Units of puts per second in one partition. A merge deletes each record in a transaction, at twice the units
 * of its put, so a partition then writes 900.
 */
const UNITS_OF_PARTITION = 300;
/** Minimum groups of pushes before a request: a single small push does not characterize a tenant. */
const MIN_GROUPS = 20;
/** Decay of the average units per byte. At one group per second it reflects about the last minute. */
const FORGET = 1 - 1 / 64;
/** Maximum tenants with stored figures, about 100 bytes each. */
const MAX_TENANTS = 10_000;
/** Size of a record without its object or footer: names, sizes, hashes of label pairs. */
const RECORD_BYTES = 300;
const UNIT_BYTES = 1024;

interface WrittenUnits {
  units: number;
  bytes: number;
  groups: number;
}

export class RecordPartitions {
  readonly #written = new LruCache<string, WrittenUnits>(MAX_TENANTS);

  /**
   * Records a group of pushes before its commit. Returns the number of partitions that its tenant needs.
   *
   * @param demand bytes per second of all processes; undefined if unknown
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
    if (demand === undefined || known.groups < MIN_GROUPS || known.bytes === 0) return DISTANT_CHUNK_SHARDS;
    return partitionsFor((known.units / known.bytes) * demand);
  }
}

/** Returns the number of partitions for a rate of put units. */
export function partitionsFor(unitsPerSecond: number): number {
  let partitions = DISTANT_CHUNK_SHARDS;
  while (partitions < MAX_CHUNK_SHARDS && partitions * UNITS_OF_PARTITION < unitsPerSecond) partitions *= 2;
  return partitions;
}

function unitsOf({ inline, footer, pairs }: ChunkRecord): number {
  const bytes = RECORD_BYTES + (inline ?? footer ?? '').length + 4 * (pairs?.length ?? 0);
  return Math.ceil(bytes / UNIT_BYTES);
}
