/**
 * Visits the chunks of a tenant's day under its lease. The caller decides for each chunk: leave it, mark it
 * as checked, rewrite it without the rows to delete, or remove it. Deletion and retention use this.
 *
 * Pitfall: a record's `asOfMs` covers all requests that were accepted before it. A caller that decides that
 * nothing is to be deleted must have checked everything that `RowDrops` applies.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ChunkRecord, streamPartOf } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import { dayLease, type Lease, LeaseLostError } from '../../storage/catalog/leases.ts';
import { MAX_SWAPPED_CHUNKS, SwapConflictError } from '../../storage/catalog/swap.ts';
import { isOfInputs } from './broken-inputs.ts';
import { LEASE_MS } from './compactor.ts';
import { type MergeParts, mergeAndSwap, storedBytesOf } from './merge-and-swap.ts';
import { MERGE_SIZES } from './merge-sizes.ts';
import { ChunkOrder } from './order-runs.ts';
import { WINDOWS } from './plan-merges.ts';
import { DeleteCanceledError, type DropSource, type RowDrops } from './row-drops.ts';

/**
 * - `clean`: no row is to be deleted.
 * - `rewrite`: some rows are.
 * - `remove`: all rows are, so the chunk need not be read.
 */
export type Decision = 'leave' | 'clean' | 'rewrite' | 'remove';

export interface DayRewriterParts extends MergeParts {
  readonly drops: DropSource;
}

export interface DayToRewrite {
  readonly tenant: string;
  readonly day: number;
  /** No work starts after this Unix time, ms. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  /** Time that objects of removed chunks stay, ms. */
  readonly removedGraceMs: number;
  /**
   * Must call `hold` every few milliseconds. If it throws because of the chunk, the other chunks are still
   * processed.
   */
  decide(record: ChunkRecord, drops: RowDrops, hold: () => Promise<void>): Promise<Decision>;
}

export interface RewriteFigures {
  /** Chunks that were checked, and their stored bytes. */
  looked: number;
  lookedBytes: number;
  rewritten: number;
  rewrittenBytes: number;
  outputBytes: number;
  /** Rewritten chunks: pages and stored bytes that were copied, and those that were encoded again. */
  pagesCopied: number;
  pagesEncoded: number;
  copiedBytes: number;
  encodedBytes: number;
  /** Rows that rewriting removed. */
  rows: number;
  removed: number;
  removedBytes: number;
}

/** `busy`: another process holds the lease, or acquired it meanwhile. `time`: the time was up. */
export type RewriteEnd = 'done' | 'busy' | 'time';

/** Maximum number of records in one swap. Each can hold an inline chunk. */
const NOTED_AT_ONCE = 50;
/** Maximum number of consecutive conflicts: swaps of other processes, and requests that were canceled. */
const MAX_CONFLICTS = 5;

export function noRewrites(): RewriteFigures {
  return {
    looked: 0,
    lookedBytes: 0,
    rewritten: 0,
    rewrittenBytes: 0,
    outputBytes: 0,
    pagesCopied: 0,
    pagesEncoded: 0,
    copiedBytes: 0,
    encodedBytes: 0,
    rows: 0,
    removed: 0,
    removedBytes: 0,
  };
}

/**
 * Adds its work to `figures`. Throws what the stores throw. If a chunk cannot be read, processes the others
 * and then throws the first such error. Swaps that were published before stay.
 */
export async function rewriteDay(
  parts: DayRewriterParts,
  work: DayToRewrite,
  figures: RewriteFigures,
): Promise<RewriteEnd> {
  const { leases } = parts.catalog;
  const lease = await leases.take(dayLease(work.tenant, work.day), LEASE_MS);
  if (lease === undefined) return 'busy';
  try {
    for (let conflicts = 0; ; conflicts++) {
      try {
        return await new DayRewriter(parts, work, lease, figures).run();
      } catch (error) {
        const isConflict = error instanceof SwapConflictError || error instanceof DeleteCanceledError;
        if (!isConflict || conflicts === MAX_CONFLICTS) throw error;
        if (!(await leases.renew(lease, LEASE_MS))) return 'busy';
      }
    }
  } catch (error) {
    if (error instanceof LeaseLostError) return 'busy';
    throw error;
  } finally {
    await leases.release(lease).catch(() => undefined);
  }
}

