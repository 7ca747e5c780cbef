/**
 * Watches the effects on the shared stores, whoever has them and however: what must hold of a write is checked at the
 * moment when it happens, not when a query stumbles over it. It sees what the stores see, so no cache and no
 * confidence of a process can hide anything from it.
 */
import { type ChunkRecord, decodeRecord, objectKey } from '../../shared/catalog/chunk-record.ts';
import { dayKey, workKey } from '../../shared/catalog/keys.ts';
import { INVARIANTS, mustHold } from '../../shared/model/invariants.ts';
import type { Clock } from '../../shared/ports/clock.ts';
import type { ObjectStore } from '../../shared/ports/object-store.ts';
import type { Item, ItemKey, Table, Write } from '../../shared/ports/table.ts';
import { keyOf } from '../../shared/ports/table-rules.ts';
import { ChunkSource } from '../../shared/query/chunk-source.ts';
import { newStatistics } from '../../shared/query/statistics.ts';
import { entriesOfPage } from '../support/rows.ts';
import { SwapHistory } from './swap-history.ts';

const DAY_NS = 86_400_000_000_000;

interface NamedChunk {
  readonly record: ChunkRecord;
  readonly key: string;
}

export interface OracleParts {
  readonly table: Table;
  readonly store: ObjectStore;
  /** The true time. */
  readonly clock: Clock;
  /** Least time from a swap to the deletion of what it replaced, ms. */
  readonly leastGraceMs: number;
}

export class Oracle {
  /** Chunk records in the table, by their key. */
  readonly chunks = new Map<string, NamedChunk>();
  /** Swaps that happened. */
  swaps = 0;
  /** Count of commits of chunks. */
  moment = 0;
  readonly history = new SwapHistory();
  private readonly clock: Clock;
  private readonly leastGraceMs: number;
  /** When the last record of an object went, Unix ms, by key. */
  private readonly removedMs = new Map<string, number>();
  private readonly table: Table;
  private readonly store: ObjectStore;
  /** Versions of the leases that a process has written, by partition. */
  private readonly leases = new Map<string, { readonly owner: string; readonly version: number }>();
  private readonly source: ChunkSource;
  /** What the harness found wrong; the first ends the run even where a process swallows the error. */
  failure: unknown;

  constructor({ table, store, clock, leastGraceMs }: OracleParts) {
    this.table = table;
    this.store = store;
    this.clock = clock;
    this.leastGraceMs = leastGraceMs;
    this.source = new ChunkSource(store);
  }

  /** The shared table as one process reaches it. */
  tableOf(owner: string): Table {
    const { table } = this;
    const watched = <T>(writes: readonly Write[], effect: () => Promise<T>) =>
      this.noticing(() => this.write(owner, writes, effect));
    return {
      get: key => table.get(key),
      query: (pk, options) => table.query(pk, options),
      put: (item, condition) => watched([{ kind: 'put', item, condition }], () => table.put(item, condition)),
      delete: (key, condition) =>
        watched([{ kind: 'delete', key, condition }], () => table.delete(key, condition)),
      transact: writes => watched(writes, () => table.transact(writes)),
    };
  }

  /** The shared object store as a process reaches it. */
  storeOf(): ObjectStore {
    const { store } = this;
    return {
      ...store,
      putIfAbsent: (key, body) =>
        this.noticing(async () => {
          const isNew = await store.putIfAbsent(key, body);
          const same = isNew || Buffer.compare(await store.get(key), Buffer.from(body)) === 0;
          mustHold(INVARIANTS.objectsNeverChange, same, `another content for ${key}`);
          return isNew;
        }),
      delete: key =>
        this.noticing(async () => {
          const named = [...this.chunks.values()].some(chunk => chunk.key === key);
          mustHold(INVARIANTS.readersMissNoObject, !named, `${key} is deleted and a record names it`);
          const goneMs = this.clock.nowMs() - (this.removedMs.get(key) ?? -Infinity);
          const isOver = goneMs >= this.leastGraceMs;
          mustHold(INVARIANTS.readersMissNoObject, isOver, `${key} is deleted ${goneMs} ms after its record`);
          return store.delete(key);
        }),
    };
  }

  private async noticing<T>(effect: () => Promise<T>): Promise<T> {
    try {
      return await effect();
    } catch (error) {
      if (error instanceof Error && error.name === 'BrokenInvariantError') this.failure ??= error;
      throw error;
    }
  }

