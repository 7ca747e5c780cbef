/** drilldown-limits: what Logs Drilldown wants to know before it asks (docs/dev/wire-format.md#drilldown-limits). */

import { ClientError } from '../../../base/model/errors.ts';
import type { Limits } from '../../../base/model/limits.ts';
import type { Asker } from '../../../read/query/engine.ts';
import { buildInfo } from '../../admin/build-info.ts';
import { LIMIT_FIELDS } from '../../admin/config-fields.ts';
import type { Field } from '../../admin/config-kinds.ts';
import type { HttpContext } from '../context.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { askerOf } from './query.ts';

/** Those of the tenant's limits that are shown. */
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

/** The reference keeps volumes and patterns in streams of their own where these are on. Here they are in the index. */
const NOT_NEEDED = Object.freeze({ metric_aggregation_enabled: false, pattern_persistence_enabled: false });

export const showDrilldownLimits: Handler<HttpContext> = async (context, request) => {
  const { limits } = knownAsker(context, request);
  const shown = PUBLISHED.map(key => writtenLimit(limits, key));
  return json({
    limits: { ...Object.fromEntries(shown), ...NOT_NEEDED },
    pattern_ingester_enabled: context.config.patternIngester.enabled,
    version: buildInfo().version,
  });
};

/** As the configuration file writes it. */
function writtenLimit(limits: Limits, key: keyof Limits): [string, unknown] {
  const { name, kind } = (LIMIT_FIELDS as Readonly<Record<string, Field<unknown>>>)[key];
  return [name, kind.format(limits[key])];
}

/** Here a tenant that is no tenant is 401, whatever is wrong with it (docs/dev/wire-format.md#status-of-tenant-errors). */
function knownAsker(context: HttpContext, request: RoutedRequest): Asker {
  try {
    return askerOf(context, request);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    throw new ClientError(401, error.message, { cause: error });
  }
}
