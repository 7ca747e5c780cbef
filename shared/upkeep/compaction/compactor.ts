/**
 * Compaction of a tenant's day: merges until nothing is left to merge or the time is up, by itself or with other functions
 * (merge-crew.ts). It holds a lease while it works, and publishes only under it; killed anywhere, it leaves at most objects that
 * no record names.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NS_PER_DAY } from '../../base/model/duration.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { dayLease, type Lease, LeaseLostError } from '../../storage/catalog/leases.ts';
import { SwapConflictError } from '../../storage/catalog/swap.ts';
import { brokenOf, isOfInputs } from './broken-inputs.ts';
import { type MergedChunks, mergeAndSwap } from './merge-and-swap.ts';
import { MergeTooLargeError } from './merge-bounds.ts';
import { CREW_RUN_MS, type CrewWork, functionsFor, inAgeOrder, mergeTogether } from './merge-crew.ts';
import type { MergeHelpers } from './merge-task.ts';
import type { Packing } from './packing.ts';
import {
  DISTANT_SETTLE_MS,
  isSettled,
  MAX_INPUTS,
  nextClosingMs,
  type PlannedMerge,
  planMerges,
  SETTLE_MS,
} from './plan-merges.ts';
import { DeleteCancelledError, type DropSource, dropNothing } from './row-drops.ts';

export interface CompactorParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options: CompactorOptions;
  /** What merges leave out; without it nothing. */
  readonly drops?: DropSource;
  /** Functions that merge beside this one; undefined where there are none. */
  readonly helpers?: MergeHelpers;
}

export interface CompactorOptions {
  /** Stored bytes of a well-packed object. */
  readonly targetBytes: number;
  /** Outputs up to this many bytes lie in their record. */
  readonly inlineMaxBytes: number;
  /** How long objects stay after their record is gone; longer than any query, ms. */
  readonly graceMs: number;
  /** Default PACKING. */
  readonly packing?: Packing;
  /** Outputs have patterns beside their entries. */
  readonly minesPatterns?: boolean;
}

export interface DayWork {
  readonly tenant: string;
  readonly day: number;
  /** Pack what is there now, also in windows that are still open. */
  readonly force?: boolean;
  /** Only merges that pushes fill (see PlanOptions). */
  readonly onlyFull?: boolean;
  /** No merge begins after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface CompactionReport {
  /** Swaps published. */
  readonly merges: number;
  readonly rows: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly duplicates: number;
  /** Rows of delete requests, and expired ones. */
  readonly dropped: number;
  /**
   * `done`: nothing to do now. `settled`: nothing until something is pushed. `time`: the time was up. `busy`: another
   * holds the lease, or took it.
   */
  readonly end: 'done' | 'settled' | 'time' | 'busy';
  /** After `done`: Unix ms until which there is nothing to do unless something is pushed. Else the time of the end. */
  readonly quietUntilMs: number;
}

/** Compacts days: in this thread, or in one beside it. */
export interface DayCompactor {
  /** See Compactor.compactDay. An implementation in another thread also throws where that thread is lost. */
  compactDay(work: DayWork): Promise<CompactionReport>;
}

type Totals = { -readonly [K in keyof Omit<CompactionReport, 'end' | 'quietUntilMs'>]: number };
type End = Pick<CompactionReport, 'end' | 'quietUntilMs'>;

type Crew = Pick<CrewWork, 'snapshot' | 'lease' | 'untilMs' | 'hold' | 'failed'> & {
  readonly setAside: ReadonlySet<string>;
};

/** Renewed at a third of it; what a stalled compactor holds up is that long. */
export const LEASE_MS = 60_000;
/** Swaps in a row that others were faster with. */
const MAX_CONFLICTS = 5;

