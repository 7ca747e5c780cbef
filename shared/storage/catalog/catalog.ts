/**
 * Lists which chunks exist. A chunk is in the store from the moment its record exists. Objects without a record are
 * invisible and are collected later. keys.ts describes the items.
 *
 * The sort key of a record starts with the chunk's last timestamp, so a query reads only records that end at or after
 * its start. Reads of several partitions are not a snapshot. A reader therefore compares the versions of the days
 * before and after, and rereads the days that were swapped in between. The result then contains every entry (proof in
 * swap.ts). Queries over a distant table read without versions (day-reader.ts).
 *
 * The file is long because all reads of records share the caches of this class: known days and decoded records.
 */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapAtOnce } from '../../base/model/at-once.ts';
import { INVARIANTS, mustHold } from '../../base/model/invariants.ts';
import { LruCache } from '../../base/model/lru.ts';
import { NS_OF_DAY, NS_PER_DAY } from '../../base/model/time-units.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { tracedTable } from '../../base/ports/read-trace.ts';
import {
  ConditionFailedError,
  type Item,
  type ItemHead,
  MAX_TRANSACTION_BYTES,
  MAX_TRANSACTION_ITEMS,
  type QueryOptions,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { endOfBody } from '../../base/ports/table-rules.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { type ChunkRecord, decodeRecord, encodeRecord } from './chunk-record.ts';
import { type Day, decodeDay, encodeDay } from './day-item.ts';
import { DAYS_AT_ONCE, DayReader, type DayReads, type NsRange } from './day-reader.ts';
import type { DaySnapshot } from './day-snapshot.ts';
import { DeleteRequests } from './delete-requests.ts';
import { type EmptyDay, removeEmptyDay } from './empty-day.ts';
import { Garbage } from './garbage.ts';
import { GenerationNumbers } from './generation-numbers.ts';
import {
  CHUNK_SHARDS,
  COMMON_SHARDS,
  chunkKey,
  chunkPartition,
  commonChunkPartition,
  commonDayText,
  contentOfPartition,
  DAY_BIAS,
  dayKey,
  dayOfChunkKey,
  dayOfText,
  dayPartition,
  dayText,
  tenantPartition,
  timeKeyText,
} from './keys.ts';
import { Leases } from './leases.ts';
import { Members } from './members.ts';
import { OutstandingWork, tenantWrite, WORK_KNOWN_MS, workWrite } from './outstanding.ts';
import { RuleGroups } from './rule-groups.ts';
import { RuleStates } from './rule-states.ts';
import { SavedItems } from './saved-items.ts';
import { States } from './states.ts';
import { Subscriptions } from './subscriptions.ts';
import { type Swap, swapChunks } from './swap.ts';
import { TailLog } from './tail-log.ts';
import { Tickets } from './tickets.ts';
import { Tokens } from './tokens.ts';
import { UnmergedChunks } from './unmerged-chunks.ts';

/** Number of cached (tenant, day) pairs. A miss costs one small read and two small writes. */
const KNOWN_DAYS = 10_000;
/** Bytes of decoded records, cached by item key. They save decoding on every query, and a record rarely changes. */
const CACHED_RECORD_BYTES = 24 * 1024 * 1024;
/** Memory of a decoded record in addition to its bytes. */
const RECORD_OVERHEAD_BYTES = 400;
/**
 * Reads of a day before giving up. A day is swapped at most a few times a minute, in three versions each time, and is
 * read in milliseconds.
 */
const MAX_READS = 40;

/** Attempts to announce days that other processes announce or remove at the same time. */
const MAX_COMMITS = 10;
/** Number of days that are looked up concurrently: all days of one transaction. */
const ANNOUNCED_AT_ONCE = MAX_TRANSACTION_ITEMS;

/** Chunks of one transaction, with one chunk for each of their days that is not announced yet. */
interface CommitBatch {
  /** Writes in addition to those of the chunks. */
  readonly writes: Write[];
  readonly days: Map<string, ChunkRecord>;
  readonly records: ChunkRecord[];
  readonly bodies: Buffer[];
}

interface KnownDay {
  /** Unix ms. */
  readonly announcedMs: number;
  readonly partitions: number;
}

interface AddOptions {
  /** True if live tails have already received the chunks. */
  readonly known?: boolean;
  /** Minimum number of partitions of their days, a power of two (see Day). */
  readonly partitions?: number | undefined;
}

/** Caches what was decoded from an item together with the item. */
class DecodedRecord implements Item {
  readonly pk: string;
  readonly sk: string;
  readonly version: number;
  readonly body: Uint8Array;
  readonly record: ChunkRecord;
  /** See ItemHead. */
  readonly bodyEnd: string;

  constructor({ pk, sk, version, body }: Item, record: ChunkRecord) {
    this.pk = pk;
    this.sk = sk;
    this.version = version;
    this.body = body;
    this.record = record;
    this.bodyEnd = endOfBody(body);
  }
}

export interface CatalogParts {
  readonly table: Table;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Called with pushed chunks when they are visible. Must not throw. */
  readonly onPushed?: (records: readonly ChunkRecord[]) => void;
}

export class Catalog {
  readonly leases: Leases;
  readonly garbage: Garbage;
  readonly outstanding: OutstandingWork;
  readonly states: States;
  readonly generations: GenerationNumbers;
  readonly deletes: DeleteRequests;
  readonly tailLog: TailLog;
  readonly subscriptions: Subscriptions;
  readonly ruleGroups: RuleGroups;
  readonly ruleStates: RuleStates;
  readonly saved: SavedItems;
  readonly members: Members;
  readonly tokens: Tokens;
  readonly tickets: Tickets;
  readonly unmerged: UnmergedChunks;
  readonly #parts: CatalogParts;
  readonly #table: Table;
  /** Days that this process has announced. */
  readonly #knownDays = new LruCache<string, KnownDay>(KNOWN_DAYS);
  readonly #decoded = new LruCache<string, DecodedRecord>(CACHED_RECORD_BYTES);
  readonly #dayReader: DayReader;
  /** Caches whose sizes are metrics. */
  readonly caches = { records: this.#decoded };

  constructor(given: CatalogParts) {
    const { table } = given;
    const parts =
      table.isDistant === true ? { ...given, table: tracedTable(table, contentOfPartition) } : given;
    this.#parts = parts;
    this.#table = parts.table;
    this.leases = new Leases(parts);
    this.garbage = new Garbage(parts.table);
    this.outstanding = new OutstandingWork(parts);
    this.states = new States(parts.table);
    this.generations = new GenerationNumbers(parts);
    this.deletes = new DeleteRequests(parts);
    this.tailLog = new TailLog(parts);
    this.subscriptions = new Subscriptions(parts);
    this.ruleGroups = new RuleGroups(parts);
    this.ruleStates = new RuleStates(parts);
    this.saved = new SavedItems(parts);
    this.members = new Members(parts);
    this.tokens = new Tokens(parts);
    this.tickets = new Tickets(parts);
    this.unmerged = new UnmergedChunks(parts);
    const reads: DayReads = {
      days: (...range) => this.days(...range),
      ownChunks: (...range) => this.#ownChunks(...range),
      commonChunks: (...range) => this.#commonChunks(...range),
      provenDay: (...range) => this.#provenDay(...range),
      provenDays: (tenant, { startNs, endNs }) => this.snapshot(tenant, startNs, endNs),
    };
    this.#dayReader = new DayReader(reads, parts.clock);
  }

  /**
   * Makes chunks visible, durably. Their objects are durable already. Uses one transaction if all chunks fit into it.
   * Otherwise it uses several, and a failure between them leaves some chunks visible. A retry then completes the set.
   * Live tails follow the chunks unless they are `known` already.
   */
  async addChunks(
    records: readonly ChunkRecord[],
    { known = false, partitions = CHUNK_SHARDS }: AddOptions = {},
  ): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    const tailed = known ? undefined : await this.#tailedOf(records);
    let batch: CommitBatch = { writes: [], days: new Map(), records: [], bodies: [] };
    let bytes = 0;
    for (const record of records) {
      const { first, last } = record;
      const isInside = first >= 0 && first <= last && last < NS_OF_DAY;
      mustHold(INVARIANTS.chunkInsideItsDay, isInside, `${record.tenant}/${record.id}: ${first} to ${last}`);
      const body = encodeRecord(inPartitions(record, undefined));
      const isLogged = tailed?.get(record.tenant) === true;
      const more = isLogged ? 2 * body.length : body.length;
      // Counts at most two items for a day, one for its tenant, and one each for the tails and the marker.
      const items = batch.writes.length + batch.records.length + 3 * batch.days.size + 6;
      if (items > MAX_TRANSACTION_ITEMS || bytes + more > MAX_TRANSACTION_BYTES) {
        await this.#commit(batch, nowMs, tailed, partitions);
        batch = { writes: [], days: new Map(), records: [], bodies: [] };
        bytes = 0;
      }
      const day = `${record.tenant}/${record.day}`;
      if (!this.#isKnown(day, nowMs, partitions)) batch.days.set(day, record);
      if (isLogged) batch.writes.push(...this.tailLog.writes([record], nowMs));
      batch.writes.push(...this.unmerged.added(record, nowMs));
      batch.records.push(record);
      batch.bodies.push(body);
      bytes += more;
    }
    await this.#commit(batch, nowMs, tailed, partitions);
  }

  /** Resolves to whether each tenant has live tails. */
  async #tailedOf(records: readonly ChunkRecord[]): Promise<ReadonlyMap<string, boolean>> {
    const tenants = [...new Set(records.map(({ tenant }) => tenant))];
    return new Map(
      await Promise.all(tenants.map(async tenant => [tenant, await this.tailLog.isTailed(tenant)] as const)),
    );
  }

  #isKnown(day: string, nowMs: number, partitions: number): boolean {
    const known = this.#knownDays.get(day);
    if (known === undefined || known.partitions < partitions) return false;
    // Compares both bounds, so that a clock that was set back does not extend the validity.
    return known.announcedMs <= nowMs && nowMs - known.announcedMs < WORK_KNOWN_MS;
  }

  async #commit(
    batch: CommitBatch,
    stampMs: number,
    tailed: ReadonlyMap<string, boolean> | undefined,
    partitions: number,
  ): Promise<void> {
    await this.#write(batch, stampMs, partitions);
    this.#parts.onPushed?.(batch.records);
    for (const [tenant, logged] of tailed ?? []) {
      const recordsOfTenant = batch.records.filter(record => record.tenant === tenant);
      if (recordsOfTenant.length > 0)
        await this.tailLog.committed(tenant, recordsOfTenant, { stampMs, logged });
    }
  }

  async #write(batch: CommitBatch, nowMs: number, wanted: number): Promise<void> {
    const { writes, days, records } = batch;
    const partitionsOf = new Map<string, number>();
    for (const { tenant, day } of records) {
      const name = `${tenant}/${day}`;
      partitionsOf.set(name, this.#knownDays.get(name)?.partitions ?? CHUNK_SHARDS);
    }
    if (days.size === 0 && writes.length === 0 && records.length === 1) {
      return this.#table.put(itemsOf(batch, partitionsOf)[0]);
    }
    for (let attempt = 1; ; attempt++) {
      const announced = await mapAtOnce([...days], ANNOUNCED_AT_ONCE, async ([name, record]) => {
        const { partitions, writes: some } = await this.#announce(record, nowMs, wanted);
        partitionsOf.set(name, partitions);
        return some;
      });
      const puts = itemsOf(batch, partitionsOf).map((item): Write => ({ kind: 'put', item }));
      const tenants = new Set([...days.values()].map(({ tenant }) => tenant));
      try {
        await this.#table.transact([
          ...announced.flat(),
          ...[...tenants].map(tenantWrite),
          ...puts,
          ...writes,
        ]);
        break;
      } catch (error) {
        // Another process made or removed a day in between.
        if (!(error instanceof ConditionFailedError) || attempt === MAX_COMMITS) throw error;
      }
    }
    for (const day of days.keys()) {
      this.#knownDays.set(day, { announcedMs: nowMs, partitions: partitionsOf.get(day)! });
    }
  }

  /** Announces that a day exists, with at least the wanted number of partitions, and that it has outstanding work. */
  async #announce(
    { tenant, day }: ChunkRecord,
    nowMs: number,
    wanted: number,
  ): Promise<{ readonly partitions: number; readonly writes: readonly Write[] }> {
    const key = dayKey(tenant, day);
    const item = await this.#table.get(key);
    const work = workWrite(tenant, day, nowMs);
    if (item === undefined) {
      // Starts above every earlier version: a day that was removed and comes back must not repeat a version.
      const isCommon = wanted < CHUNK_SHARDS ? (true as const) : undefined;
      const begun = { day, version: Math.trunc(nowMs), indexes: [], partitions: wanted, isCommon };
      const write: Write = { kind: 'put', item: encodeDay(tenant, begun), condition: { kind: 'absent' } };
      return { partitions: wanted, writes: [write, work] };
    }
    const before = decodeDay(item);
    if (before.partitions >= wanted) {
      const check: Write = { kind: 'check', key, condition: { kind: 'present' } };
      return { partitions: before.partitions, writes: [check, work] };
    }
    const raised = encodeDay(tenant, { ...before, version: before.version + 1, partitions: wanted });
    const condition = { kind: 'version', version: before.version } as const;
    return { partitions: wanted, writes: [{ kind: 'put', item: raised, condition }, work] };
  }

  /** Every tenant that has or had data. */
  async *tenants(): AsyncGenerator<string> {
    for (let shard = 0; shard < COMMON_SHARDS; shard++) {
      let after: string | undefined;
      do {
        const page = await this.#table.query(tenantPartition(shard), { after });
        for (const { sk } of page.items) yield sk;
        after = page.next;
      } while (after !== undefined);
    }
  }

  /** Every UTC day of a tenant, ascending. */
  allDays(tenant: string): Promise<Day[]> {
    return this.days(tenant, -DAY_BIAS, DAY_BIAS);
  }

  /** UTC days of a tenant that overlap the inclusive range, ascending. A day may have no chunks left. */
  async days(tenant: string, firstDay: number, lastDay: number): Promise<Day[]> {
    const days: Day[] = [];
    const from = dayText(Math.max(firstDay, -DAY_BIAS));
    const to = dayText(Math.min(lastDay, DAY_BIAS) + 1);
    let after: string | undefined;
    do {
      const page = await this.#table.query(dayPartition(tenant), { from, to, after });
      for (const item of page.items) days.push(decodeDay(item));
      after = page.next;
    } while (after !== undefined);
    return days;
  }

  /**
   * Chunks of a tenant that may have entries with `startNs <= timestamp <= endNs`, by day, days ascending. Every entry is in at least one chunk. Over a distant
   * table this needs the minimum number of round trips, and a version does not apply to all chunks of its day. Throws
   * like `snapshot`.
   */
  async daysForQuery(tenant: string, startNs: bigint, endNs: bigint): Promise<readonly DaySnapshot[]> {
    if (this.#table.isDistant !== true || endNs < startNs) return this.snapshot(tenant, startNs, endNs);
    return this.#dayReader.read({ tenant, startNs, endNs, firstDay: dayOf(startNs), lastDay: dayOf(endNs) });
  }

  /**
   * Chunks like those of `daysForQuery`, each day in one version. Throws ThrottledError if
   * the days change faster than they can be read.
   */
  async snapshot(tenant: string, startNs: bigint, endNs: bigint): Promise<DaySnapshot[]> {
    if (endNs < startNs) return [];
    const [firstDay, lastDay] = [dayOf(startNs), dayOf(endNs)];
    const settled = new Map<number, DaySnapshot>();
    let unread = await this.days(tenant, firstDay, lastDay);
    for (let reads = 0; unread.length > 0; reads++) {
      if (reads === MAX_READS)
        throw new ThrottledError(`too many concurrent changes to the days of tenant ${tenant}; retry`);
      const read = async (day: Day) => {
        const records = await this.#chunksOfDay(tenant, day, { startNs, endNs });
        settled.set(day.day, { ...day, records });
      };
      // Reads one day at a time from a local table: it has no latency to hide, and concurrent reads only need more
      // memory.
      await mapAtOnce(unread, this.#table.isDistant === true ? DAYS_AT_ONCE : 1, read);
      const days = await this.days(tenant, firstDay, lastDay);
      unread = days.filter(({ day, version }) => {
        const read = settled.get(day);
        // Ignores days that were created after the query began.
        return read !== undefined && read.version !== version;
      });
    }
    return [...settled.values()].sort((a, b) => a.day - b.day);
  }

  /** One day in one version, or undefined if the tenant does not have it. */
  async day(tenant: string, day: number): Promise<DaySnapshot | undefined> {
    const startNs = BigInt(day) * NS_PER_DAY;
    const [snapshot] = await this.snapshot(tenant, startNs, startNs + NS_PER_DAY - 1n);
    return snapshot;
  }

  /** See removeEmptyDay. */
  removeEmptyDay(day: EmptyDay): Promise<boolean> {
    return removeEmptyDay(this.#parts, day);
  }

  /** See swapChunks. */
  swap(swap: Swap): Promise<Day> {
    return swapChunks(this.#parts, swap);
  }

  /** Reads the part of the range in that day, in one version. */
  async #provenDay(tenant: string, day: number, range: NsRange): Promise<DaySnapshot | undefined> {
    const firstNs = BigInt(day) * NS_PER_DAY;
    const lastNs = firstNs + NS_PER_DAY - 1n;
    const startNs = range.startNs > firstNs ? range.startNs : firstNs;
    const [snapshot] = await this.snapshot(tenant, startNs, range.endNs < lastNs ? range.endNs : lastNs);
    return snapshot;
  }

  /** Reads the part of the range in a day, from the day's own partitions. */
  async #ownChunks(
    tenant: string,
    { day, partitions }: Pick<Day, 'day' | 'partitions'>,
    range: NsRange,
  ): Promise<ChunkRecord[]> {
    if (partitions === 1) return [];
    const { start, end } = insideDay(day, range);
    const from = timeKeyText(start);
    const shards = await Promise.all(
      Array.from({ length: partitions }, (_, shard) =>
        this.#records(tenant, chunkPartition(tenant, day, shard), { from }),
      ),
    );
    return shards.flat().filter(record => record.first <= end);
  }

  async #chunksOfDay(tenant: string, day: Day, range: NsRange): Promise<ChunkRecord[]> {
    const [own, common] = await Promise.all([
      this.#ownChunks(tenant, day, range),
      day.isCommon === true ? this.#commonChunks(tenant, day.day, day.day, range) : [],
    ]);
    return common.length === 0 ? own : [...own, ...common];
  }

  /**
   * Reads the part of the range in several days, from the tenant's common partition. One request has up to 1 MB of
   * records. If there are more, the next days are read in parallel.
   */
  async #commonChunks(
    tenant: string,
    firstDay: number,
    lastDay: number,
    range: NsRange,
  ): Promise<ChunkRecord[]> {
    const pk = commonChunkPartition(tenant);
    const [begin, end] = [Math.max(firstDay, -DAY_BIAS), Math.min(lastDay, DAY_BIAS) + 1];
    const from = commonDayText(begin) + timeKeyText(insideDay(begin, range).start);
    const { records, next } = await this.#page(tenant, pk, { from, to: commonDayText(end) });
    const rest: Promise<readonly ChunkRecord[]>[] = [];
    for (
      let [day, after] = [next === undefined ? end : dayOfText(next), next];
      day < end;
      after = undefined
    ) {
      const to = rest.length < DAYS_AT_ONCE ? day + 1 : end;
      rest.push(this.#records(tenant, pk, { from: commonDayText(day), to: commonDayText(to), after }));
      day = to;
    }
    for (const some of await Promise.all(rest)) for (const record of some) records.push(record);
    return records.filter(({ day, first }) => first <= insideDay(day, range).end);
  }

  async #records(
    tenant: string,
    pk: string,
    { after, ...range }: Pick<QueryOptions, 'from' | 'to' | 'after'>,
  ): Promise<ChunkRecord[]> {
    const records: ChunkRecord[] = [];
    let begin = after;
    do {
      const page = await this.#page(tenant, pk, { ...range, after: begin });
      for (const record of page.records) records.push(record);
      begin = page.next;
    } while (begin !== undefined);
    return records;
  }

  async #page(
    tenant: string,
    pk: string,
    range: Pick<QueryOptions, 'from' | 'to' | 'after'>,
  ): Promise<{ records: ChunkRecord[]; next: string | undefined }> {
    const { items, next } = await this.#table.query(pk, { ...range, known: this.#known });
    const records = items.map(item =>
      item instanceof DecodedRecord ? item.record : this.#decode(tenant, dayOfChunkKey(item)!.day, item),
    );
    // Yields to other work, because reads of a local table never wait.
    await nextTurn();
    return { records, next };
  }

  /** Drops cached records of deleted chunks. @param chunks `tenant/id` */
  forgetChunks(chunks: ReadonlySet<string>): void {
    for (const [key, { record }] of this.#decoded.all()) {
      if (chunks.has(`${record.tenant}/${record.id}`)) this.#decoded.delete(key);
    }
  }

  /** Returns a cached record only if its checksum matches: a swap may have replaced the record under the same key. */
  readonly #known = ({ pk, sk, version, bodyBytes, bodyEnd }: ItemHead): Item | undefined => {
    const known = this.#decoded.get(`${pk} ${sk}`);
    if (known?.version !== version || known.body.length !== bodyBytes) return undefined;
    return known.bodyEnd === bodyEnd ? known : undefined;
  };

  #decode(tenant: string, day: number, item: Item): ChunkRecord {
    const key = `${item.pk} ${item.sk}`;
    const known = this.#decoded.get(key);
    if (known !== undefined && Buffer.compare(known.body, item.body) === 0) return known.record;
    const record = decodeRecord(tenant, day, item.body);
    this.#decoded.set(key, new DecodedRecord(item, record), item.body.length + RECORD_OVERHEAD_BYTES);
    return record;
  }
}