class DayRewriter {
  readonly #parts: DayRewriterParts;
  readonly #work: DayToRewrite;
  readonly #lease: Lease;
  readonly #figures: RewriteFigures;
  readonly #renew: () => Promise<void>;
  readonly #clean: ChunkRecord[] = [];
  readonly #removed: ChunkRecord[] = [];
  /** Chunks of one window that are rewritten together, by level and part of the streams. */
  readonly #groups = new Map<string, WindowGroup>();
  #drops: RowDrops | undefined;
  #snapshot: DaySnapshot | undefined;
  #isAnnounced = false;
  #failure: unknown;

  constructor(parts: DayRewriterParts, work: DayToRewrite, lease: Lease, figures: RewriteFigures) {
    this.#parts = parts;
    this.#work = work;
    this.#lease = lease;
    this.#figures = figures;
    this.#renew = parts.catalog.leases.holder(lease, LEASE_MS);
  }

  async run(): Promise<RewriteEnd> {
    const { catalog, clock, drops: source } = this.#parts;
    const { tenant, day, untilMs, signal, decide } = this.#work;
    // The rows to delete are read before the chunks. A request that is accepted in between has a later time,
    // so it is checked again.
    const drops = await source.dropsOf(tenant);
    this.#drops = drops;
    this.#snapshot = await catalog.day(tenant, day);
    const hold = () => this.#hold();
    let end: RewriteEnd = 'done';
    // Ordered by time, so that chunks that are rewritten together are neighbors.
    for (const record of this.#snapshot?.records.toSorted(byTime) ?? []) {
      signal.throwIfAborted();
      if (clock.nowMs() >= untilMs) {
        end = 'time';
        break;
      }
      const decision = await this.#trying(() => decide(record, drops, hold));
      if (decision !== undefined && decision !== 'leave') await this.#take(record, decision);
    }
    await this.#noteClean();
    await this.#removeWhole();
    for (const { records } of this.#groups.values()) await this.#rewriteGroup(records);
    if (this.#failure !== undefined) throw this.#failure;
    return end;
  }

  async #take(record: ChunkRecord, decision: Decision): Promise<void> {
    this.#figures.looked++;
    this.#figures.lookedBytes += record.storedBytes;
    if (decision === 'clean') {
      if (this.#clean.push(record) === NOTED_AT_ONCE) await this.#noteClean();
    } else if (decision === 'remove') {
      if (this.#removed.push(record) === MAX_SWAPPED_CHUNKS) await this.#removeWhole();
    } else if (this.#isCopied(record)) {
      await this.#rewrite([record]);
    } else {
      const window = windowOf(record);
      const key = `${record.level} ${streamPartOf(record)}`;
      const group = this.#groups.get(key) ?? { window, records: [] };
      const bytes = storedBytesOf(group.records) + record.storedBytes;
      const fits = group.records.length < MAX_SWAPPED_CHUNKS && bytes <= this.#parts.options.targetBytes;
      if (group.window === window && fits) {
        this.#groups.set(key, { window, records: [...group.records, record] });
      } else {
        // Rewritten now, not at the end: what is done stays done if the time runs out.
        this.#groups.set(key, { window, records: [record] });
        await this.#rewriteGroup(group.records);
      }
    }
  }

  /** Changes only records: no row of these chunks is to be deleted. */
  async #noteClean(): Promise<void> {
    const records = this.#clean.splice(0);
    if (records.length === 0) return;
    const asOfMs = this.#drops!.asOfMs;
    await this.#swap({ updated: records.map(record => ({ ...record, asOfMs })), removed: [] }, 0);
  }

  async #removeWhole(): Promise<void> {
    const removed = this.#removed.splice(0);
    if (removed.length === 0) return;
    await this.#announce();
    await this.#swap({ removed, updated: [] }, this.#work.removedGraceMs);
    this.#figures.removed += removed.length;
    this.#figures.removedBytes += storedBytesOf(removed);
  }

  async #swap(
    { updated, removed }: Record<'updated' | 'removed', readonly ChunkRecord[]>,
    graceMs: number,
  ): Promise<void> {
    const { tenant } = this.#work;
    const { records, ...day } = this.#snapshot!;
    await this.#hold();
    const lease = this.#lease;
    const next = await this.#parts.catalog.swap({ tenant, day, lease, removed, added: [], updated, graceMs });
    const gone = new Set([...updated, ...removed].map(({ id }) => id));
    this.#snapshot = { ...next, records: [...records.filter(({ id }) => !gone.has(id)), ...updated] };
  }

