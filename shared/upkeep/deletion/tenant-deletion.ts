/**
 * Removes what a tenant's delete requests cover, day by day, and moves the requests through their life:
 *
 *     waiting -- cancel period over --> picked up -- all days looked through --> sealed -- again, later --> processed
 *
 * The second look is for what was being written while the first went on (delete-request.ts). It reads records, and chunks
 * only where one is new. Where a run stops, by a kill or because its time is up, the next goes on: the first look from what
 * the request says (`doneToNs`), the second from what this process remembers, else from its start.
 */

import { NS_PER_DAY } from '../../base/model/duration.ts';
import { messageOf } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import type { RewriteEnd } from '../compaction/day-rewriter.ts';
import {
  type DayDeletion,
  type DayDeletionFigures,
  type DayDeletionParts,
  type DayWithDeletes,
  dayDeletion,
} from './apply-deletes-to-day.ts';
import { compileDeleteFilters } from './delete-filters.ts';
import { mayBeginWork, mayEnd } from './delete-times.ts';
import { acceptRequests, daysOf, type PickUpParts, touchedBytes } from './request-intake.ts';
import { RequestTracker } from './request-tracker.ts';

export interface TenantDeletionParts extends PickUpParts, DayDeletionParts {
  /** Default: by the rewriter, in this thread. */
  readonly days?: DayDeletion;
  readonly catalog: Catalog;
  limitsOf(tenant: string): Limits;
}

export interface DeletionFigures extends DayDeletionFigures {
  pickedUp: number;
  processed: number;
  days: number;
  /** Requests that were not processed when they were looked at, and when the oldest was made (Unix ms). */
  pending?: number;
  oldestMs?: number;
}

export interface DeletionBounds {
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Requests whose second look is remembered, 200 bytes each; beyond, one begins anew. */
const REMEMBERED_LOOKS = 10_000;

export class TenantDeletion {
  readonly #parts: TenantDeletionParts;
  readonly #days: DayDeletion;
  /** How far the second look has come, Unix ns. What is here was looked through when it counted (`mayEnd`). */
  readonly #looks = new LruCache<string, bigint>(REMEMBERED_LOOKS);

  constructor(parts: TenantDeletionParts) {
    this.#parts = parts;
    this.#days = parts.days ?? dayDeletion(parts);
  }

  /**
   * False where something is left that the next run can do. Adds to `figures`, and to `failures` what went wrong with a
   * day: the others are done. Throws what the table throws.
   */
  async work(
    tenant: string,
    bounds: DeletionBounds,
    figures: DeletionFigures,
    failures: string[],
  ): Promise<boolean> {
    const { catalog, clock, times, limitsOf } = this.#parts;
    if (limitsOf(tenant).deletionMode !== 'filter-and-delete') return true;
    const book = await RequestTracker.open(catalog.deletes, tenant);
    figures.pickedUp += await acceptRequests(this.#parts, tenant, book, bounds.untilMs);
    for (const { processedMs, createdMs } of book.all) {
      if (processedMs !== undefined) continue;
      figures.pending = (figures.pending ?? 0) + 1;
      figures.oldestMs = Math.min(figures.oldestMs ?? createdMs, createdMs);
    }
    const startedMs = clock.nowMs();
    const active = book.all.filter(({ pickedUpMs, sealedMs, processedMs }) => {
      if (pickedUpMs === undefined || processedMs !== undefined) return false;
      if (!mayBeginWork(pickedUpMs, startedMs)) return false;
      return sealedMs === undefined || mayEnd(sealedMs, startedMs, times);
    });
    const left = new Set<string>();
    const isInTime = await this.#lookThrough(tenant, active, book, bounds, { figures, failures, left });
    for (const request of active) {
      if (isInTime && !left.has(request.id)) figures.processed += await this.#finish(request, book);
    }
    return isInTime && left.size === 0;
  }

  /** False where the time was up. `left` gets the requests that have a day which could not be looked through. */
  async #lookThrough(
    tenant: string,
    active: readonly DeleteRequest[],
    book: RequestTracker,
    { untilMs, signal }: DeletionBounds,
    { figures, failures, left }: { figures: DeletionFigures; failures: string[]; left: Set<string> },
  ): Promise<boolean> {
    const { catalog, clock } = this.#parts;
    const masks = new Map(active.map(request => [request.id, compileDeleteFilters([request], { clock })]));
    for (const { day } of await daysOf(catalog, tenant, active)) {
      const dayEndNs = BigInt(day + 1) * NS_PER_DAY;
      const ofDay = active.filter(
        request => isLeft(book.get(request.id)) && meets(request, day) && this.#doneTo(request) < dayEndNs,
      );
      if (ofDay.length === 0) continue;
      if (signal.aborted || clock.nowMs() >= untilMs) return false;
      figures.days++;
      const ofRequests = new Map(ofDay.map(({ id }) => [id, masks.get(id)!]));
      const touched = await touchedBytes(catalog, tenant, day, ofRequests);
      const end = await this.#rewrite({ tenant, day, untilMs, signal }, touched.size > 0, figures).catch(
        (error: unknown) => {
          if (signal.aborted) throw error;
          failures.push(`${tenant} day ${day}: ${messageOf(error)}`);
          return 'failed' as const;
        },
      );
      if (end === 'time') return false;
      for (const request of ofDay) {
        // A day that is left stays the next to look at; those behind it are cleaned all the same.
        if (end !== 'done') left.add(request.id);
        if (!left.has(request.id)) await this.#advance(book, request, dayEndNs, touched.get(request.id) ?? 0);
      }
    }
    return true;
  }

