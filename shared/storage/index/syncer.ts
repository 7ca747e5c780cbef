/**
 * Index sync of one tenant's day: writes an index object for the current chunks, or one for each window and part of the streams of a
 * large day (windows.ts), and registers them in the catalog. Other functions may write some of them (index-task.ts). Indexes affect only the cost of queries, never their results: chunks that no index covers are read
 * from their footers.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { mapAtOnce } from '../../base/model/at-once.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { MAX_COMMIT_MS, newChunkId, startedMsOf } from '../catalog/chunk-id.ts';
import { readFooter } from '../catalog/chunk-object.ts';
import { type ChunkRecord, streamPartOf } from '../catalog/chunk-record.ts';
import { compareIndexes, type IndexRecord, indexKey } from '../catalog/day-item.ts';
import type { DaySnapshot } from '../catalog/day-snapshot.ts';
import { dayLease, indexLease, indexPartLease, LeaseLostError } from '../catalog/leases.ts';
import { ALL_STREAMS } from '../catalog/stream-part.ts';
import { SwapConflictError } from '../catalog/swap.ts';
import { type DayIndex, headBytesOf } from './day-index.ts';
import type { DayIndexes } from './day-indexes.ts';
import type { IndexHelpers, IndexTask } from './index-task.ts';
import { type IndexWindow, indexAt, indexWindows } from './windows.ts';
import { type ChunkFooter, encodeIndex, extendIndex } from './write.ts';

interface SyncerParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly indexes: DayIndexes;
  /** Time for which the previous index stays readable, ms. */
  readonly graceMs: number;
  /** Functions that write indexes in parallel with this one. Default: none. */
  readonly helpers?: IndexHelpers | undefined;
  /** Chunks of one index. Default: as in windows.ts. */
  readonly chunksOfIndex?: number;
  /** New chunks of an index from which on another function writes it. Default: HELPER_CHUNKS. */
  readonly chunksOfHelper?: number;
}

interface SyncWork {
  readonly tenant: string;
  readonly day: number;
  /** Whether to sync even if so few chunks are uncovered that their footers cost no more than an index. */
  readonly force: boolean;
  /** Unix ms after which no work begins. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/**
 * Result of a sync. `synced`: a new index is in effect. `fresh`: the current indexes cover everything they can,
 * or new ones are not worth their cost. `busy`: another process works on the day. `time`: the time limit was
 * reached.
 */
export type SyncEnd = 'synced' | 'fresh' | 'busy' | 'time';

/** Minimum uncovered chunks of a window for a sync. Reading this many footers one by one costs as much as an index. */
export const WORTH_CHUNKS = 16;
/** Minimum chunks of a day with an index. For one chunk, the footer serves as an index. */
const MIN_CHUNKS = 2;
const FOOTERS_AT_ONCE = 32;
/** New chunks of an index from which on another function writes it: 0.2 TB of lines, whose footers take 3 s of CPU. */
const HELPER_CHUNKS = 256;
const LEASE_MS = 60_000;
/** Interval at which the lease is renewed if that is due, while other functions work. */
const HOLD_MS = 5_000;
const MAX_CONFLICTS = 5;

/** A window and part of the day, and the index that covers its chunks now. */
interface SyncedWindow extends IndexWindow {
  readonly current: IndexRecord | undefined;
  /** Whether the index is of this window and part, and not of a wider one. */
  readonly isOwn: boolean;
  /** Number of chunks that the index does not know. */
  readonly uncovered: number;
  /** Whether a new index is worth its cost. */
  readonly isWorth: boolean;
}

export class Syncer {
  readonly #parts: SyncerParts;

  constructor(parts: SyncerParts) {
    this.#parts = parts;
  }