  /** Most of a large chunk is copied. Merged with others, more of it would be encoded again. */
  #isCopied({ lineBytes }: ChunkRecord): boolean {
    const { mergeSizes = MERGE_SIZES } = this.#parts.options;
    return lineBytes >= mergeSizes.copiedFromBytes;
  }

  /** Merges the group, as far as that does not change the order of equal timestamps. */
  async #rewriteGroup(group: readonly ChunkRecord[]): Promise<void> {
    for (const run of new ChunkOrder(this.#snapshot!.records).runs(group)) await this.#rewrite(run);
  }

  /** Rewrites chunks of one level and run together, or one by one if one of them makes the merge fail. */
  async #rewrite(group: readonly ChunkRecord[]): Promise<void> {
    for (let rest = group; rest.length > 0; ) {
      const merged = await this.#trying(() => this.#mergeSome(rest), group.length === 1);
      if (merged === undefined) {
        if (group.length > 1) for (const record of rest) await this.#rewrite([record]);
        return;
      }
      rest = rest.slice(merged);
    }
  }

  /** Returns the number of inputs that were rewritten, from the first on. */
  async #mergeSome(inputs: readonly ChunkRecord[]): Promise<number> {
    const { tenant, signal } = this.#work;
    await this.#announce();
    const lease = this.#lease;
    const figures = this.#figures;
    const [snapshot, drops] = [this.#snapshot!, this.#drops!];
    const { level } = inputs[0];
    const given = { tenant, snapshot, lease, level, quality: 'final', inputs, drops, signal } as const;
    const merged = await mergeAndSwap(this.#parts, { ...given, hold: () => this.#hold() });
    this.#snapshot = merged.after;
    figures.rewritten += merged.merged;
    figures.rewrittenBytes += merged.inputBytes;
    figures.outputBytes += merged.outputBytes;
    figures.pagesCopied += merged.copied.pages;
    figures.pagesEncoded += merged.encoded.pages;
    figures.copiedBytes += merged.copied.bytes;
    figures.encodedBytes += merged.encoded.bytes;
    figures.rows += merged.dropped;
    return merged.merged;
  }

  /** Returns undefined if a chunk cannot be read, so that the others are still processed. */
  async #trying<T>(work: () => Promise<T>, counts = true): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!isOfInputs(error)) throw error;
      if (counts) this.#failure ??= error;
      return undefined;
    }
  }

  /** Called before the chunks of the day change, so that compaction and index sync check the day again. */
  async #announce(): Promise<void> {
    if (this.#isAnnounced) return;
    await this.#parts.catalog.outstanding.announce(this.#work);
    this.#isAnnounced = true;
  }

  async #hold(): Promise<void> {
    await nextTurn();
    await this.#renew();
    await this.#drops!.check();
    this.#work.signal.throwIfAborted();
  }
}

interface WindowGroup {
  readonly window: number;
  readonly records: readonly ChunkRecord[];
}

/**
 * The merge window of its level. Chunks of different windows are not merged, so queries read less of them.
 */
function windowOf({ level, last }: ChunkRecord): number {
  const window = WINDOWS.find(one => one.level >= level) ?? WINDOWS[WINDOWS.length - 1];
  return Math.floor(last / window.ns);
}

function byTime(a: ChunkRecord, b: ChunkRecord): number {
  return a.last - b.last || (a.id < b.id ? -1 : 1);
}
