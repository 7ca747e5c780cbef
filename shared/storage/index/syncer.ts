/**
 * Index sync of one tenant's day: writes an index object for the current chunks and registers it in the
 * catalog. Indexes affect only the cost of queries, never their results: chunks that no index covers are read
 * from their footers.
 */
import { setImmediate as nextRound } from 'node:timers/promises';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { ObjectNotFoundError, type ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { MAX_COMMIT_MS, newChunkId, startedMsOf } from '../catalog/chunk-id.ts';
import { readFooter } from '../catalog/chunk-object.ts';
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import { indexKey } from '../catalog/day-item.ts';
import type { DaySnapshot } from '../catalog/day-snapshot.ts';
import { dayLease, indexLease, LeaseLostError } from '../catalog/leases.ts';
import { SwapConflictError } from '../catalog/swap.ts';
import { type DayIndex, headBytesOf } from './day-index.ts';
import type { DayIndexes } from './day-indexes.ts';
import { type ChunkFooter, encodeIndex, extendIndex } from './write.ts';

interface SyncerParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly indexes: DayIndexes;
  /** Time for which the previous index stays readable, ms. */
  readonly graceMs: number;
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
 * Result of a sync. `synced`: a new index is in effect. `fresh`: the current index covers everything it can,
 * or a new one is not worth its cost. `busy`: another process works on the day. `time`: the time limit was
 * reached.
 */
export type SyncEnd = 'synced' | 'fresh' | 'busy' | 'time';

/** Minimum uncovered chunks for a sync. Reading this many footers one by one costs as much as an index. */
const WORTH_CHUNKS = 16;
/** Minimum chunks of a day with an index. For one chunk, the footer serves as an index. */
const MIN_CHUNKS = 2;
const FOOTERS_AT_ONCE = 32;
const LEASE_MS = 60_000;
const MAX_CONFLICTS = 5;

export class Syncer {
  readonly #parts: SyncerParts;

  constructor(parts: SyncerParts) {
    this.#parts = parts;
  }

  /** Syncs one day. Throws errors of the stores, and CorruptionError if a chunk cannot be read. */
  async syncDay(work: SyncWork): Promise<SyncEnd> {
    const { catalog, clock } = this.#parts;
    for (let conflicts = 0; ; conflicts++) {
      const before = await catalog.day(work.tenant, work.day);
      if (before === undefined || !(await this.#isWorth(before, work))) return 'fresh';
      if (clock.nowMs() >= work.untilMs) return 'time';
      // A distant store retains replaced objects for their grace period, so merges may run in parallel. On
      // one machine, they are deleted immediately.
      const name = this.#parts.store.isDistant === true ? indexLease : dayLease;
      const lease = await catalog.leases.take(name(work.tenant, work.day), LEASE_MS);
      if (lease === undefined) return 'busy';
      try {
        const snapshot = await catalog.day(work.tenant, work.day);
        if (snapshot === undefined) return 'fresh';
        const hold = catalog.leases.holder(lease, LEASE_MS);
        const object = await this.#build(work, snapshot, hold);
        const id = newChunkId(clock, this.#parts.ids);
        await this.#parts.store.putIfAbsent(indexKey(work.tenant, work.day, id), object);
        await hold();
        const { records: _, ...day } = snapshot;
        await catalog.swap({
          tenant: work.tenant,
          day,
          lease,
          removed: [],
          added: [],
          index: { id, storedBytes: object.length, headBytes: headBytesOf(object) },
          graceMs: this.#parts.graceMs,
        });
        return 'synced';
      } catch (error) {
        if (error instanceof LeaseLostError) return 'busy';
        if (!(error instanceof SwapConflictError) || conflicts === MAX_CONFLICTS) throw error;
      } finally {
        await catalog.leases.release(lease).catch(() => undefined);
      }
    }
  }

  async #isWorth(snapshot: DaySnapshot, { tenant, force }: SyncWork): Promise<boolean> {
    const { records } = snapshot;
    if (records.length < MIN_CHUNKS) return false;
    const index = await this.#parts.indexes.ofDay(tenant, snapshot);
    const uncovered = records.filter(({ id }) => index === undefined || !isKnownTo(index, id)).length;
    return uncovered >= (force ? 1 : WORTH_CHUNKS);
  }

  async #build(work: SyncWork, snapshot: DaySnapshot, hold: () => Promise<void>): Promise<Buffer> {
    const { tenant, day } = work;
    const createdMs = this.#parts.clock.nowMs();
    const old = await this.#parts.indexes.ofDay(tenant, snapshot);
    if (old !== undefined) {
      try {
        return await this.#extend(work, snapshot, old, hold);
      } catch (error) {
        // Rebuild a corrupt index from the footers.
        if (!(error instanceof CorruptionError || error instanceof ObjectNotFoundError)) throw error;
      }
    }
    return encodeIndex({
      tenant,
      day,
      createdMs,
      chunks: await this.#footersOf(work, snapshot.records, hold),
    });
  }

  async #extend(
    { signal }: SyncWork,
    snapshot: DaySnapshot,
    old: DayIndex,
    hold: () => Promise<void>,
  ): Promise<Buffer> {
    const present = new Set(snapshot.records.map(({ id }) => id));
    const unread = snapshot.records.filter(({ id }) => !old.covers(id));
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
