/**
 * Removes the rows that a tenant's delete requests cover, day by day, and moves the requests through their
 * states:
 *
 *     waiting -- cancel period over --> accepted -- all days processed --> sealed -- second pass, later --> processed
 *
 * The second pass finds chunks that were written during the first (delete-request.ts). It reads records, and
 * chunks only if they are new. If a run ends early, by a kill or a timeout, the next run continues. The first
 * pass continues from `doneToNs` of the request, the second from the memory of this process, or from its
 * start.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import { LruCache } from '../../base/model/lru.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
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
  /** Default: the rewriter, in this thread. */
  readonly days?: DayDeletion;
  readonly catalog: Catalog;
  limitsOf(tenant: string): Limits;
}

export interface DeletionFigures extends DayDeletionFigures {
  pickedUp: number;
  processed: number;
  days: number;
  /** Number of unprocessed requests, and creation time of the oldest (Unix ms). */
  pending?: number;
  oldestMs?: number;
}

interface DeletionBounds {
  readonly untilMs: number;
  readonly signal: AbortSignal;
}

/** Requests with a remembered second pass, 200 bytes each. Beyond this number, a second pass starts over. */
const MAX_REMEMBERED_PASSES = 10_000;

export class TenantDeletion {
  readonly #parts: TenantDeletionParts;
  readonly #days: DayDeletion;
  /** Progress of second passes, Unix ns. An entry exists only if its pass started after `mayEnd` was true. */
  readonly #passes = new LruCache<string, bigint>(MAX_REMEMBERED_PASSES);

  constructor(parts: TenantDeletionParts) {
    this.#parts = parts;
    this.#days = parts.days ?? dayDeletion(parts);
  }

