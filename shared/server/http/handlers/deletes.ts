/**
 * Delete requests: create, list, cancel (docs/dev/wire-format.md#delete-requests), and their progress
 * (docs/dev/deletion.md).
 */

import { NS_PER_MS } from '../../../base/model/time-units.ts';
import type { DeleteRequest } from '../../../storage/catalog/delete-request.ts';
import { countParts, statusText } from '../../../upkeep/deletion/delete-parts.ts';
import type { HttpContext } from '../context.ts';
import { listRange, newDeleteParams, urlParams } from '../delete-params.ts';
import { deletingTenant } from '../deletion-available.ts';
import { param } from '../params.ts';
import { json, noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';

const ID_HEADER = 'x-delete-request-id';

export const createDelete: Handler<HttpContext> = async (context, request) => {
  const tenant = deletingTenant(context, request);
  const { clock, config, deletes, push } = context;
  const maxIntervalMs = config.compactor.deleteMaxIntervalMs;
  const id = await deletes.create(tenant, newDeleteParams(urlParams(request), { clock, maxIntervalMs }));
  // A client that sends deleted entries again wants them stored.
  push.forget(tenant);
  return { ...noContent(), headers: { [ID_HEADER]: id } };
};

export const listDeletes: Handler<HttpContext> = async (context, request) => {
  const tenant = deletingTenant(context, request);
  const requests = await context.deletes.list(tenant, listRange(urlParams(request)));
  return json(requests.map(requestJson));
};

export const cancelDelete: Handler<HttpContext> = async (context, request) => {
  const tenant = deletingTenant(context, request);
  const params = urlParams(request);
  const force = param(params, 'force') === 'true';
  await context.deletes.cancel(tenant, param(params, 'request_id'), { force });
  return noContent();
};

export const showDeleteProgress: Handler<HttpContext> = async (context, request) => {
  const requests = await context.deletes.list(deletingTenant(context, request));
  return json(requests.map(progressJson));
};

function requestJson(request: DeleteRequest) {
  return {
    request_id: request.id,
    start_time: secondsOfNs(request.startNs),
    end_time: secondsOfNs(request.endNs),
    query: request.query,
    status: statusText(request),
    created_at: secondsOfMs(request.createdMs),
    user_id: '',
  };
}

function progressJson(request: DeleteRequest) {
  const { all, done } = countParts(request);
  return {
    request_id: request.id,
    status: statusText(request),
    parts: all,
    parts_done: done,
    bytes_done: request.bytesDone,
    bytes_total: request.bytesTotal,
    created_at: secondsOfMs(request.createdMs),
    picked_up_at: secondsOrNull(request.pickedUpMs),
    sealed_at: secondsOrNull(request.sealedMs),
    processed_at: secondsOrNull(request.processedMs),
  };
}

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : secondsOfMs(ms);
}

function secondsOfNs(ns: bigint): number {
  return secondsOfMs(Number(ns / NS_PER_MS));
}

/** Seconds with at most three decimals. The division gives the nearest double, which prints as shortly. */
function secondsOfMs(ms: number): number {
  return ms / 1000;
}
