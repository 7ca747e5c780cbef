/**
 * Compacts a tenant's day: merges until nothing is left to merge or the time is up, alone or with other
 * functions (merge-crew.ts). It holds a lease while it works and publishes only under that lease. If it is
 * killed, it leaves at most objects without a record.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
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
import type { MergeSizes } from './merge-sizes.ts';
import type { MergeHelpers } from './merge-task.ts';
import { PartBusyError, underPartLease } from './part-lease.ts';
import {
  DISTANT_MAX_INPUTS,
  DISTANT_SETTLE_MS,
  isSettled,
  MAX_INPUTS,
  nextClosingMs,
  type PlannedMerge,
  planMerges,
  SETTLE_MS,
} from './plan-merges.ts';
import { DeleteCanceledError, type DropSource, dropNothing } from './row-drops.ts';

interface CompactorParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options: CompactorOptions;
  /** Decides which rows merges remove. Default: none. */
  readonly drops?: DropSource;
  /** Functions that merge in parallel with this one, or undefined if there are none. */
  readonly helpers?: MergeHelpers;
}

export interface CompactorOptions {
  /** Target size of a chunk, stored bytes. */
  readonly targetBytes: number;
  /** Outputs up to this many bytes are stored inline in their record. */
  readonly inlineMaxBytes: number;
  /** Time that objects stay after their record is deleted, ms. Longer than any query. */
  readonly graceMs: number;
  /** Default: `MERGE_SIZES`. */
  readonly mergeSizes?: MergeSizes | undefined;
  /**
   * Whether merges of large tenants divide the streams into parts (window-parts.ts), and smaller windows are merged first, as many
   * functions do. Default: streams are divided if there are helpers.
   */
  readonly dividesStreams?: boolean | undefined;
  /** Whether outputs contain patterns in addition to their entries. */
  readonly minesPatterns?: boolean;
}

export interface DayWork {
  readonly tenant: string;
  readonly day: number;
  /** Merges what exists now, also in windows that are still open. */
  readonly force?: boolean;
  /** Only merges that pushes fill (see PlanOptions). */
  readonly onlyPushes?: boolean;
  /** No merge starts after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

export interface CompactionReport {
  /** Number of published swaps. */
  readonly merges: number;
  readonly rows: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  readonly duplicates: number;
  /** Rows removed because of delete requests or retention. */
  readonly dropped: number;
  /**
   * - `done`: nothing to do now.
   * - `settled`: nothing to do until the next push.
   * - `time`: the time was up.
   * - `busy`: another process holds the lease, or acquired it meanwhile, or still merges a part of the day.
   */
  readonly end: 'done' | 'settled' | 'time' | 'busy';
  /**
   * After `done`: Unix ms until which there is nothing to do without a push. Otherwise the time of the end.
   */
  readonly quietUntilMs: number;
}

/** Compacts days, on this thread or on another one. */
export interface DayCompactor {
  /** See Compactor.compactDay. An implementation on another thread also throws if that thread is lost. */
  compactDay(work: DayWork): Promise<CompactionReport>;
}

type ReportTotals = { -readonly [K in keyof Omit<CompactionReport, 'end' | 'quietUntilMs'>]: number };
type CompactionEnd = Pick<CompactionReport, 'end' | 'quietUntilMs'>;

type CrewOptions = Pick<CrewWork, 'snapshot' | 'lease' | 'untilMs' | 'hold' | 'failed'> & {
  readonly setAside: ReadonlySet<string>;
};

/** Renewed after a third of this time. A stalled compactor blocks its day for this long. */
export const LEASE_MS = 60_000;
/** Maximum number of consecutive swaps that fail because another process changed the chunks first. */
const MAX_CONFLICTS = 5;

export class Compactor implements DayCompactor {
  readonly #parts: CompactorParts;

  constructor(parts: CompactorParts) {
    this.#parts = parts;
  }

