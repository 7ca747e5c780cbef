/**
 * Lets many functions merge one tenant's day concurrently. One of them holds the lease of the day. It plans, calls the others for
 * the merges, and publishes the stored outputs of many merges in one swap. So the catalog has a single writer for the day, and
 * only its reads and swaps are not concurrent.
 *
 *     day --plan--> merges --+--> function --> outputs --+--> one swap --> day
 *                            +--> function --> outputs --+
 *                            +--> function --> ...          (the next swap)
 *
 * The day is read and planned again while merges run. Their inputs are not planned again, but still decide about order: a later run
 * ends before a chunk that overlaps one of them in time (order-runs.ts). So merges of several plans can be published in any order.
 *
 * Each function holds the lease of the part that it merges (part-lease.ts). If a merge fails, because its function was lost or a
 * chunk is damaged, the holder of the day does it once the lease of the part is free.
 */
import type { Clock } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { compareChunks } from '../../storage/catalog/chunk-order.ts';
import { type ChunkRecord, encodeRecord } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import type { Lease } from '../../storage/catalog/leases.ts';
import { MAX_PUBLISHED_BYTES, MAX_PUBLISHED_CHUNKS, MAX_REMOVED_CHUNKS } from '../../storage/catalog/swap.ts';
import { type MergedChunks, publish } from './merge-and-swap.ts';
import type { MergeAnswer, MergeHelpers } from './merge-task.ts';
import type { PlannedMerge } from './plan-merges.ts';
import type { DropSource } from './row-drops.ts';

/** Lines that a function merges in 25 s. Below it, no other function is called. Before the next planning, all of it is merged. */
const HELPER_BYTES = 256 * 1024 * 1024;
/** Interval between two reads of the day, ms. A day of 100,000 chunks takes 2 s to read. */
export const REPLAN_MS = 30_000;
/** Maximum time that the lease is held, ms. Deletion and retention of the day wait for it. */
export const CREW_RUN_MS = 240_000;
/** Timeout of one call, ms. The largest merge takes a minute. */
const MAX_CALL_MS = 300_000;
/** Maximum interval between renewals of the lease, ms. */
const TICK_MS = 5_000;
/** Plans for each read of the day, each without the inputs of the previous ones. Otherwise full merges delay closed windows. */
const MAX_PLANS = 3;

interface CrewParts {
  readonly catalog: Pick<Catalog, 'day' | 'swap'>;
  readonly clock: Clock;
  readonly options: { readonly graceMs: number };
  readonly drops?: Pick<DropSource, 'areInForce'>;
  readonly helpers: MergeHelpers;
}

export interface CrewWork {
  readonly tenant: string;
  readonly snapshot: DaySnapshot;
  readonly lease: Lease;
  /** No merge begins after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  /** IDs of chunks whose merge failed: added here, and not merged again. */
  readonly failed: Set<string>;
  /** @param isFree false for a chunk that must not be merged */
  plan(snapshot: DaySnapshot, isFree: (record: ChunkRecord) => boolean): readonly PlannedMerge[];
  /** Renews the lease. */
  hold(): Promise<void>;
  /** Called after each published swap. */
  onMerged(merges: number, merged: MergedChunks): void;
}

interface RunningMerge {
  /** Start of the merge, Unix ms. */
  readonly startedMs: number;
  /** Aborts the call when it takes too long. */
  readonly late: AbortController;
}

/** Returns the number of functions to call for these merges. */
export function functionsFor(merges: readonly PlannedMerge[], helpers: MergeHelpers): number {
  const { most, bytesEach = HELPER_BYTES, fewest = 2 } = helpers;
  if (merges.length === 0 || merges.length < fewest) return 0;
  const wanted = Math.ceil(lineBytesOf(merges) / bytesEach);
  // The planning function does what one function can do.
  return fewest > 1 && wanted < 2 ? 0 : Math.min(most, merges.length, Math.max(1, wanted));
}