  /** Syncs one day. Throws errors of the stores, and CorruptionError if a chunk cannot be read. */
  async syncDay(work: SyncWork): Promise<SyncEnd> {
    const { catalog, clock, graceMs } = this.#parts;
    const { tenant } = work;
    for (let conflicts = 0; ; conflicts++) {
      const before = await catalog.day(tenant, work.day);
      if (before === undefined) return 'fresh';
      const isDue = (await this.#windowsOf(work, before)).some(({ isWorth }) => isWorth);
      if (!isDue) return 'fresh';
      if (clock.nowMs() >= work.untilMs) return 'time';
      // A distant store retains replaced objects for their grace period, so merges may run in parallel. On
      // one machine, they are deleted immediately.
      const name = this.#parts.store.isDistant === true ? indexLease : dayLease;
      const lease = await catalog.leases.take(name(tenant, work.day), LEASE_MS);
      if (lease === undefined) return 'busy';
      try {
        const snapshot = await catalog.day(tenant, work.day);
        if (snapshot === undefined) return 'fresh';
        const hold = catalog.leases.holder(lease, LEASE_MS);
        const { indexes, isDone } = await this.#build(work, snapshot, hold);
        await hold();
        const { records: _, ...day } = snapshot;
        await catalog.swap({ tenant, day, lease, removed: [], added: [], indexes, graceMs });
        return isDone ? 'synced' : 'time';
      } catch (error) {
        if (error instanceof LeaseLostError) return 'busy';
        if (!(error instanceof SwapConflictError) || conflicts === MAX_CONFLICTS) throw error;
      } finally {
        await catalog.leases.release(lease).catch(() => undefined);
      }
    }
  }

  async #windowsOf({ tenant, force }: SyncWork, snapshot: DaySnapshot): Promise<SyncedWindow[]> {
    const { day, records, indexes } = snapshot;
    if (records.length < MIN_CHUNKS) return [];
    const found: SyncedWindow[] = [];
    for (const window of indexWindows(records, indexes, this.#parts.chunksOfIndex)) {
      const { fromMinute, streamPart, isDivided } = window;
      const current = indexAt(indexes, fromMinute, streamPart);
      const isOfWindow = current?.fromMinute === fromMinute;
      const isOfPart = current !== undefined && streamPartOf(current) === streamPart;
      const index = current && (await this.#parts.indexes.ofWindow(tenant, day, current));
      const uncovered = window.records.filter(
        ({ id }) => index === undefined || !isKnownTo(index, id),
      ).length;
      // An earlier sync had no time for all parts of a window that it divided.
      const isUndivided = isDivided || (isOfWindow && !isOfPart);
      const isWorth = isUndivided || uncovered >= (force ? 1 : WORTH_CHUNKS);
      found.push({ ...window, current, isOwn: isOfWindow && isOfPart && !isDivided, uncovered, isWorth });
    }
    return found;
  }

  /** Writes new indexes. Until the time is over, others stay as they are. */
  async #build(
    work: SyncWork,
    snapshot: DaySnapshot,
    hold: () => Promise<void>,
  ): Promise<{ indexes: readonly IndexRecord[]; isDone: boolean }> {
    const { clock } = this.#parts;
    const built: IndexRecord[] = [];
    const windows = await this.#windowsOf(work, snapshot);
    const elsewhere = await this.#writeElsewhere(work, windows, hold);
    let isDone = true;
    for (const window of windows) {
      const { isWorth, isOwn, current } = window;
      const written = elsewhere.get(window);
      if (written !== undefined) built.push(written);
      else if (!isWorth && isOwn && current !== undefined) built.push(current);
      else if (isWorth && built.length > 0 && clock.nowMs() >= work.untilMs) isDone = false;
      else if (isWorth) built.push(await this.#write(work, window, hold));
    }
    if (isDone) return { indexes: built, isDone };
    const nameOf = (index: IndexRecord) => `${index.fromMinute}/${streamPartOf(index)}`;
    const all = new Map([...snapshot.indexes, ...built].map(index => [nameOf(index), index]));
    return { indexes: [...all.values()].sort(compareIndexes), isDone };
  }

  /** Returns the indexes that other functions have written. This function writes those that failed. */
  async #writeElsewhere(
    { tenant, day, signal, untilMs }: SyncWork,
    windows: readonly SyncedWindow[],
    hold: () => Promise<void>,
  ): Promise<ReadonlyMap<SyncedWindow, IndexRecord>> {
    const { helpers, clock, chunksOfHelper = HELPER_CHUNKS } = this.#parts;
    const written = new Map<SyncedWindow, IndexRecord>();
    const large = windows.filter(({ isWorth, uncovered }) => isWorth && uncovered >= chunksOfHelper);
    if (helpers === undefined || large.length < 2) return written;
    const over = new AbortController();
    const ended = AbortSignal.any([signal, over.signal]);
    const calls = mapAtOnce(large, helpers.most, async window => {
      if (clock.nowMs() >= untilMs) return;
      const { fromMinute, streamPart } = window;
      const call = helpers.write({ tenant, day, fromMinute, streamPart }, ended);
      await call.then(index => written.set(window, index)).catch(() => undefined);
    }).then(() => true);
    try {
      while (!(await Promise.race([calls, clock.sleep(HOLD_MS, ended).then(() => false)]))) await hold();
    } finally {
      over.abort(new Error('the sync is over'));
    }
    return written;
  }

  /**
   * Writes the index of one window and part for the holder of the day's sync, and publishes nothing. Throws if another function
   * writes it, if the day is divided otherwise by now, and what the stores throw.
   */
  async writeOne(task: IndexTask, signal: AbortSignal): Promise<IndexRecord> {
    const { tenant, day, fromMinute, streamPart } = task;
    const { catalog } = this.#parts;
    const name = indexPartLease(tenant, day, fromMinute, streamPart);
    const lease = await catalog.leases.take(name, LEASE_MS);
    if (lease === undefined) throw new LeaseLostError(name);
    try {
      const work = { tenant, day, force: true, untilMs: Infinity, signal };
      const snapshot = await catalog.day(tenant, day);
      const windows = snapshot === undefined ? [] : await this.#windowsOf(work, snapshot);
      const isAsked = (one: IndexWindow) => one.fromMinute === fromMinute && one.streamPart === streamPart;
      const window = windows.find(isAsked);
      if (window === undefined) throw new Error(`${name}: the day is divided otherwise`);
      return await this.#write(work, window, catalog.leases.holder(lease, LEASE_MS));
    } finally {
      await catalog.leases.release(lease).catch(() => undefined);
    }
  }

  async #write(work: SyncWork, window: SyncedWindow, hold: () => Promise<void>): Promise<IndexRecord> {
    const { clock, ids, store } = this.#parts;
    const { tenant, day } = work;
    const object = await this.#buildWindow(work, window, hold);
    const id = newChunkId(clock, ids);
    await store.putIfAbsent(indexKey(tenant, day, id), object);
    await hold();
    const { fromMinute } = window;
    const streamPart = window.streamPart === ALL_STREAMS ? undefined : window.streamPart;
    return { fromMinute, streamPart, id, storedBytes: object.length, headBytes: headBytesOf(object) };
  }