  /**
   * Returns false if work remains for the next run. Adds to `figures`, and adds errors of a day to
   * `failures`; the other days are processed. Throws the errors of the table.
   */
  async work(
    tenant: string,
    bounds: DeletionBounds,
    figures: DeletionFigures,
    failures: string[],
  ): Promise<boolean> {
    const { catalog, clock, times, limitsOf } = this.#parts;
    if (limitsOf(tenant).deletionMode !== 'filter-and-delete') return true;
    const tracker = await RequestTracker.open(catalog.deletes, tenant);
    figures.pickedUp += await acceptRequests(this.#parts, tenant, tracker, bounds.untilMs);
    for (const { processedMs, createdMs } of tracker.all) {
      if (processedMs !== undefined) continue;
      figures.pending = (figures.pending ?? 0) + 1;
      figures.oldestMs = Math.min(figures.oldestMs ?? createdMs, createdMs);
    }
    const startedMs = clock.nowMs();
    const active = tracker.all.filter(({ pickedUpMs, sealedMs, processedMs }) => {
      if (pickedUpMs === undefined || processedMs !== undefined) return false;
      if (!mayBeginWork(pickedUpMs, startedMs)) return false;
      return sealedMs === undefined || mayEnd(sealedMs, startedMs, times);
    });
    const left = new Set<string>();
    const isInTime = await this.#processDays(tenant, active, tracker, bounds, { figures, failures, left });
    for (const request of active) {
      if (isInTime && !left.has(request.id)) figures.processed += await this.#finish(request, tracker);
    }
    return isInTime && left.size === 0;
  }

  /** Returns false on a timeout. Adds requests to `left` that have an unprocessed day. */
  async #processDays(
    tenant: string,
    active: readonly DeleteRequest[],
    tracker: RequestTracker,
    { untilMs, signal }: DeletionBounds,
    { figures, failures, left }: { figures: DeletionFigures; failures: string[]; left: Set<string> },
  ): Promise<boolean> {
    const { catalog, clock } = this.#parts;
    const deleteFilters = new Map(
      active.map(request => [request.id, compileDeleteFilters([request], { clock })]),
    );
    for (const { day } of await daysOf(catalog, tenant, active)) {
      const dayEndNs = BigInt(day + 1) * NS_PER_DAY;
      const requestsOfDay = active.filter(
        request => isLeft(tracker.get(request.id)) && meets(request, day) && this.#doneTo(request) < dayEndNs,
      );
      if (requestsOfDay.length === 0) continue;
      if (signal.aborted || clock.nowMs() >= untilMs) return false;
      figures.days++;
      const ofRequests = new Map(requestsOfDay.map(({ id }) => [id, deleteFilters.get(id)!]));
      const touched = await touchedBytes(catalog, tenant, day, ofRequests);
      const end = await this.#rewrite({ tenant, day, untilMs, signal }, touched.size > 0, figures).catch(
        (error: unknown) => {
          if (signal.aborted) throw error;
          failures.push(`${tenant} day ${day}: ${messageOf(error)}`);
          return 'failed' as const;
        },
      );
      if (end === 'time') return false;
      for (const request of requestsOfDay) {
        // A failed day remains the next one for the request. Later days are cleaned anyway.
        if (end !== 'done') left.add(request.id);
        if (!left.has(request.id))
          await this.#advance(tracker, request, dayEndNs, touched.get(request.id) ?? 0);
      }
    }
    return true;
  }

  async #rewrite(work: DayWithDeletes, isTouched: boolean, figures: DayDeletionFigures): Promise<RewriteEnd> {
    return isTouched ? this.#days.deleteOfDay(work, figures) : 'done';
  }

  /** End of the days processed in the current pass of the request, Unix ns. */
  #doneTo(request: DeleteRequest): bigint {
    const { sealedMs, doneToNs, startNs } = request;
    return (sealedMs === undefined ? doneToNs : this.#passes.get(passKey(request))) ?? startNs;
  }

  async #advance(
    tracker: RequestTracker,
    request: DeleteRequest,
    toNs: bigint,
    bytes: number,
  ): Promise<void> {
    const doneToNs = toNs < request.endNs ? toNs : request.endNs;
    if (request.sealedMs !== undefined) {
      this.#passes.set(passKey(request), doneToNs);
      return;
    }
    await tracker.change(request.id, now => {
      const isAsBefore = isLeft(now) && now.sealedMs === undefined;
      if (!isAsBefore || (now.doneToNs ?? now.startNs) >= doneToNs) return undefined;
      return { ...now, doneToNs, bytesDone: Math.min(now.bytesTotal, now.bytesDone + bytes) };
    });
  }

  /**
   * Seals or completes a request after all its days are processed. Returns 1 if it is complete now.
   *
   * @param request as read at the start of the pass; another process may have sealed it since
   */
  async #finish(request: DeleteRequest, tracker: RequestTracker): Promise<number> {
    const { clock, catalog } = this.#parts;
    const { id, tenant, sealedMs } = request;
    const nowMs = Math.trunc(clock.nowMs());
    if (sealedMs === undefined) {
      await tracker.change(id, now =>
        isLeft(now) && now.sealedMs === undefined && now.pickedUpMs === request.pickedUpMs
          ? { ...now, doneToNs: now.endNs, bytesDone: now.bytesTotal, sealedMs: nowMs }
          : undefined,
      );
      return 0;
    }
    const ended = await tracker.change(id, now =>
      isLeft(now) && now.sealedMs === sealedMs ? { ...now, processedMs: nowMs } : undefined,
    );
    if (ended?.processedMs === undefined) return 0;
    this.#passes.delete(passKey(request));
    await catalog.generations.increase(tenant);
    return 1;
  }
}

/** False if it was canceled, or another process has completed it. */
function isLeft(request: DeleteRequest | undefined): boolean {
  return request !== undefined && request.processedMs === undefined;
}

function passKey({ tenant, id, sealedMs }: DeleteRequest): string {
  return `${tenant}/${id}/${sealedMs}`;
}

function meets({ startNs, endNs }: DeleteRequest, day: number): boolean {
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  return startNs < dayStartNs + NS_PER_DAY && endNs >= dayStartNs;
}