/**
 * Returns true if no merge is left to hand out, false if the time was up. Throws what `hold`, swaps and the
 * table throw.
 */
export async function mergeTogether(parts: CrewParts, work: CrewWork): Promise<boolean> {
  return new Crew(parts, work).run();
}

class Crew {
  readonly #parts: CrewParts;
  readonly #work: CrewWork;
  /** Aborts the calls at the end. */
  readonly #ending = new AbortController();
  #snapshot: DaySnapshot;
  #plannedMs = Number.NEGATIVE_INFINITY;
  #waiting: PlannedMerge[] = [];
  readonly #running = new Map<PlannedMerge, RunningMerge>();
  #finished: MergeAnswer[] = [];
  /** Inputs of merges that run or wait to be published. */
  readonly #taken = new Set<string>();
  #publishing: Promise<void> | undefined;
  #failure: unknown;
  #changed = Promise.withResolvers<void>();

  constructor(parts: CrewParts, work: CrewWork) {
    this.#parts = parts;
    this.#work = work;
    this.#snapshot = work.snapshot;
  }

  async run(): Promise<boolean> {
    const { clock } = this.#parts;
    const { untilMs, signal, hold } = this.#work;
    try {
      this.#plan();
      for (;;) {
        await hold();
        signal.throwIfAborted();
        if (this.#failure !== undefined) throw this.#failure;
        const isOver = clock.nowMs() >= untilMs;
        if (!isOver) this.#start();
        this.#endLate();
        if (this.#publishing === undefined && this.#finished.length > 0) this.#publish();
        if (this.#publishing === undefined) {
          if (this.#running.size === 0) return this.#waiting.length === 0;
          if (!isOver && clock.nowMs() - this.#plannedMs >= REPLAN_MS) {
            if (!(await this.#read())) return true;
            this.#plan();
            continue;
          }
        }
        await this.#change();
      }
    } finally {
      this.#ending.abort(new DOMException('the merges of this day end', 'AbortError'));
      // The lease is not released in the middle of a swap.
      await this.#publishing;
    }
  }

  /** Returns false if the day has no chunks any more. */
  async #read(): Promise<boolean> {
    const snapshot = await this.#parts.catalog.day(this.#work.tenant, this.#snapshot.day);
    if (snapshot !== undefined) this.#snapshot = inAgeOrder(snapshot);
    return snapshot !== undefined;
  }

  #plan(): void {
    const { plan, failed } = this.#work;
    const planned = new Set<string>();
    this.#waiting = [];
    for (let plans = 0; plans < MAX_PLANS; plans++) {
      const isFree = ({ id }: ChunkRecord) => !this.#taken.has(id) && !failed.has(id) && !planned.has(id);
      const more = plan(this.#snapshot, isFree);
      if (more.length === 0) break;
      this.#waiting.push(...more);
      for (const { inputs } of more) for (const { id } of inputs) planned.add(id);
    }
    this.#waiting.sort(compareMerges);
    this.#plannedMs = this.#parts.clock.nowMs();
  }

  /** Starts as many merges as there are functions to call. */
  #start(): void {
    const { helpers } = this.#parts;
    const wanted = functionsFor([...this.#running.keys(), ...this.#waiting], { ...helpers, fewest: 1 });
    while (this.#running.size < wanted && this.#waiting.length > 0) void this.#call(this.#waiting.shift()!);
  }

  async #call(merge: PlannedMerge): Promise<void> {
    const { helpers, clock } = this.#parts;
    const { tenant, failed } = this.#work;
    const late = new AbortController();
    this.#running.set(merge, { startedMs: clock.nowMs(), late });
    for (const { id } of merge.inputs) this.#taken.add(id);
    const signal = AbortSignal.any([this.#work.signal, this.#ending.signal, late.signal]);
    try {
      const answer = await helpers.merge({ ...merge, tenant, day: this.#snapshot.day }, signal);
      signal.throwIfAborted();
      this.#finished.push(answer);
      // These inputs did not fit in one merge.
      this.#release(merge.inputs.slice(answer.inputs.length));
    } catch {
      this.#release(merge.inputs);
      for (const { id } of merge.inputs) failed.add(id);
    } finally {
      this.#running.delete(merge);
      this.#changed.resolve();
    }
  }

  #endLate(): void {
    const nowMs = this.#parts.clock.nowMs();
    for (const { startedMs, late } of this.#running.values()) {
      if (nowMs - startedMs >= MAX_CALL_MS)
        late.abort(new Error('the merge of another function takes too long'));
    }
  }

  #publish(): void {
    this.#publishing = this.#swap()
      .catch((error: unknown) => {
        this.#failure ??= error;
      })
      .finally(() => {
        this.#publishing = undefined;
        this.#changed.resolve();
      });
  }

  /** Publishes finished merges with one swap, as many as fit. */
  async #swap(): Promise<void> {
    const { drops } = this.#parts;
    const { tenant, lease, hold, onMerged } = this.#work;
    const batch = this.#nextBatch();
    const wanted: MergeAnswer[] = [];
    for (const answer of batch) {
      if ((await drops?.areInForce(tenant, answer.applied)) ?? true) wanted.push(answer);
      // Merged again, without the request that was canceled.
      else this.#release(answer.inputs);
    }
    if (wanted.length === 0) return;
    const merged = await publish(this.#parts, { tenant, snapshot: this.#snapshot, lease, hold }, wanted);
    this.#snapshot = merged.after;
    for (const { inputs } of wanted) this.#release(inputs);
    onMerged(wanted.length, merged);
  }

  #nextBatch(): MergeAnswer[] {
    let [removed, added, bytes, count] = [0, 0, 0, 0];
    for (const answer of this.#finished) {
      removed += answer.inputs.length;
      added += answer.added.length;
      for (const record of answer.added) bytes += encodeRecord(record).length;
      const fits = removed <= MAX_REMOVED_CHUNKS && added <= MAX_PUBLISHED_CHUNKS;
      if (count > 0 && !(fits && bytes <= MAX_PUBLISHED_BYTES)) break;
      count++;
    }
    return this.#finished.splice(0, count);
  }

  #release(inputs: readonly ChunkRecord[]): void {
    for (const { id } of inputs) this.#taken.delete(id);
  }

  /** Resolves when something has changed, or when the lease must be renewed. */
  async #change(): Promise<void> {
    const waited = new AbortController();
    const { clock } = this.#parts;
    const tick = clock
      .sleep(TICK_MS, AbortSignal.any([waited.signal, this.#work.signal]))
      .catch(() => undefined);
    await Promise.race([this.#changed.promise, tick]);
    waited.abort();
    this.#changed = Promise.withResolvers();
  }
}

/**
 * Sorts the chunks for all plans. Each plan sorts them too, and if they are mostly in order that visits each
 * once.
 */
export function inAgeOrder(snapshot: DaySnapshot): DaySnapshot {
  return { ...snapshot, records: snapshot.records.toSorted(compareChunks) };
}

/**
 * Orders merges of pushes before others, and then by age. If plans keep coming, the newest merges would delay the oldest ones. So
 * would those of an hour, which are not urgent.
 */
function compareMerges(a: PlannedMerge, b: PlannedMerge): number {
  return Number(isOfPushes(b)) - Number(isOfPushes(a)) || compareChunks(a.inputs[0], b.inputs[0]);
}

function isOfPushes({ inputs }: PlannedMerge): boolean {
  return inputs.some(({ level }) => level === 0);
}

function lineBytesOf(merges: readonly PlannedMerge[]): number {
  let bytes = 0;
  for (const { inputs } of merges) for (const { lineBytes } of inputs) bytes += lineBytes;
  return bytes;
}
