/**
 * Observes the effects of all processes on the shared stores: checks the invariants of a write at the moment
 * when it happens, not when a query hits the damage. It sees what the stores see, so no cache or state of a
 * process can hide anything from it.
 */

import { INVARIANTS, mustHold } from '../../shared/base/model/invariants.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { type ObjectStore, wholeBody } from '../../shared/base/ports/object-store.ts';
import type { Item, ItemKey, Table, Write } from '../../shared/base/ports/table.ts';
import { keyOfWrite } from '../../shared/base/ports/table-rules.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { newStatistics } from '../../shared/read/query/statistics.ts';
import { startedMsOf } from '../../shared/storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { decodeDay, type IndexRecord, indexKeysOf } from '../../shared/storage/catalog/day-item.ts';
import { Garbage } from '../../shared/storage/catalog/garbage.ts';
import { dayKey, workKey } from '../../shared/storage/catalog/keys.ts';
import { parseObjectKey } from '../../shared/storage/catalog/stored-objects.ts';
import { readIndexHead } from '../../shared/storage/index/day-index.ts';
import { presenceOfFooter } from '../../shared/storage/index/presence.ts';
import { storeSource } from '../../shared/storage/index/source.ts';
import { entriesOfPage, streamOf } from '../support/rows.ts';
import { idOf, type SimulatedEntry } from './model.ts';
import type { Entries, Ledger } from './removal/ledger.ts';
import { SwapHistory } from './swap-history.ts';
import {
  chunkOf,
  isAnnouncement,
  isDay,
  type NamedChunk,
  nameOf,
  ofDays,
  renewals,
  versionIn,
} from './table-items.ts';

interface OracleParts {
  readonly table: Table;
  readonly store: ObjectStore;
  /** The true time. */
  readonly clock: Clock;
  /** Least time from a swap to the deletion of what it replaced, ms. */
  readonly leastGraceMs: number;
  /** Least age of an object that no record ever named, when it is deleted, ms. */
  readonly leastOrphanAgeMs: number;
  /** In runs with delete requests and retention. */
  readonly ledger?: Ledger;
}

export class Oracle {
  /** Chunk records in the table, by their key. */
  readonly chunks = new Map<string, NamedChunk>();
  /** Swaps that took chunks out. */
  swaps = 0;
  /** Indexes that came into force. */
  syncs = 0;
  /** Count of commits of chunks. */
  moment = 0;
  readonly history = new SwapHistory();
  readonly ledger: Ledger | undefined;
  readonly #clock: Clock;
  readonly #leastGraceMs: number;
  readonly #leastOrphanAgeMs: number;
  /** Chunks whose records are being written: readers may see them already, and merge them. */
  readonly #coming = new Map<string, NamedChunk>();
  /** Every record that there ever was, by the id of its chunk. */
  readonly #known = new Map<string, ChunkRecord>();
  /** Keys of the index objects in force, by the key of their day's item. */
  readonly #indexes = new Map<string, readonly string[]>();
  /** When the last record of an object went, Unix ms, by key. */
  readonly #removedMs = new Map<string, number>();
  readonly #table: Table;
  readonly #store: ObjectStore;
  /** Versions of the leases that a process has written, by partition. */
  readonly #leases = new Map<string, { readonly owner: string; readonly version: number }>();
  readonly #source: ChunkSource;
  /** Entries of chunks by id: they never change, and outlive the objects here. */
  readonly #entries = new Map<string, Entries>();
  /** Violations found by the harness; the first ends the run even if a process swallows the error. */
  failure: unknown;

  constructor({ table, store, clock, leastGraceMs, leastOrphanAgeMs, ledger }: OracleParts) {
    this.ledger = ledger;
    this.#table = table;
    this.#store = store;
    this.#clock = clock;
    this.#leastGraceMs = leastGraceMs;
    this.#leastOrphanAgeMs = leastOrphanAgeMs;
    this.#source = new ChunkSource(store);
  }

  /** The shared table as one process reaches it. */
  tableOf(owner: string): Table {
    const table = this.#table;
    const watched = <T>(writes: readonly Write[], effect: () => Promise<T>) =>
      this.#noticing(() => this.#write(owner, writes, effect));
    return {
      isDistant: table.isDistant,
      get: async key => this.#unexpired(await table.get(key)),
      query: async (pk, options) => {
        const page = await table.query(pk, options);
        for (const item of page.items) this.#unexpired(item);
        return page;
      },
      put: (item, condition) => watched([{ kind: 'put', item, condition }], () => table.put(item, condition)),
      delete: (key, condition) =>
        watched([{ kind: 'delete', key, condition }], () => table.delete(key, condition)),
      transact: writes => watched(writes, () => table.transact(writes)),
    };
  }