export class Compactor implements DayCompactor {
  readonly #parts: CompactorParts;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /**
   * Throws what the stores throw, and CorruptionError, ObjectNotFoundError or MergeTooLargeError where chunks could not be
   * merged: all others are packed then. What was published before stays.
   */
  async compactDay(work: DayWork): Promise<CompactionReport> {
    const { leases } = this.#parts.catalog;
    const total = { merges: 0, rows: 0, inputBytes: 0, outputBytes: 0, duplicates: 0, dropped: 0 };
    const lease = await leases.take(dayLease(work.tenant, work.day), LEASE_MS);
    if (lease === undefined) return { ...total, ...this.#ended('busy') };
    try {
      const end = await this.#mergeAll(work, lease, total);
      return { ...total, ...end };
    } catch (error) {
      if (error instanceof LeaseLostError) return { ...total, ...this.#ended('busy') };
      throw error;
    } finally {
      await leases.release(lease).catch(() => undefined);
    }
  }

  #ended(end: CompactionReport['end'], quietUntilMs = this.#parts.clock.nowMs()): End {
    return { end, quietUntilMs };
  }

  async #mergeAll(work: DayWork, lease: Lease, total: Totals): Promise<End> {
    const { catalog, clock, helpers } = this.#parts;
    const renew = catalog.leases.holder(lease, LEASE_MS);
    const hold = async () => {
      await nextTurn();
      await renew();
    };
    const setAside = new Set<string>();
    // What other functions have failed at is merged here.
    const failedElsewhere = new Set<string>();
    const crewUntilMs = Math.min(work.untilMs, clock.nowMs() + CREW_RUN_MS);
    let failure: unknown;
    let snapshot = await this.#read(work);
    let maxInputs = MAX_INPUTS;
    // Planned together, because planning looks at all chunks of the day.
    let planned: readonly PlannedMerge[] = [];
    for (let conflicts = 0; ; ) {
      if (snapshot === undefined) return this.#ended('settled');
      const { records } = snapshot;
      const plan = this.#planOf(work, setAside);
      if (planned.length === 0) planned = planMerges(work.day, records, plan);
      await this.#noteUnmerged(work, records);
      const open = planned.filter(({ inputs }) => inputs.every(({ id }) => !failedElsewhere.has(id)));
      if (helpers !== undefined && functionsFor(open, helpers) > 0) {
        planned = [];
        const crew = { snapshot, lease, untilMs: crewUntilMs, hold, failed: failedElsewhere, setAside };
        try {
          if (!(await this.#mergeTogether(work, helpers, crew, total))) return this.#ended('time');
        } catch (error) {
          if (!(error instanceof SwapConflictError) || ++conflicts === MAX_CONFLICTS) throw error;
          if (!(await catalog.leases.renew(lease, LEASE_MS))) return this.#ended('busy');
        }
        snapshot = await this.#read(work);
        continue;
      }
      const [merge] = planned;
      if (merge === undefined) {
        if (failure !== undefined) throw failure;
        if (work.onlyFull) return this.#ended('done');
        if (isSettled(work.day, records, { ...plan, force: false })) {
          await this.#removeWhereEmpty(work, lease, snapshot);
          return this.#ended('settled');
        }
        return this.#ended('done', nextClosingMs(work.day, records, plan));
      }
      if (clock.nowMs() >= work.untilMs) return this.#ended('time');
      work.signal.throwIfAborted();
      try {
        const inputs = merge.inputs.slice(0, maxInputs);
        const merged = await this.#merge(work, lease, hold, snapshot, { ...merge, inputs });
        // What was pushed meanwhile is found by the next run: reading the day again costs more than most merges.
        snapshot = merged.after;
        planned = planned.slice(1);
        add(total, 1, merged);
      } catch (error) {
        if (error instanceof DeleteCancelledError && ++conflicts < MAX_CONFLICTS) continue;
        if (error instanceof MergeTooLargeError && maxInputs > 2) {
          maxInputs = Math.max(2, maxInputs >> 1);
          continue;
        }
        planned = [];
        if (isOfInputs(error)) {
          failure ??= error;
          for (const { id } of await this.#unmergeable(merge, work, hold)) setAside.add(id);
          continue;
        }
        if (!(error instanceof SwapConflictError) || ++conflicts === MAX_CONFLICTS) throw error;
        // Whoever lost the lease would lose the next swap, too.
        if (!(await catalog.leases.renew(lease, LEASE_MS))) return this.#ended('busy');
        snapshot = await this.#read(work);
      }
    }
  }

  async #read({ tenant, day }: DayWork): Promise<DaySnapshot | undefined> {
    const snapshot = await this.#parts.catalog.day(tenant, day);
    return snapshot && inAgeOrder(snapshot);
  }

  /** As of now. */
  #planOf(work: DayWork, setAside: ReadonlySet<string>) {
    const { clock, options, store } = this.#parts;
    const { targetBytes, packing } = options;
    const { force = false, onlyFull } = work;
    const goneBefore = this.#expiredBefore(work);
    const settleMs = store.isDistant === true ? DISTANT_SETTLE_MS : SETTLE_MS;
    const mayMerge = ({ id, last }: ChunkRecord) => !setAside.has(id) && last >= goneBefore;
    return { targetBytes, packing, nowMs: clock.nowMs(), force, onlyFull, settleMs, mayMerge };
  }

  /** False if the time was up. */
  #mergeTogether(
    work: DayWork,
    helpers: MergeHelpers,
    { setAside, ...crew }: Crew,
    total: Totals,
  ): Promise<boolean> {
    const { tenant, day, signal } = work;
    return mergeTogether(
      { ...this.#parts, helpers },
      {
        ...crew,
        tenant,
        signal,
        plan: async ({ records }, isFree) => {
          await this.#noteUnmerged(work, records);
          const plan = this.#planOf(work, setAside);
          const mayMerge = (record: ChunkRecord) => plan.mayMerge(record) && isFree(record);
          return planMerges(day, records, { ...plan, mayMerge });
        },
        onMerged: (merges, merged) => add(total, merges, merged),
      },
    );
  }

  /** For processes that take pushes. It must not keep chunks from being merged. */
  async #noteUnmerged({ tenant, day }: DayWork, records: readonly ChunkRecord[]): Promise<void> {
    const chunks = records.reduce((sum, { level }) => (level === 0 ? sum + 1 : sum), 0);
    await this.#parts.catalog.unmerged.note(tenant, day, chunks).catch(() => undefined);
  }