  /**
   * Throws what the stores throw, and CorruptionError, ObjectNotFoundError or MergeTooLargeError if chunks
   * could not be merged. All other chunks are merged by then. Swaps that were published before stay.
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

  #ended(end: CompactionReport['end'], quietUntilMs = this.#parts.clock.nowMs()): CompactionEnd {
    return { end, quietUntilMs };
  }

  async #mergeAll(work: DayWork, lease: Lease, total: ReportTotals): Promise<CompactionEnd> {
    const { catalog, clock, helpers } = this.#parts;
    const { dividesStreams } = this.#parts.options;
    const renew = catalog.leases.holder(lease, LEASE_MS);
    const hold = async () => {
      await nextTurn();
      await renew();
    };
    const setAside = new Set<string>();
    // Merges that other functions failed at run here, once the leases of their parts are free.
    const failedInCrew = new Set<string>();
    const crewUntilMs = Math.min(work.untilMs, clock.nowMs() + CREW_RUN_MS);
    let failure: unknown;
    let isPartBusy = false;
    let snapshot = await this.#read(work);
    let maxInputs = MAX_INPUTS;
    // Planned together, because planning looks at all chunks of the day.
    let planned: readonly PlannedMerge[] = [];
    for (let conflicts = 0; ; ) {
      if (snapshot === undefined) return this.#ended('settled');
      const { records } = snapshot;
      const plan = this.#planOf(work, setAside);
      const isPlanned = planned.length > 0;
      const forMany = isPlanned || helpers === undefined ? [] : planMerges(work.day, records, plan);
      const open = forMany.filter(({ inputs }) => inputs.every(({ id }) => !failedInCrew.has(id)));
      if (helpers !== undefined && functionsFor(open, helpers) > 0) {
        const crew = { snapshot, lease, untilMs: crewUntilMs, hold, failed: failedInCrew, setAside };
        try {
          if (!(await this.#mergeTogether(work, helpers, crew, total))) return this.#ended('time');
        } catch (error) {
          if (!(error instanceof SwapConflictError) || ++conflicts === MAX_CONFLICTS) throw error;
          if (!(await catalog.leases.renew(lease, LEASE_MS))) return this.#ended('busy');
        }
        snapshot = await this.#read(work);
        continue;
      }
      if (!isPlanned)
        planned = planMerges(work.day, records, { ...plan, largestFirst: dividesStreams !== true });
      const [merge] = planned;
      if (merge === undefined) {
        if (failure !== undefined) throw failure;
        if (isPartBusy) return this.#ended('busy');
        if (work.onlyPushes) return this.#ended('done');
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
        const toMerge = { ...merge, inputs };
        const day = snapshot;
        const merged = inputs.some(({ id }) => failedInCrew.has(id))
          ? await underPartLease(catalog.leases, { ...work, inputs }, hold, renew =>
              this.#merge(work, lease, renew, day, toMerge),
            )
          : await this.#merge(work, lease, hold, day, toMerge);
        // The next run finds later pushes: reading the day again costs more than most merges.
        snapshot = merged.after;
        planned = planned.slice(1);
        add(total, 1, merged);
      } catch (error) {
        if (error instanceof DeleteCanceledError && ++conflicts < MAX_CONFLICTS) continue;
        if (error instanceof MergeTooLargeError && maxInputs > 2) {
          maxInputs = Math.max(2, Math.min(maxInputs, merge.inputs.length) >> 1);
          continue;
        }
        planned = [];
        if (error instanceof PartBusyError) {
          isPartBusy = true;
          for (const { id } of merge.inputs) setAside.add(id);
          continue;
        }
        if (isOfInputs(error)) {
          failure ??= error;
          for (const { id } of await this.#unmergeable(merge, work, hold)) setAside.add(id);
          continue;
        }
        if (!(error instanceof SwapConflictError) || ++conflicts === MAX_CONFLICTS) throw error;
        // Without the lease, the next swap fails too.
        if (!(await catalog.leases.renew(lease, LEASE_MS))) return this.#ended('busy');
        snapshot = await this.#read(work);
      }
    }
  }

  async #read({ tenant, day }: DayWork): Promise<DaySnapshot | undefined> {
    const snapshot = await this.#parts.catalog.day(tenant, day);
    return snapshot && inAgeOrder(snapshot);
  }

  /** Plans with the current time. */
  #planOf(work: DayWork, setAside: ReadonlySet<string>) {
    const { clock, options, store, helpers } = this.#parts;
    const { targetBytes, mergeSizes, dividesStreams = helpers !== undefined } = options;
    const { force = false, onlyPushes } = work;
    const goneBefore = this.#expiredBefore(work);
    const isDistant = store.isDistant === true;
    const mayMerge = ({ id, last }: ChunkRecord) => !setAside.has(id) && last >= goneBefore;
    return {
      targetBytes,
      mergeSizes,
      nowMs: clock.nowMs(),
      force,
      onlyPushes,
      dividesStreams,
      settleMs: isDistant ? DISTANT_SETTLE_MS : SETTLE_MS,
      maxInputs: isDistant ? DISTANT_MAX_INPUTS : MAX_INPUTS,
      mayMerge,
    };
  }

  /** Returns false if the time was up. */
  #mergeTogether(
    work: DayWork,
    helpers: MergeHelpers,
    { setAside, ...crew }: CrewOptions,
    total: ReportTotals,
  ): Promise<boolean> {
    const { tenant, day, signal } = work;
    return mergeTogether(
      { ...this.#parts, helpers },
      {
        ...crew,
        tenant,
        signal,
        plan: ({ records }, isFree) => {
          const plan = this.#planOf(work, setAside);
          const mayMerge = (record: ChunkRecord) => plan.mayMerge(record) && isFree(record);
          return planMerges(day, records, { ...plan, mayMerge });
        },
        onMerged: (merges, merged) => add(total, merges, merged),
      },
    );
  }

  /** Also removes days whose chunks were all deleted, by retention or by requests. */
  async #removeWhereEmpty({ tenant }: DayWork, lease: Lease, snapshot: DaySnapshot): Promise<void> {
    const { records, ...day } = snapshot;
    if (records.length > 0) return;
    await this.#parts.catalog.removeEmptyDay({ tenant, day, lease, graceMs: this.#parts.options.graceMs });
  }

  /**
   * Returns ns since the start of the day. Chunks that end before are removed without being read, so they are
   * not merged.
   */
  #expiredBefore({ tenant, day }: DayWork): number {
    const expiredNs = this.#parts.drops?.expiredBeforeNs(tenant);
    return expiredNs === undefined ? -Infinity : Number(expiredNs - BigInt(day) * NS_PER_DAY);
  }

  /** Returns the inputs that keep the others from being merged, or all inputs if none does so alone. */
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
    { level, inputs, quality, parts }: PlannedMerge,
  ): Promise<MergedChunks> {
    const { tenant, signal } = work;
    const drops = await (this.#parts.drops?.dropsOf(tenant) ?? dropNothing(this.#parts.clock));
    const holdAndCheck = async () => {
      await hold();
      await drops.check();
    };
    return mergeAndSwap(this.#parts, {
      tenant,
      snapshot,
      lease,
      level,
      quality,
      parts,
      inputs,
      drops,
      signal,
      hold: holdAndCheck,
    });
  }
}

function add(total: ReportTotals, merges: number, merged: MergedChunks): void {
  total.merges += merges;
  total.rows += merged.rows;
  total.duplicates += merged.duplicates;
  total.dropped += merged.dropped;
  total.inputBytes += merged.inputBytes;
  total.outputBytes += merged.outputBytes;
}