  /** The shared object store as a process reaches it. */
  storeOf(): ObjectStore {
    const store = this.#store;
    return {
      ...store,
      putIfAbsent: (key, body) =>
        this.#noticing(async () => {
          const isNew = await store.putIfAbsent(key, body);
          const same = isNew || Buffer.compare(await store.get(key), wholeBody(body)) === 0;
          mustHold(INVARIANTS.objectsNeverChange, same, `another content for ${key}`);
          return isNew;
        }),
      delete: key =>
        this.#noticing(async () => {
          this.#checkDelete(key);
          return store.delete(key);
        }),
    };
  }

  /** An index that the catalog named when its reader began could not be read. */
  noteBrokenIndex(error: Error): void {
    try {
      mustHold(INVARIANTS.readersMissNoObject, false, `an index: ${error.message}`);
    } catch (broken) {
      this.failure ??= broken;
    }
  }

  /** Call it when everything was collected: every stored object is referenced, or on a list of garbage. */
  async checkNothingLeft(): Promise<void> {
    const named = new Set([...this.chunks.values()].map(({ key }) => key));
    for (const keys of this.#indexes.values()) for (const key of keys) named.add(key);
    const garbage = await new Garbage(this.#table).all();
    const { objects } = await this.#store.list('');
    const left = objects.find(({ key }) => !named.has(key) && !garbage.has(key));
    mustHold(INVARIANTS.orphansAreCollected, left === undefined, `${left?.key} is still there`);
  }

  #unexpired<T extends Item | undefined>(item: T): T {
    const isSeen = item?.expiresAt === undefined || item.expiresAt * 1000 > this.#clock.nowMs();
    mustHold(INVARIANTS.expiredIsNotSeen, isSeen, () => `${nameOf(item!)} is read after ${item?.expiresAt}`);
    return item;
  }

  #checkDelete(key: string): void {
    const isNamed =
      [...this.chunks.values()].some(chunk => chunk.key === key) ||
      [...this.#indexes.values()].flat().includes(key);
    mustHold(INVARIANTS.readersMissNoObject, !isNamed, `${key} is deleted and a record names it`);
    const removedMs = this.#removedMs.get(key);
    const nowMs = this.#clock.nowMs();
    if (removedMs === undefined) {
      const ageMs = nowMs - startedMsOf(parseObjectKey(key)!.id);
      mustHold(
        INVARIANTS.orphansAreCollected,
        ageMs >= this.#leastOrphanAgeMs,
        `${key} goes after ${ageMs} ms`,
      );
    } else {
      const goneMs = nowMs - removedMs;
      const isOver = goneMs >= this.#leastGraceMs;
      mustHold(INVARIANTS.readersMissNoObject, isOver, `${key} is deleted ${goneMs} ms after its record`);
    }
  }

  async #noticing<T>(effect: () => Promise<T>): Promise<T> {
    try {
      return await effect();
    } catch (error) {
      if (error instanceof Error && error.name === 'BrokenInvariantError') this.failure ??= error;
      throw error;
    }
  }

  async #write<T>(owner: string, writes: readonly Write[], effect: () => Promise<T>): Promise<T> {
    const removed = writes.filter(write => write.kind === 'delete').flatMap(({ key }) => this.#chunk(key));
    // Read before the effect, compared only if it happens.
    const isSwap =
      removed.length > 0 ||
      (!writes.some(isAnnouncement) && writes.some(write => this.#changesDay(write, writes.length === 1)));
    const isFenced = !isSwap || (await this.#holdsLease(owner));
    const day = removed.length > 0 ? await this.#versionOf(removed[0].record) : undefined;
    const removedEntries = await this.entriesOf(removed);
    const renewed = writes.flatMap(renewals).find(({ pk }) => this.#leases.get(pk)?.owner !== owner);
    const coming = writes.filter(write => write.kind === 'put').flatMap(({ item }) => chunkOf(item));
    const before = isSwap ? [...this.chunks.values(), ...this.#coming.values()] : [];
    const known = await this.entriesOf(ofDays(writes, before));
    for (const chunk of coming) this.#coming.set(chunk.record.id, chunk);
    const { ledger } = this;
    if (ledger !== undefined) await this.#announce(ledger, writes, removed, coming);
    const moving = [removed, coming].map(chunks => chunks.map(({ record }) => record));
    const result = await this.history.leavingWith(versionIn(writes), moving, effect).finally(() => {
      for (const { record } of coming) this.#coming.delete(record.id);
    });
    mustHold(INVARIANTS.swapIsFenced, renewed === undefined, `${owner} renews ${renewed?.pk}, another's`);
    mustHold(INVARIANTS.swapIsFenced, isFenced, `${owner} swaps and holds no lease`);
    const added = writes
      .filter(write => write.kind === 'put')
      .flatMap(({ item }) => this.#notePut(owner, item));
    for (const write of writes) if (write.kind === 'delete') this.chunks.delete(nameOf(keyOfWrite(write)));
    if (ledger !== undefined) {
      for (const { record } of coming) ledger.notePut(record, await this.#entriesIn(record));
      await ledger.endWrites(writes, () => this.#stored());
    }
    if (added.length > 0) this.moment++;
    for (const { record } of added) this.history.noteAdded(record, this.moment);
    for (const chunk of added) await this.#checkAdded(chunk);
    for (const { key } of removed) this.#removedMs.set(key, this.#clock.nowMs());
    for (const write of writes) {
      if (write.kind === 'put' && isDay(write.item)) await this.#noteDay(write.item);
      if (write.kind === 'delete' && isDay(write.key)) this.#noteDayGone(write.key);
    }
    if (!isSwap || removed.length + added.length === 0) return result;
    const now = await this.#versionOf((removed[0] ?? added[0]).record);
    const isRaised = removed.length === 0 || (now !== undefined && day !== undefined && now > day);
    mustHold(
      INVARIANTS.swapRaisesVersion,
      now !== undefined && isRaised,
      `${owner} swaps, the day had version ${day} and has ${now}`,
    );
    const [out, come] = [removed, added].map(chunks => chunks.map(({ record }) => record));
    this.history.noteSwap(now, out, come);
    if (removed.length > 0) this.swaps++;
    // For any step: what the day held before it, it holds after it.
    const after = removed.length > 0 ? [...this.chunks.values()] : [];
    const kept = await this.entriesOf(ofDays(writes, after));
    const gone = [...removedEntries].filter(entry => !kept.has(entry));
    if (ledger !== undefined) ledger.noteGone(owner, removed[0]?.record.tenant, gone);
    else mustHold(INVARIANTS.swapKeepsEntries, gone.length === 0, `${owner} loses ${gone[0]}`);
    const invented = [...(await this.entriesOf(added))].find(entry => !known.has(entry));
    mustHold(INVARIANTS.swapKeepsEntries, invented === undefined, `${owner} invents ${invented}`);
    return result;
  }

  /** Announces the next effect to the ledger. */
  async #announce(
    ledger: Ledger,
    writes: readonly Write[],
    removed: readonly NamedChunk[],
    coming: readonly NamedChunk[],
  ): Promise<void> {
    for (const { record } of coming) ledger.noteComing(record, await this.#entriesIn(record));
    ledger.beginWrites(writes);
    if (removed.length === 0) return;
    const staying = ofDays(writes, [...this.chunks.values()]).filter(chunk => !removed.includes(chunk));
    const left = await this.entriesOf([...staying, ...coming]);
    const lost = [...(await this.entriesOf(removed))].filter(entry => !left.has(entry));
    ledger.noteGoing(removed[0].record.tenant, lost);
  }

  /** True where the day's item changes by more than its version, or together with chunks: what only a swap does. */
  #changesDay(write: Write, isAlone: boolean): boolean {
    // A day that was not there is announced, by a commit of a push.
    if (write.kind !== 'put' || !isDay(write.item) || write.condition?.kind === 'absent') return false;
    const keys = indexKeysOf(write.item.pk.slice('d/'.length), decodeDay(write.item));
    return !isAlone || `${keys}` !== `${this.#indexes.get(nameOf(write.item)) ?? []}`;
  }

  #chunk(key: ItemKey): NamedChunk[] {
    const chunk = this.chunks.get(nameOf(key));
    return chunk === undefined ? [] : [chunk];
  }

  #notePut(owner: string, item: Item): NamedChunk[] {
    if (item.pk.startsWith('l/')) this.#leases.set(item.pk, { owner, version: item.version });
    const [chunk] = chunkOf(item);
    if (chunk === undefined) return [];
    const isUpdate = this.chunks.has(nameOf(item));
    this.chunks.set(nameOf(item), chunk);
    this.#known.set(chunk.record.id, chunk.record);
    return isUpdate ? [] : [chunk];
  }

  async #noteDay(item: Item): Promise<void> {
    const tenant = item.pk.slice('d/'.length);
    const day = decodeDay(item);
    const keys = indexKeysOf(tenant, day);
    const before = this.#indexes.get(nameOf(item)) ?? [];
    if (`${keys}` === `${before}`) return;
    for (const key of before) if (!keys.includes(key)) this.#removedMs.set(key, this.#clock.nowMs());
    this.#indexes.set(nameOf(item), keys);
    for (const [i, key] of keys.entries()) {
      if (before.includes(key)) continue;
      const isDurable = (await this.#store.head(key)) !== undefined;
      mustHold(INVARIANTS.objectBeforeRecord, isDurable, `a day names ${key}, which is not there`);
      await this.#checkIndex(tenant, day.day, day.indexes[i], key);
    }
  }

  #noteDayGone(key: ItemKey): void {
    for (const index of this.#indexes.get(nameOf(key)) ?? []) this.#removedMs.set(index, this.#clock.nowMs());
    this.#indexes.delete(nameOf(key));
  }

  /** Compares what the index says of its chunks with their footers. */
  async #checkIndex(
    tenant: string,
    day: number,
    { storedBytes, headBytes }: IndexRecord,
    key: string,
  ): Promise<void> {
    this.syncs++;
    const head = await readIndexHead(storeSource(this.#store, key, storedBytes), { tenant, day, headBytes });
    for (const { id, rows } of head.chunks) {
      const record = this.#known.get(id);
      mustHold(INVARIANTS.indexAgreesWithChunks, record !== undefined, `${key} covers ${id}, never seen`);
      const footer = await this.#source.footer(record);
      const [said, is] = [head.presenceOf(id)!, presenceOfFooter(footer)];
      const text = (streams: readonly { readonly text: string }[], { streams: indexes, ...of }: typeof is) =>
        JSON.stringify(
          Array.from(indexes, (s, i) => [streams[s].text, of.first[i], of.last[i], of.entries[i]]).sort(),
        );
      const agrees = rows === footer.rows && text(head.streams, said) === text(footer.streams, is);
      mustHold(INVARIANTS.indexAgreesWithChunks, agrees, `${key} says another thing than chunk ${id}`);
    }
  }

  async #checkAdded({ record, key }: NamedChunk): Promise<void> {
    const { tenant, day, first, last, level, inline } = record;
    const isInside = first >= 0 && first <= last && last < NS_OF_DAY;
    mustHold(INVARIANTS.chunkInsideItsDay, isInside, `${key} from ${first} to ${last}`);
    const isDurable = inline !== undefined || (await this.#store.head(key)) !== undefined;
    mustHold(INVARIANTS.objectBeforeRecord, isDurable, `a record names ${key}, which is not there`);
    const isThere = (await this.#table.get(dayKey(tenant, day))) !== undefined;
    mustHold(INVARIANTS.dayIsAnnounced, isThere, `no item for day ${day} of ${key}`);
    const isWork = level > 0 || (await this.#table.get(workKey(tenant, day))) !== undefined;
    mustHold(INVARIANTS.workIsAnnounced, isWork, `no outstanding work for day ${day} of ${key}`);
  }

  async #versionOf({ tenant, day }: ChunkRecord): Promise<number | undefined> {
    return (await this.#table.get(dayKey(tenant, day)))?.version;
  }

  async #holdsLease(owner: string): Promise<boolean> {
    for (const [pk, lease] of this.#leases) {
      if (lease.owner !== owner) continue;
      const { items } = await this.#table.query(pk);
      if (items.some(({ version }) => version === lease.version)) return true;
    }
    return false;
  }

  /** Entries of stored chunks, as texts. */
  async entriesOf(chunks: readonly NamedChunk[]): Promise<Set<string>> {
    const found = new Set<string>();
    for (const { record } of chunks)
      for (const entry of (await this.#entriesIn(record)).keys()) found.add(entry);
    return found;
  }

  /** All that records name, with their entries. */
  #stored(): Promise<(readonly [ChunkRecord, Entries])[]> {
    const ofChunk = async ({ record }: NamedChunk) => [record, await this.#entriesIn(record)] as const;
    return Promise.all([...this.chunks.values()].map(ofChunk));
  }

  async #entriesIn(record: ChunkRecord): Promise<Entries> {
    const known = this.#entries.get(record.id);
    if (known !== undefined) return known;
    const found = new Map<string, SimulatedEntry>();
    const footer = await this.#source.footer(record);
    const startNs = BigInt(record.day) * BigInt(NS_OF_DAY);
    for (const page of footer.pages) {
      const wants = { lines: 'bytes', metadata: 'all' } as const;
      const rows = await this.#source.page(record, footer, page, wants, newStatistics());
      for (const { stream, time, line, metadata } of entriesOfPage(rows, startNs)) {
        const ns = startNs + BigInt(time);
        const id = idOf(streamOf(stream).text, ns, line, Object.entries(metadata));
        found.set(id, { labels: stream, ns, line, metadata });
      }
    }
    this.#entries.set(record.id, found);
    return found;
  }
}
