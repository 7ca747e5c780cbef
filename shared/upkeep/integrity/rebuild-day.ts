/**
 * Rebuilds the records of one tenant's day. It holds the lease of the day, like compaction. So an object
 * without a record stays without one meanwhile, and a chunk that a merge removed cannot come back.
 *
 *     lease -> records -> lists of garbage -> ends of the objects -> new records -> lease released
 *
 * The order matters: an object that was collected in between is on a list that is read after the records, or
 * is gone when it is read.
 */

import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { ObjectNotFoundError } from '../../base/ports/object-store.ts';
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import { keyOfChunk, readFooter } from '../../storage/catalog/chunk-object.ts';
import { type ChunkRecord, recordOf } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { dayLease, type Lease, LeaseLostError } from '../../storage/catalog/leases.ts';
import type { StoredObject } from '../../storage/catalog/stored-objects.ts';
import { MAX_SWAPPED_CHUNKS } from '../../storage/catalog/swap.ts';
import { MismatchError } from './check-chunk.ts';
import { type DoctorParts, RECENT_MS } from './check-store.ts';
import { type FoundChunk, readFoundChunk } from './found-chunk.ts';
import type { DayOutcome, RebuildOptions } from './rebuild-options.ts';

/** Footers in memory at a time, and records committed together. */
const CHUNKS_AT_ONCE = 32;
const LEASE_MS = 60_000;

export interface DayObjects {
  readonly tenant: string;
  readonly day: number;
  /** All chunk objects of the day. */
  readonly objects: readonly StoredObject[];
}

/** Throws the errors of the stores. */
export async function rebuildDay(
  parts: DoctorParts,
  work: DayObjects,
  options: RebuildOptions,
): Promise<DayOutcome | 'busy'> {
  const { leases } = parts.catalog;
  const lease = await leases.takePatiently(dayLease(work.tenant, work.day), LEASE_MS);
  if (lease === undefined) return 'busy';
  try {
    return await new DayRebuild(parts, options, lease).run(work);
  } catch (error) {
    if (error instanceof LeaseLostError) return 'busy';
    throw error;
  } finally {
    await leases.release(lease).catch(() => undefined);
  }
}

class DayRebuild {
  readonly #parts: DoctorParts;
  readonly #options: RebuildOptions;
  readonly #lease: Lease;
  readonly #outcome = { added: 0, kept: 0, merged: 0, recent: 0, unreadable: 0, replaced: 0 };

  constructor(parts: DoctorParts, options: RebuildOptions, lease: Lease) {
    this.#parts = parts;
    this.#options = options;
    this.#lease = lease;
  }

  async run({ tenant, day, objects }: DayObjects): Promise<DayOutcome> {
    const { catalog, clock } = this.#parts;
    const records = (await this.#read(tenant, day))?.records ?? [];
    const stored = new Set(objects.map(({ key }) => key));
    const known = new Set(records.map(({ id }) => id));
    // A record without its object contains no entries.
    const held = new Set(
      records.filter(one => one.inline || stored.has(keyOfChunk(one))).map(({ id }) => id),
    );
    const garbage = await catalog.garbage.all();
    const unknown: StoredObject[] = [];
    for (const object of objects) {
      if (known.has(object.id)) this.#outcome.kept++;
      else if (garbage.has(object.key)) this.#outcome.merged++;
      else if (!this.#options.includeRecent && clock.nowMs() - startedMsOf(object.id) < RECENT_MS) {
        this.#outcome.recent++;
      } else unknown.push(object);
    }
    for (let i = 0; i < unknown.length; i += CHUNKS_AT_ONCE) {
      await this.#add(unknown.slice(i, i + CHUNKS_AT_ONCE), held);
    }
    if (known.size > held.size) await this.#removeReplaced(tenant, day);
    return this.#outcome;
  }

  /** `undefined` if the day is missing or unreadable. Then every object counts as unknown. */
  async #read(tenant: string, day: number): Promise<DaySnapshot | undefined> {
    try {
      return await this.#parts.catalog.day(tenant, day);
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      const where = `records of ${tenant}, day ${day}`;
      this.#options.report({ kind: 'corrupt', where, message: messageOf(error) });
      return undefined;
    }
  }

  async #add(objects: readonly StoredObject[], held: ReadonlySet<string>): Promise<void> {
    const found = await Promise.all(objects.map(object => this.#readFound(object)));
    const records: ChunkRecord[] = [];
    for (const [i, chunk] of found.entries()) {
      if (chunk === undefined) continue;
      const hasHashedKey = objects[i].hasHashedKey === true;
      const { footer, storedBytes, tail } = chunk;
      if (footer.inputs.length > 0 && footer.inputs.every(id => held.has(id))) this.#outcome.merged++;
      else
        records.push(recordOf(footer, storedBytes, tail.length, { inline: undefined, tail, hasHashedKey }));
    }
    if (records.length === 0) return;
    await this.#hold();
    await this.#parts.catalog.addChunks(records, { known: true });
    this.#outcome.added += records.length;
  }

  async #readFound(object: StoredObject): Promise<FoundChunk | undefined> {
    try {
      return await readFoundChunk(this.#parts.store, object);
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof MismatchError)) throw error;
      const kind = error instanceof MismatchError ? 'mismatch' : 'corrupt';
      this.#options.report({ kind, where: object.key, message: messageOf(error) });
      this.#outcome.unreadable++;
      return undefined;
    }
  }

  /**
   * Removes records of deleted objects. A catalog from an older backup refers to chunks that were merged and
   * deleted later, and these records would make queries fail. Records that a chunk with a record names as its
   * input are removed. Others stay unless their loss is accepted: they were merged more than once or are
   * lost, which cannot be distinguished.
   */
  async #removeReplaced(tenant: string, day: number): Promise<void> {
    const { catalog, store } = this.#parts;
    const snapshot = await this.#read(tenant, day);
    if (snapshot === undefined) return;
    const inputs = new Set<string>();
    for (const record of snapshot.records) {
      if (record.level > 0) for (const id of await this.#inputsOf(record)) inputs.add(id);
    }
    const gone: ChunkRecord[] = [];
    for (const record of snapshot.records) {
      const isReplaced = inputs.has(record.id) || this.#options.forgetMissing;
      const isCandidate = record.inline === undefined && isReplaced;
      if (isCandidate && (await store.head(keyOfChunk(record))) === undefined) gone.push(record);
    }
    let { records: _, ...now } = snapshot;
    for (let i = 0; i < gone.length; i += MAX_SWAPPED_CHUNKS) {
      await this.#hold();
      const removed = gone.slice(i, i + MAX_SWAPPED_CHUNKS);
      now = await catalog.swap({ tenant, day: now, lease: this.#lease, removed, added: [], graceMs: 0 });
      this.#outcome.replaced += removed.length;
    }
  }

  /** Returns nothing for an unreadable chunk, because it proves nothing. */
  async #inputsOf(record: ChunkRecord): Promise<readonly string[]> {
    try {
      // A footer in the record outlives its object, so it proves nothing without the object.
      if (record.inline === undefined && (await this.#parts.store.head(keyOfChunk(record))) === undefined)
        return [];
      return (await readFooter(this.#parts.store, record)).inputs;
    } catch (error) {
      if (error instanceof CorruptionError || error instanceof ObjectNotFoundError) return [];
      throw error;
    }
  }

  /** Throws LeaseLostError. */
  async #hold(): Promise<void> {
    if (!(await this.#parts.catalog.leases.renew(this.#lease, LEASE_MS)))
      throw new LeaseLostError(this.#lease.name);
  }
}