  async #rewrite(work: DayWithDeletes, isTouched: boolean, figures: DayDeletionFigures): Promise<RewriteEnd> {
    return isTouched ? this.#days.deleteOfDay(work, figures) : 'done';
  }

  /** Up to where all days were looked through, in the look that the request is in; Unix ns. */
  #doneTo(request: DeleteRequest): bigint {
    const { sealedMs, doneToNs, startNs } = request;
    return (sealedMs === undefined ? doneToNs : this.#looks.get(lookOf(request))) ?? startNs;
  }

  async #advance(book: RequestTracker, request: DeleteRequest, toNs: bigint, bytes: number): Promise<void> {
    const doneToNs = toNs < request.endNs ? toNs : request.endNs;
    if (request.sealedMs !== undefined) {
      this.#looks.set(lookOf(request), doneToNs);
      return;
    }
    await book.change(request.id, now => {
      const isAsBefore = isLeft(now) && now.sealedMs === undefined;
      if (!isAsBefore || (now.doneToNs ?? now.startNs) >= doneToNs) return undefined;
      return { ...now, doneToNs, bytesDone: Math.min(now.bytesTotal, now.bytesDone + bytes) };
    });
  }

  /**
   * All days of the request were looked through: seals it, or ends it; 1 where it is processed now.
   * @param request as it was when the look began: another process may have sealed it since
   */
  async #finish(request: DeleteRequest, book: RequestTracker): Promise<number> {
    const { clock, catalog } = this.#parts;
    const { id, tenant, sealedMs } = request;
    const nowMs = Math.trunc(clock.nowMs());
    if (sealedMs === undefined) {
      await book.change(id, now =>
        isLeft(now) && now.sealedMs === undefined && now.pickedUpMs === request.pickedUpMs
          ? { ...now, doneToNs: now.endNs, bytesDone: now.bytesTotal, sealedMs: nowMs }
          : undefined,
      );
      return 0;
    }
    const ended = await book.change(id, now =>
      isLeft(now) && now.sealedMs === sealedMs ? { ...now, processedMs: nowMs } : undefined,
    );
    if (ended?.processedMs === undefined) return 0;
    this.#looks.delete(lookOf(request));
    await catalog.generations.increase(tenant);
    return 1;
  }
}

/** False where it was cancelled, or another process has ended it. */
function isLeft(request: DeleteRequest | undefined): boolean {
  return request !== undefined && request.processedMs === undefined;
}

function lookOf({ tenant, id, sealedMs }: DeleteRequest): string {
  return `${tenant}/${id}/${sealedMs}`;
}

function meets({ startNs, endNs }: DeleteRequest, day: number): boolean {
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  return startNs < dayStartNs + NS_PER_DAY && endNs >= dayStartNs;
}
