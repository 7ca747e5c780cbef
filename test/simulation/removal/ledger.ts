/**
 * Stored copies of an entry that delete requests and retention cover, and copies that must stay. A copy is an
 * entry in a chunk that a push wrote. Merges create no copies: they keep some and omit others.
 *
 *     hidden for sure     every copy is covered, for the whole question, by one request or by the age of the entry
 *     may be hidden       every copy may be
 *
 * Between the two lies what changes while a question is answered.
 */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import type { Clock } from '../../../shared/base/ports/clock.ts';
import type { Write } from '../../../shared/base/ports/table.ts';
import { startedMsOf } from '../../../shared/storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import type { SimulatedEntry } from '../model.ts';
import { type KnownRequest, RequestHistory } from './requests.ts';
import { TenantLimits } from './tenant-limits.ts';

/** A worker acts on what it read as long as it holds its lease, and a call may take a while to arrive. */
const LATE_MS = 80_000;
/** The same for limits: the retention job reads them once for a run. */
const LATE_LIMITS_MS = 180_000;

interface Copy {
  readonly chunk: string;
  /** Start by the clock of the process that wrote it, Unix ms. */
  readonly startedMs: number;
  /** Tick; Infinity while it is on its way. */
  committedAt: number;
  /** A swap without it is on its way, or was. */
  mayBeGone: boolean;
  /** Tick. */
  goneAt: number;
}

interface Known {
  readonly entry: SimulatedEntry;
  readonly copies: Copy[];
}

/** The entries of a chunk, by id. */
export type Entries = ReadonlyMap<string, SimulatedEntry>;

interface LedgerParts {
  /** The true time. */
  readonly clock: Clock;
  /** Maximum error of the clock of a process, ms. */
  readonly maxSkewMs: number;
}

export class Ledger {
  readonly limits: TenantLimits;
  readonly requests = new RequestHistory();
  /** Rows that merges dropped, or that were deleted with their chunk. */
  removed = 0;
  processed = 0;
  readonly #clock: Clock;
  readonly #maxSkewMs: number;
  readonly #byTenant = new Map<string, Map<string, Known>>();
  #tick = 0;

  constructor({ clock, maxSkewMs }: LedgerParts) {
    this.#clock = clock;
    this.#maxSkewMs = maxSkewMs;
    this.limits = new TenantLimits(clock);
  }