/** Builds the items of a batch's records, in the partitions of their days. */
function itemsOf({ records, bodies }: CommitBatch, partitionsOf: ReadonlyMap<string, number>): Item[] {
  return records.map((record, i) => {
    const partitionsOfDay = partitionsOf.get(`${record.tenant}/${record.day}`)!;
    const partitions = partitionsOfDay === CHUNK_SHARDS ? undefined : partitionsOfDay;
    const placed = inPartitions(record, partitions);
    return {
      ...chunkKey(placed),
      version: 0,
      body: partitions === undefined ? bodies[i] : encodeRecord(placed),
    };
  });
}

function inPartitions(record: ChunkRecord, partitions: number | undefined): ChunkRecord {
  return record.partitions === partitions ? record : { ...record, partitions };
}

/** Returns the part of a range inside a day, ns since its start, both inclusive. */
function insideDay(day: number, { startNs, endNs }: NsRange): { start: number; end: number } {
  const dayStart = BigInt(day) * NS_PER_DAY;
  return {
    start: startNs <= dayStart ? 0 : Number(startNs - dayStart),
    end: endNs - dayStart >= NS_PER_DAY ? Infinity : Number(endNs - dayStart),
  };
}

/** UTC day of a timestamp, rounded down. */
export function dayOf(ns: bigint): number {
  const day = ns / NS_PER_DAY;
  return Number(ns < 0n && day * NS_PER_DAY !== ns ? day - 1n : day);
}
