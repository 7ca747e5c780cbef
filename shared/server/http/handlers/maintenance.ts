/** Flush and index sync (docs/dev/wire-format.md#flush-and-shutdown, #index-sync). */

import { formatGoDuration } from '../../../base/model/duration.ts';
import { ClientError } from '../../../base/model/errors.ts';
import { NS_PER_DAY, NS_PER_MS } from '../../../base/model/time-units.ts';
import { parseSelector } from '../../../language/logql/parse.ts';
import type { SyncStatus } from '../../../upkeep/maintenance/sync-state.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { json, noContent, text } from '../respond.ts';
import type { Handler } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

/** Name of the only schema period. */
const INDEX_NAME = 'logboom';
const SYNC_HINT = 'use GET /sync-indexes for status';

/** Compacts everything in the background. */
export const flushAll: Handler<HttpContext> = async ({ maintenance, kick }) => {
  await maintenance.flush.make();
  kick('compaction');
  return noContent();
};

/** Compacts a tenant's chunks and adds them to its index, while the client waits. */
export const flushTenant: Handler<HttpContext> = async (context, request) => {
  const { maintenance, clock, config, kick } = context;
  const tenant = singleTenant(request);
  const streams = param(parseParams({ ...request, method: 'GET' }), 'streams');
  const { signal } = request;
  const untilMs = clock.nowMs() + config.logboom.maintenanceRunMs;
  const wants = streams === '' ? async () => true : daysWith(streams);
  if (await maintenance.flushTenant(tenant, { untilMs, signal }, wants)) return noContent();
  // The next run of the job does the remaining work.
  await maintenance.flush.make();
  kick('compaction');
  return text('flush takes longer than the request timeout; it continues in the background\n', 202);

  function daysWith(selector: string): (day: number) => Promise<boolean> {
    const matchers = parseSelector(selector, { allowEmpty: true });
    const limits = { ...context.limitsOf(tenant), maxQueryLengthNs: 0n, maxQueryLookbackNs: 0n };
    const requester = { tenants: [tenant], tenantsKey: tenant, limits, signal, tags: '' };
    return async day => {
      const startNs = BigInt(day) * NS_PER_DAY;
      const range = { startNs, endNs: startNs + NS_PER_DAY };
      return (await context.engine.streams([matchers], range, requester)).length > 0;
    };
  }
};

export const startIndexSync: Handler<HttpContext> = async ({ maintenance, kick }) => {
  checkSyncs(maintenance.syncsIndexes);
  if (!(await maintenance.sync.request('manual'))) {
    return text(`index sync already in progress; ${SYNC_HINT}\n`, 409);
  }
  kick('index-sync');
  return text(`index sync started; ${SYNC_HINT}\n`, 202);
};

export const showIndexSync: Handler<HttpContext> = async ({ maintenance }) => {
  checkSyncs(maintenance.syncsIndexes);
  return json([entryOf(await maintenance.sync.status())]);
};

function checkSyncs(syncsIndexes: boolean): void {
  if (!syncsIndexes) throw new ClientError(503, 'index sync not supported by the configured index store');
}

function entryOf({ inProgress, lastTrigger, currentDurationMs, lastDurationMs }: SyncStatus) {
  return {
    name: INDEX_NAME,
    in_progress: inProgress,
    last_trigger: lastTrigger,
    ...(currentDurationMs === undefined ? {} : { current_duration: goDuration(currentDurationMs) }),
    last_duration: goDuration(lastDurationMs),
  };
}

function goDuration(ms: number): string {
  return formatGoDuration(BigInt(Math.trunc(ms)) * NS_PER_MS);
}
