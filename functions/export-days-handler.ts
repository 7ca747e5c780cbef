/**
 * Scheduled function that exports closed days of all tenants as Parquet files
 * (shared/server/open-data/closed-days.ts). Apart from the variables in settings.ts it needs the destination of the
 * files, LOGBOOM_EXPORT_TO (`s3://BUCKET/PREFIX`):
 *
 *     PREFIX/entries/tenant=.../day=.../service=.../*.parquet
 *     PREFIX/export-state/TENANT.json
 *
 * A run stops before the function ends, and the next one continues. A lease keeps two runs apart, because the
 * scheduler can deliver a call twice.
 */

import { createCaller, S3_LIMITS } from '../shared/aws/caller.ts';
import { createS3Requests } from '../shared/aws/s3-requests.ts';
import { openAwsStorage } from '../shared/aws/storage.ts';
import type { Environment } from '../shared/base/model/environment.ts';
import type { Clock } from '../shared/base/ports/clock.ts';
import type { ObjectStore } from '../shared/base/ports/object-store.ts';
import type { Table } from '../shared/base/ports/table.ts';
import { createLazyLog, type Log } from '../shared/base/runtime/log.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../shared/read/query/chunk-source.ts';
import { PageCache } from '../shared/read/query/page-cache.ts';
import { Visibility } from '../shared/read/query/visibility.ts';
import { overridesSources } from '../shared/server/admin/overrides-file.ts';
import { OverridesWatch } from '../shared/server/admin/overrides-watch.ts';
import { type ClosedDaysReport, exportClosedDays } from '../shared/server/open-data/closed-days.ts';
import type { OpenDataStore } from '../shared/server/open-data/day-notes.ts';
import { Catalog } from '../shared/storage/catalog/catalog.ts';
import { DeleteFilterSource } from '../shared/upkeep/deletion/delete-filters.ts';
import type { LambdaContext } from './lambda-event.ts';
import { openDataBucket } from './open-data-bucket.ts';
import { type FunctionSettings, readSettings } from './settings.ts';

type ExportDaysHandler = (event: unknown, context: LambdaContext) => Promise<ClosedDaysReport>;

interface ExportDaysParts {
  readonly settings: Pick<FunctionSettings, 'config' | 'warnings'>;
  readonly store: ObjectStore;
  readonly table: Table;
  readonly files: OpenDataStore;
  readonly clock: Clock;
  readonly log: Log;
}

/** Folder of the files below the prefix. The table of the stack reads everything in it. */
export const ENTRIES_FOLDER = 'entries';
/** A step takes about 12 s of CPU time on x64, and the memory of the function is almost two processors. */
const LAST_STEP_BEFORE_MS = 120_000;
/** Longer than a step takes. The run renews it between steps. */
const LEASE_MS = 300_000;
const LEASE = 'open-data';
/** Pages that two windows share. A step reads each page once or twice. */
const PAGE_CACHE_BYTES = 64 * 1024 * 1024;
const NO_RUN: ClosedDaysReport = { steps: 0, files: 0, entries: 0, days: 0, isDone: false };

/** Throws if the environment is invalid, which ends the start of the function. */
export function createExportDays(environment: Environment): ExportDaysHandler {
  const settings = readSettings(environment);
  const { bucket, prefix } = destinationOf(environment);
  const { store, table } = openAwsStorage({ ...settings, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const files = openDataBucket({
    requests: createS3Requests(bucket, { endpoint: settings.endpoint }),
    bucket,
    prefix,
    call: createCaller({ clock: SYSTEM_CLOCK, limits: S3_LIMITS }),
    ids: SYSTEM_IDS,
  });
  const log = createLazyLog(settings.config.server.logLevel);
  return exportDaysHandler({ settings, store, table, files, clock: SYSTEM_CLOCK, log });
}

/** Same as createExportDays, with given stores. */
export function exportDaysHandler(parts: ExportDaysParts): ExportDaysHandler {
  const { settings, store, table, files, clock, log } = parts;
  const { config, warnings } = settings;
  for (const warning of warnings) log.warn(warning);
  const catalog = new Catalog({ table, clock, ids: SYSTEM_IDS });
  const overrides = new OverridesWatch({
    sources: overridesSources(config.runtime, store),
    defaults: config.limits,
    clock,
    periodMs: config.runtime.periodMs,
    log,
  });
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes: catalog.deletes, clock }),
    limitsOf: overrides.limitsOf,
    enabled: config.compactor.retentionEnabled,
  });
  const pages = new PageCache(PAGE_CACHE_BYTES, { keepsFirst: store.isDistant === true });
  const sources = { catalog, source: new ChunkSource(store, pages), clock };
  return async (_event, context) => {
    const untilMs = clock.nowMs() + context.getRemainingTimeInMillis() - LAST_STEP_BEFORE_MS;
    await overrides.refreshIfDue();
    const lease = await catalog.leases.take(LEASE, LEASE_MS);
    if (lease === undefined) {
      log.info('another run exports closed days');
      return NO_RUN;
    }
    const hold = catalog.leases.holder(lease, LEASE_MS);
    try {
      const report = await exportClosedDays({
        catalog,
        sources,
        visibility,
        store: files,
        prefix: ENTRIES_FOLDER,
        clock,
        mayGoOn: async () => {
          await hold();
          return clock.nowMs() < untilMs;
        },
      });
      log.info(report, 'closed days exported');
      return report;
    } finally {
      await catalog.leases.release(lease);
    }
  };
}

function destinationOf({ LOGBOOM_EXPORT_TO: destination = '' }: Environment): {
  readonly bucket: string;
  readonly prefix: string;
} {
  const match = /^s3:\/\/([^/]+)(?:\/(.+?))?\/?$/.exec(destination);
  if (match === null)
    throw new Error(`LOGBOOM_EXPORT_TO must be s3://BUCKET/PREFIX, got ${JSON.stringify(destination)}`);
  const [, bucket, prefix = ''] = match;
  return { bucket, prefix: prefix === '' ? '' : `${prefix}/` };
}