  /** Entries that may and that must be hidden in a result that begins now. */
  question(tenant: string): Question {
    const [began, beganMs] = [this.#tick, this.#clock.nowMs()];
    const { limits } = this;
    const maxSkewMs = this.#maxSkewMs;
    const requests = () => this.requests.of(tenant);
    const copiesOf = (id: string) => this.#known(tenant).get(id)?.copies ?? [];
    return {
      isExpired: entry => limits.isExpired(tenant, entry, beganMs, beganMs - maxSkewMs),
      mayBeExpired: entry => limits.mayBeExpired(tenant, entry, beganMs, this.#clock.nowMs() + maxSkewMs),
      isGone: id => {
        const copies = copiesOf(id);
        return copies.length > 0 && copies.every(({ goneAt }) => goneAt <= began);
      },
      isDeleted: (id, entry) => {
        const copies = copiesOf(id);
        const inForce = requests().filter(
          one => one.createdAt <= began && one.cancelingAt === Number.POSITIVE_INFINITY && one.matches(entry),
        );
        return copies.length > 0 && copies.every(copy => inForce.some(one => isCovered(one, copy)));
      },
      mayBeDeleted: (id, entry) => {
        // A copy that was pushed again meanwhile need not be found.
        const copies = copiesOf(id).filter(({ committedAt }) => committedAt <= began);
        const asked = requests().filter(one => one.canceledAt > began && one.matches(entry));
        const mayCover = (one: KnownRequest, copy: Copy) => one.sealedAt > began || this.#mayCover(one, copy);
        return (
          copies.length > 0 && copies.every(copy => copy.mayBeGone || asked.some(one => mayCover(one, copy)))
        );
      },
    };
  }

  /** True if the results of two processes may differ in the entry legitimately. */
  isUncertain(tenant: string, id: string, sinceMs: number): boolean {
    const known = this.#known(tenant).get(id);
    if (known === undefined) return false;
    const { entry, copies } = known;
    if (this.limits.mayBeExpired(tenant, entry, sinceMs, this.#clock.nowMs() + this.#maxSkewMs)) return true;
    return this.requests
      .of(tenant)
      .some(one => one.matches(entry) && copies.some(copy => this.#mayCover(one, copy)));
  }

  /** A chunk is about to be committed. */
  noteComing({ tenant, id, asOfMs }: ChunkRecord, entries: Entries): void {
    // Outputs of a merge contain known copies.
    if (asOfMs !== 0) return;
    for (const [name, entry] of entries) {
      let known = this.#known(tenant).get(name);
      if (known === undefined) this.#known(tenant).set(name, (known = { entry, copies: [] }));
      if (known.copies.some(({ chunk }) => chunk === id)) continue;
      known.copies.push({
        chunk: id,
        startedMs: startedMsOf(id),
        committedAt: Number.POSITIVE_INFINITY,
        mayBeGone: false,
        goneAt: Number.POSITIVE_INFINITY,
      });
    }
  }

  /**
   * It is, or its record has changed. No later entry may be covered by a processed request; and if a record
   * says that all requests accepted before some time were applied to its rows, they were.
   */
  notePut(record: ChunkRecord, entries: Entries): void {
    if (record.asOfMs !== 0) {
      this.#checkClaim(record, entries);
      return;
    }
    this.#tick++;
    for (const copy of this.#copiesIn(record, entries))
      copy.committedAt = Math.min(copy.committedAt, this.#tick);
    for (const one of this.requests.of(record.tenant))
      this.#checkClean(one, [[record, entries]], 'processed');
  }

  /** A swap is about to take the last of some entries out of their day. */
  noteGoing(tenant: string, lost: Iterable<string>): void {
    for (const id of lost) for (const copy of this.#committed(tenant, id)) copy.mayBeGone = true;
  }

  /** It has. Throws if one had to stay. */
  noteGone(owner: string, tenant: string, lost: Iterable<string>): void {
    this.#tick++;
    for (const id of lost) {
      const { entry } = this.#known(tenant).get(id)!;
      const copies = this.#committed(tenant, id).filter(({ goneAt }) => goneAt === Number.POSITIVE_INFINITY);
      const stays = this.#mayGoByAge(tenant, entry)
        ? undefined
        : copies.find(copy => !this.requests.of(tenant).some(one => this.#mayGoFor(one, entry, copy)));
      mustHold(INVARIANTS.onlyWhatMayGoes, stays === undefined, () => {
        return `${owner} removes ${id} of ${stays?.chunk}`;
      });
      for (const copy of copies) copy.goneAt = this.#tick;
      this.removed++;
    }
  }

  /** Called before the writes of a transaction are applied. */
  beginWrites(writes: readonly Write[]): void {
    this.requests.begin(writes);
  }

  /**
   * After. What is sealed is clean of what was there when it was picked up; what is processed, of all.
   * @param chunks all that records name
   */
  async endWrites(
    writes: readonly Write[],
    chunks: () => Promise<readonly (readonly [ChunkRecord, Entries])[]>,
  ): Promise<void> {
    const steps = this.requests.end(writes, ++this.#tick, this.#clock.nowMs());
    for (const [one, step] of steps) {
      if (step === 'processed') this.processed++;
      this.#checkClean(one, await chunks(), step);
    }
  }

  noteCanceling(tenant: string, id: string): void {
    this.requests.noteCanceling(tenant, id, ++this.#tick);
  }

  #checkClaim(record: ChunkRecord, entries: Entries): void {
    for (const one of this.requests.of(record.tenant)) {
      const { pickedUpMs } = one.request;
      if (pickedUpMs === undefined || record.asOfMs <= pickedUpMs || !isSteady(one)) continue;
      const left = this.#coveredIn(one, [[record, entries]], () => true);
      mustHold(INVARIANTS.claimsAreTrue, left === undefined, () => {
        return `${record.id} as of ${record.asOfMs} holds ${left}, of request ${one.request.id}`;
      });
    }
  }

  #checkClean(
    one: KnownRequest,
    chunks: readonly (readonly [ChunkRecord, Entries])[],
    step: 'sealed' | 'processed',
  ): void {
    const { request } = one;
    if (!isSteady(one) || (step === 'processed' && request.processedMs === undefined)) return;
    const counts = (copy: Copy) => step === 'processed' || copy.committedAt <= one.pickedUpAt;
    const left = this.#coveredIn(one, chunks, counts);
    mustHold(
      INVARIANTS.deletedIsGone,
      left === undefined,
      () => `request ${request.id} is ${step}, and ${left} is there`,
    );
  }

  /** An entry in the chunks of which the request takes every copy that was not gone, and `counts` every one. */
  #coveredIn(
    one: KnownRequest,
    chunks: readonly (readonly [ChunkRecord, Entries])[],
    counts: (copy: Copy) => boolean,
  ): string | undefined {
    const { tenant } = one.request;
    for (const [record, entries] of chunks) {
      if (record.tenant !== tenant) continue;
      for (const [id, entry] of entries) {
        if (!one.matches(entry)) continue;
        const copies = this.#known(tenant).get(id)?.copies ?? [];
        if (copies.length > 0 && copies.every(copy => isCovered(one, copy) && counts(copy))) return id;
      }
    }
    return undefined;
  }

  #mayGoFor(one: KnownRequest, entry: SimulatedEntry, copy: Copy): boolean {
    if (one.request.pickedUpMs === undefined || !one.matches(entry)) return false;
    return one.canceledMs + LATE_MS >= this.#clock.nowMs() && this.#mayCover(one, copy);
  }

  /**
   * A tenant whose mode was changed is the one case in which a merge may put rows from before and after the seal into a
   * chunk that counts as before it. They are covered then, as all that is stored until the request is processed.
   */
  #mayCover(one: KnownRequest, copy: Copy): boolean {
    const { tenant, createdMs, processedMs = Number.POSITIVE_INFINITY } = one.request;
    if (isCovered(one, copy)) return true;
    const skewMs = 2 * this.#maxSkewMs;
    return copy.startedMs <= processedMs + skewMs && this.limits.wasPaused(tenant, createdMs - skewMs);
  }

  #mayGoByAge(tenant: string, entry: SimulatedEntry): boolean {
    const nowMs = this.#clock.nowMs();
    return this.limits.mayBeExpired(tenant, entry, nowMs - LATE_LIMITS_MS, nowMs + this.#maxSkewMs);
  }

  #committed(tenant: string, id: string): Copy[] {
    return (this.#known(tenant).get(id)?.copies ?? []).filter(
      ({ committedAt }) => committedAt < Number.POSITIVE_INFINITY,
    );
  }

  #copiesIn({ tenant, id }: ChunkRecord, entries: Entries): Copy[] {
    const known = this.#known(tenant);
    return [...entries.keys()].flatMap(name => known.get(name)!.copies.filter(({ chunk }) => chunk === id));
  }

  #known(tenant: string): Map<string, Known> {
    let known = this.#byTenant.get(tenant);
    if (known === undefined) this.#byTenant.set(tenant, (known = new Map()));
    return known;
  }
}

/** Called with an entry when the response has arrived. */
interface Question {
  isExpired(entry: SimulatedEntry): boolean;
  mayBeExpired(entry: SimulatedEntry): boolean;
  /** No copy was there any more when the question began. */
  isGone(id: string): boolean;
  isDeleted(id: string, entry: SimulatedEntry): boolean;
  mayBeDeleted(id: string, entry: SimulatedEntry): boolean;
}

function isSteady({ cancelingAt, createdAt }: KnownRequest): boolean {
  return cancelingAt === Number.POSITIVE_INFINITY && createdAt < Number.POSITIVE_INFINITY;
}

function isCovered({ request: { sealedMs } }: KnownRequest, { startedMs }: Copy): boolean {
  return sealedMs === undefined || startedMs <= sealedMs;
}
