/** drilldown-limits: the limits that Logs Drilldown requests first (docs/dev/wire-format.md#drilldown-limits). */

import { ClientError } from '../../../base/model/errors.ts';
import type { Limits } from '../../../base/model/limits.ts';
import type { Requester } from '../../../read/query/engine.ts';
import { buildInfo } from '../../admin/build-info.ts';
import { LIMIT_FIELDS } from '../../admin/config-fields.ts';
import type { ConfigField } from '../../admin/config-kinds.ts';
import type { HttpContext } from '../context.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { requesterOf } from './query.ts';

/** Tenant limits that are shown. */
const PUBLISHED = [
  'discoverLogLevels',
  'discoverServiceName',
  'logLevelFields',
  'maxEntriesLimitPerQuery',
  'maxLineSizeTruncate',
  'maxQueryBytesRead',
  'maxQueryLengthNs',
  'maxQueryLookbackNs',
  'maxQueryRangeNs',
  'maxQuerySeries',
  'otlpConfig',
  'queryTimeoutNs',
  'retentionPeriodNs',
  'retentionStream',
  'volumeEnabled',
  'volumeMaxSeries',
] as const satisfies readonly (keyof Limits)[];

/**
 * The reference stores volumes and patterns in separate streams if these are on. Logboom has them in the
 * index.
 */
const NOT_NEEDED = Object.freeze({ metric_aggregation_enabled: false, pattern_persistence_enabled: false });

export const showDrilldownLimits: Handler<HttpContext> = async (context, request) => {
  const { limits } = knownRequester(context, request);
  const shown = PUBLISHED.map(key => writtenLimit(limits, key));
  return json({
    limits: { ...Object.fromEntries(shown), ...NOT_NEEDED },
    pattern_ingester_enabled: context.config.patternIngester.enabled,
    version: buildInfo().version,
  });
};

/** Formats a limit as the configuration file does. */
function writtenLimit(limits: Limits, key: keyof Limits): [string, unknown] {
  const { name, kind } = (LIMIT_FIELDS as Readonly<Record<string, ConfigField<unknown>>>)[key];
  return [name, kind.format(limits[key])];
}

/** This endpoint responds with 401 for every invalid tenant (docs/dev/wire-format.md#status-of-tenant-errors). */
function knownRequester(context: HttpContext, request: RoutedRequest): Requester {
  try {
    return requesterOf(context, request);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new ClientError(401, error.message, { cause: error });
  }
}