  private async write<T>(owner: string, writes: readonly Write[], effect: () => Promise<T>): Promise<T> {
    const removed = writes.filter(write => write.kind === 'delete').flatMap(({ key }) => this.chunk(key));
    // Asked before the effect, held against it only where it happens.
    const isFenced = removed.length === 0 || (await this.holdsLease(owner));
    const day = removed.length > 0 ? await this.versionOf(removed[0].record) : undefined;
    const removedEntries = await this.entriesOf(removed);
    const result = await effect();
    const added = writes
      .filter(write => write.kind === 'put')
      .flatMap(({ item }) => this.notePut(owner, item));
    for (const write of writes) if (write.kind === 'delete') this.chunks.delete(nameOf(keyOf(write)));
    if (added.length > 0) this.moment++;
    for (const { record } of added) this.history.noteAdded(record, this.moment);
    for (const chunk of added) await this.checkAdded(chunk);
    for (const { key } of removed) this.removedMs.set(key, this.clock.nowMs());
    if (removed.length > 0) {
      this.swaps++;
      mustHold(INVARIANTS.swapIsFenced, isFenced, `${owner} swaps and holds no lease`);
      const now = await this.versionOf(removed[0].record);
      mustHold(
        INVARIANTS.swapRaisesVersion,
        now !== undefined && day !== undefined && now > day,
        `${owner} swaps, the day had version ${day} and has ${now}`,
      );
      const [gone, come] = [removed, added].map(chunks => chunks.map(({ record }) => record));
      this.history.noteSwap(now, gone, come);
      const kept = await this.entriesOf(added);
      const lost = [...removedEntries].find(entry => !kept.has(entry));
      const invented = [...kept].find(entry => !removedEntries.has(entry));
      mustHold(INVARIANTS.swapKeepsEntries, lost === undefined, `${owner} loses ${lost}`);
      mustHold(INVARIANTS.swapKeepsEntries, invented === undefined, `${owner} invents ${invented}`);
    }
    return result;
  }

  private chunk(key: ItemKey): NamedChunk[] {
    const chunk = this.chunks.get(nameOf(key));
    return chunk === undefined ? [] : [chunk];
  }

  private notePut(owner: string, item: Item): NamedChunk[] {
    if (item.pk.startsWith('l/')) this.leases.set(item.pk, { owner, version: item.version });
    if (!item.pk.startsWith('c/')) return [];
    const [, tenant, day] = item.pk.split('/');
    const record = decodeRecord(tenant, Number(day), Buffer.from(item.body));
    const chunk = { record, key: objectKey(tenant, record.day, record.level, record.id) };
    this.chunks.set(nameOf(item), chunk);
    return [chunk];
  }

  private async checkAdded({ record, key }: NamedChunk): Promise<void> {
    const { tenant, day, first, last, level, inline } = record;
    const isInside = first >= 0 && first <= last && last < DAY_NS;
    mustHold(INVARIANTS.chunkInsideItsDay, isInside, `${key} from ${first} to ${last}`);
    const isDurable = inline !== undefined || (await this.store.head(key)) !== undefined;
    mustHold(INVARIANTS.objectBeforeRecord, isDurable, `a record names ${key}, which is not there`);
    const isThere = (await this.table.get(dayKey(tenant, day))) !== undefined;
    mustHold(INVARIANTS.dayIsAnnounced, isThere, `no item for day ${day} of ${key}`);
    const isWork = level > 0 || (await this.table.get(workKey(tenant, day))) !== undefined;
    mustHold(INVARIANTS.workIsAnnounced, isWork, `no outstanding work for day ${day} of ${key}`);
  }

  private async versionOf({ tenant, day }: ChunkRecord): Promise<number | undefined> {
    return (await this.table.get(dayKey(tenant, day)))?.version;
  }

  private async holdsLease(owner: string): Promise<boolean> {
    for (const [pk, lease] of this.leases) {
      if (lease.owner !== owner) continue;
      const { items } = await this.table.query(pk);
      if (items.some(({ version }) => version === lease.version)) return true;
    }
    return false;
  }

  /** Entries of stored chunks, as texts. */
  async entriesOf(chunks: readonly NamedChunk[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const { record } of chunks) {
      const footer = await this.source.footer(record);
      for (const page of footer.pages) {
        const wants = { lines: 'bytes', metadata: 'all' } as const;
        const rows = await this.source.page(record, footer, page, wants, newStatistics());
        for (const { stream, time, line, metadata } of entriesOfPage(
          rows,
          BigInt(record.day) * BigInt(DAY_NS),
        )) {
          found.add(
            JSON.stringify([Object.entries(stream).sort(), time, line, Object.entries(metadata).sort()]),
          );
        }
      }
    }
    return found;
  }
}

function nameOf({ pk, sk }: ItemKey): string {
  return `${pk} / ${sk}`;
}