  /** Days whose chunks all went, by age or by requests, go too. */
  async #removeWhereEmpty({ tenant }: DayWork, lease: Lease, snapshot: DaySnapshot): Promise<void> {
    const { records, ...day } = snapshot;
    if (records.length > 0) return;
    await this.#parts.catalog.removeEmptyDay({ tenant, day, lease, graceMs: this.#parts.options.graceMs });
  }

  /** ns since the start of the day: chunks that end before are removed without being read, so they are not packed. */
  #expiredBefore({ tenant, day }: DayWork): number {
    const expiredNs = this.#parts.drops?.expiredBeforeNs(tenant);
    return expiredNs === undefined ? -Infinity : Number(expiredNs - BigInt(day) * NS_PER_DAY);
  }

  /** Those of the inputs that keep the others from being merged; all of them where none does by itself. */
  async #unmergeable(
    { inputs }: PlannedMerge,
    { signal }: DayWork,
    hold: () => Promise<void>,
  ): Promise<readonly ChunkRecord[]> {
    const broken = await brokenOf(this.#parts.store, inputs, async () => {
      await hold();
      signal.throwIfAborted();
    });
    return broken.length === 0 ? inputs : broken;
  }

  async #merge(
    work: DayWork,
    lease: Lease,
    hold: () => Promise<void>,
    snapshot: DaySnapshot,
    { level, inputs, quality }: PlannedMerge,
  ): Promise<MergedChunks> {
    const { tenant, signal } = work;
    const drops = await (this.#parts.drops?.dropsOf(tenant) ?? dropNothing(this.#parts.clock));
    const holdAndCheck = async () => {
      await hold();
      await drops.check();
    };
    const given = { tenant, snapshot, lease, level, quality, inputs, drops, signal, hold: holdAndCheck };
    return mergeAndSwap(this.#parts, given);
  }
}

function add(total: Totals, merges: number, merged: MergedChunks): void {
  total.merges += merges;
  total.rows += merged.rows;
  total.duplicates += merged.duplicates;
  total.dropped += merged.dropped;
  total.inputBytes += merged.inputBytes;
  total.outputBytes += merged.outputBytes;
}