  async #buildWindow(
    work: SyncWork,
    { records, current }: SyncedWindow,
    hold: () => Promise<void>,
  ): Promise<Buffer> {
    const { tenant, day } = work;
    const createdMs = this.#parts.clock.nowMs();
    const old = current && (await this.#parts.indexes.ofWindow(tenant, day, current));
    if (old !== undefined) {
      try {
        return await this.#extend(work, records, old, hold);
      } catch (error) {
        // Rebuild a corrupt index from the footers.
        if (!(error instanceof CorruptionError || error instanceof ObjectNotFoundError)) throw error;
      }
    }
    return encodeIndex({ tenant, day, createdMs, chunks: await this.#footersOf(work, records, hold) });
  }

  async #extend(
    { signal }: SyncWork,
    records: readonly ChunkRecord[],
    old: DayIndex,
    hold: () => Promise<void>,
  ): Promise<Buffer> {
    const present = new Set(records.map(({ id }) => id));
    const unread = records.filter(({ id }) => !old.covers(id));
    const gone = new Set(old.chunks.map(({ id }) => id).filter(id => !present.has(id)));
    const added = await this.#footersOf({ signal }, unread, hold);
    return extendIndex(old, { createdMs: this.#parts.clock.nowMs(), gone, added });
  }

  async #footersOf(
    { signal }: Pick<SyncWork, 'signal'>,
    records: readonly ChunkRecord[],
    hold: () => Promise<void>,
  ): Promise<ChunkFooter[]> {
    const found: ChunkFooter[] = [];
    for (let i = 0; i < records.length; i += FOOTERS_AT_ONCE) {
      signal.throwIfAborted();
      const some = records.slice(i, i + FOOTERS_AT_ONCE);
      const footers = await Promise.all(some.map(record => readFooter(this.#parts.store, record)));
      for (let j = 0; j < some.length; j++) found.push({ id: some[j].id, footer: footers[j] });
      await nextRound();
      await hold();
    }
    return found;
  }
}

/**
 * Returns whether the chunk is covered, or so old that it existed when the index was written. In the latter
 * case the index was at its limits.
 */
function isKnownTo(index: DayIndex, id: string): boolean {
  return index.covers(id) || index.createdMs - startedMsOf(id) > 2 * MAX_COMMIT_MS;
}
