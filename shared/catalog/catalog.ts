/**
 * Which chunks exist. A chunk is in the store from the moment its record is, and only then; objects without a
 * record are invisible (and later collected).
 *
 *     c/<tenant>/<day>/<shard>   <last time, hex>/<chunk id>   a chunk
 *     d/<tenant>                 <day>                         the tenant has chunks of that day
 *
 * The sort key starts with the chunk's last timestamp, so a query reads only records that end at or after its start.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { NS_PER_DAY } from '../model/duration.ts';
import { LruCache } from '../model/lru.ts';
import {
  type Item,
  MAX_TRANSACTION_BYTES,
  MAX_TRANSACTION_ITEMS,
  type Table,
  type Write,
} from '../ports/table.ts';
import { type ChunkRecord, decodeRecord, encodeRecord } from './chunk-record.ts';

/** Spreads a tenant's day over partitions of the table: 4,000 commits/s of one tenant on DynamoDB. */
export const SHARDS = 4;
/** Days are written as days since this one, so that they sort as text; reaches every int64 nanosecond. */
const DAY_BIAS = 1_000_000;
/** Known (tenant, day) pairs: a miss costs one small write. */
const KNOWN_DAYS = 10_000;
/** Decoded records by item key, bytes: they save decoding on every query, and a record never changes. */
const CACHED_RECORD_BYTES = 24 * 1024 * 1024;
/** What a decoded record takes beside its bytes. */
const RECORD_OVERHEAD_BYTES = 400;

export class Catalog {
  private readonly table: Table;
  private readonly knownDays = new LruCache<string, true>(KNOWN_DAYS);
  private readonly decoded = new LruCache<string, ChunkRecord>(CACHED_RECORD_BYTES);

  constructor(table: Table) {
    this.table = table;
  }

  /**
   * Makes chunks visible, durably; their objects are durable already. All together where they fit one transaction;
   * else in several, and a failure between them leaves some visible, which a retry makes good.
   */
  async addChunks(records: readonly ChunkRecord[]): Promise<void> {
    let writes: Write[] = [];
    let bytes = 0;
    const newDays = new Set<string>();
    const flush = async () => {
      if (writes.length === 1 && writes[0].kind === 'put') await this.table.put(writes[0].item);
      else if (writes.length > 0) await this.table.transact(writes);
      writes = [];
      bytes = 0;
    };
    for (const record of records) {
      const body = encodeRecord(record);
      if (writes.length + 2 > MAX_TRANSACTION_ITEMS || bytes + body.length > MAX_TRANSACTION_BYTES)
        await flush();
      const dayKey = `${record.tenant}/${record.day}`;
      if (this.knownDays.get(dayKey) === undefined && !newDays.has(dayKey)) {
        newDays.add(dayKey);
        writes.push({ kind: 'put', item: dayItem(record) });
      }
      writes.push({ kind: 'put', item: chunkItem(record, body) });
      bytes += body.length;
    }
    await flush();
    for (const day of newDays) this.knownDays.set(day, true);
  }

  /** UTC days in which a tenant has chunks, ascending, of those that meet the inclusive range. */
  async days(tenant: string, firstDay: number, lastDay: number): Promise<number[]> {
    const days: number[] = [];
    const from = dayText(Math.max(firstDay, -DAY_BIAS));
    const to = dayText(Math.min(lastDay, DAY_BIAS) + 1);
    let after: string | undefined;
    do {
      const page = await this.table.query(`d/${tenant}`, { from, to, after });
      for (const item of page.items) days.push(Number.parseInt(item.sk, 10) - DAY_BIAS);
      after = page.next;
    } while (after !== undefined);
    return days;
  }

  /** Chunks of a tenant with entries that may lie in `startNs <= timestamp <= endNs`, in no order. */
  async chunks(tenant: string, startNs: bigint, endNs: bigint): Promise<ChunkRecord[]> {
    if (endNs < startNs) return [];
    const days = await this.days(tenant, dayOf(startNs), dayOf(endNs));
    const found: ChunkRecord[] = [];
    for (const day of days) {
      const dayStart = BigInt(day) * NS_PER_DAY;
      const start = startNs <= dayStart ? 0 : Number(startNs - dayStart);
      const end = endNs - dayStart >= NS_PER_DAY ? Infinity : Number(endNs - dayStart);
      const shards = await Promise.all(
        Array.from({ length: SHARDS }, (_, shard) => this.chunksOfShard(tenant, day, shard, start)),
      );
      for (const records of shards) for (const record of records) if (record.first <= end) found.push(record);
    }
    return found;
  }

  private async chunksOfShard(
    tenant: string,
    day: number,
    shard: number,
    start: number,
  ): Promise<ChunkRecord[]> {
    const pk = partition(tenant, day, shard);
    const records: ChunkRecord[] = [];
    let after: string | undefined;
    do {
      const page = await this.table.query(pk, { from: timeText(start), after });
      for (const item of page.items) records.push(this.decode(tenant, day, item));
      // A local table waits for nothing: others get their turn here.
      await nextTurn();
      after = page.next;
    } while (after !== undefined);
    return records;
  }

  private decode(tenant: string, day: number, item: Item): ChunkRecord {
    const key = `${item.pk} ${item.sk}`;
    let record = this.decoded.get(key);
    if (record === undefined) {
      record = decodeRecord(tenant, day, item.body);
      this.decoded.set(key, record, item.body.length + RECORD_OVERHEAD_BYTES);
    }
    return record;
  }
}

/** UTC day of a timestamp, rounded down. */
export function dayOf(ns: bigint): number {
  const day = ns / NS_PER_DAY;
  return Number(ns < 0n && day * NS_PER_DAY !== ns ? day - 1n : day);
}

function partition(tenant: string, day: number, shard: number): string {
  return `c/${tenant}/${day}/${shard}`;
}

function chunkItem(record: ChunkRecord, body: Buffer): Item {
  const shard = Number.parseInt(record.id.slice(0, 2), 16) % SHARDS;
  return {
    pk: partition(record.tenant, record.day, shard),
    sk: `${timeText(record.last)}/${record.id}`,
    version: 0,
    body,
  };
}

function dayItem(record: ChunkRecord): Item {
  return { pk: `d/${record.tenant}`, sk: dayText(record.day), version: 0, body: new Uint8Array(0) };
}

function dayText(day: number): string {
  return String(day + DAY_BIAS).padStart(7, '0');
}

/** A time of day fits 47 bits: 12 hex digits sort as numbers do. */
function timeText(timeOfDay: number): string {
  return timeOfDay.toString(16).padStart(12, '0');
}
