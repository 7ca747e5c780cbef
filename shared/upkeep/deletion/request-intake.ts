/**
 * Accepts delete requests for processing when they can no longer be canceled without force. From then on
 * merges drop their rows.
 */

import type { Clock } from '../../base/ports/clock.ts';
import { parseLogQuery } from '../../language/logql/parse.ts';
import { type Catalog, dayOf } from '../../storage/catalog/catalog.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import { compileDeleteFilters, type TenantDeleteFilters } from './delete-filters.ts';
import { canRun } from './delete-query.ts';
import { type DeleteTimes, pickUpMs } from './delete-times.ts';
import type { RequestTracker } from './request-tracker.ts';

export interface PickUpParts {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly times: DeleteTimes;
  readonly cancelPeriodMs: number;
  /** Maximum number of requests of a tenant in progress. */
  readonly batchSize: number;
}

/** Accepts the oldest requests that may be processed, up to the batch size. Returns their number. */
export async function acceptRequests(
  parts: PickUpParts,
  tenant: string,
  tracker: RequestTracker,
  untilMs: number,
): Promise<number> {
  const { clock, times, cancelPeriodMs, batchSize } = parts;
  const inWork = tracker.all.filter(
    ({ pickedUpMs, processedMs }) => pickedUpMs !== undefined && processedMs === undefined,
  );
  const waiting = tracker.all.filter(
    ({ pickedUpMs, createdMs }) => pickedUpMs === undefined && clock.nowMs() - createdMs >= cancelPeriodMs,
  );
  const chosen: DeleteRequest[] = [];
  for (const request of waiting) {
    if (inWork.length + chosen.length >= batchSize) break;
    if (canRun(parseLogQuery(request.query))) chosen.push(request);
  }
  if (chosen.length === 0) return 0;
  const totals = await bytesOf(parts, tenant, chosen, untilMs);
  let pickedUp = 0;
  for (const { id } of chosen) {
    const date = (bytesTotal: number) => (request: DeleteRequest) =>
      request.pickedUpMs === undefined
        ? { ...request, pickedUpMs: pickUpMs(clock.nowMs(), times), bytesTotal }
        : undefined;
    const written = await tracker.change(id, date(totals.get(id) ?? 0));
    if (written?.pickedUpMs === undefined) continue;
    pickedUp++;
    await redateIfLate(parts, tracker, id);
  }
  return pickedUp;
}

/**
 * Dates the request again if the write took longer than the margin: another process may have read the
 * requests without it, and dated that later.
 */
async function redateIfLate(
  { clock, times }: PickUpParts,
  tracker: RequestTracker,
  id: string,
): Promise<void> {
  await tracker.change(id, request =>
    request.pickedUpMs !== undefined && clock.nowMs() >= request.pickedUpMs && request.sealedMs === undefined
      ? { ...request, pickedUpMs: pickUpMs(clock.nowMs(), times), doneToNs: undefined, bytesDone: 0 }
      : undefined,
  );
}

/**
 * Stored bytes of the chunks that each request may affect, by ID. Counts as many days as time permits. Only
 * for display.
 */
async function bytesOf(
  { catalog, clock }: PickUpParts,
  tenant: string,
  requests: readonly DeleteRequest[],
  untilMs: number,
): Promise<ReadonlyMap<string, number>> {
  const totals = new Map<string, number>();
  const filters = new Map(requests.map(request => [request.id, compileDeleteFilters([request], { clock })]));
  for (const { day } of await daysOf(catalog, tenant, requests)) {
    if (clock.nowMs() >= untilMs) break;
    for (const [id, bytes] of await touchedBytes(catalog, tenant, day, filters)) {
      totals.set(id, (totals.get(id) ?? 0) + bytes);
    }
  }
  return totals;
}

/** Days of a tenant that any of the requests overlaps, ascending. */
export async function daysOf(catalog: Catalog, tenant: string, requests: readonly DeleteRequest[]) {
  if (requests.length === 0) return [];
  const first = Math.min(...requests.map(({ startNs }) => dayOf(startNs)));
  const last = Math.max(...requests.map(({ endNs }) => dayOf(endNs)));
  const days = await catalog.days(tenant, first, last);
  return days.filter(({ day }) =>
    requests.some(({ startNs, endNs }) => dayOf(startNs) <= day && day <= dayOf(endNs)),
  );
}

/** Stored bytes of the chunks of a day that each filter may affect, by its key. */
export async function touchedBytes(
  catalog: Catalog,
  tenant: string,
  day: number,
  filters: ReadonlyMap<string, TenantDeleteFilters>,
): Promise<Map<string, number>> {
  const bytes = new Map<string, number>();
  const snapshot = await catalog.day(tenant, day);
  for (const record of snapshot?.records ?? []) {
    for (const [id, filter] of filters) {
      if (filter.forChunk(record) !== undefined) bytes.set(id, (bytes.get(id) ?? 0) + record.storedBytes);
    }
  }
  return bytes;
}
