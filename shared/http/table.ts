/** The route table: every endpoint once. The local gateway, the stack and the documentation are made from it. */
import type { HttpContext } from './context.ts';
import { cancelDelete, createDelete, listDeletes, showDeleteProgress } from './handlers/deletes.ts';
import { listDetectedValues, showDetectedFields } from './handlers/detected-fields.ts';
import { listDetectedLabels } from './handlers/detected-labels.ts';
import { showDrilldownLimits } from './handlers/drilldown-limits.ts';
import {
  acceptElasticSetup,
  pushBulk,
  showElasticHealth,
  showElasticLicense,
  showElasticVersion,
} from './handlers/elastic.ts';
import { pushFirehose } from './handlers/firehose.ts';
import { increaseGeneration, showGeneration } from './handlers/generation.ts';
import { showIndexShards, showIndexStats } from './handlers/index-stats.ts';
import { pushJsonLines } from './handlers/json-lines.ts';
import { flushAll, flushTenant, showIndexSync, startIndexSync } from './handlers/maintenance.ts';
import { showMaintenance } from './handlers/maintenance-status.ts';
import { showMetrics } from './handlers/metrics.ts';
import { pushOtlpLogs, refuseDoubledPath } from './handlers/otlp.ts';
import { pushLegacyLogs, pushLogs } from './handlers/push.ts';
import { formatQuery, queryInstant, queryRange } from './handlers/query.ts';
import { ready, showBuildInfo } from './handlers/status.ts';
import { listLabels, listLabelValues, listSeries } from './handlers/streams.ts';
import { showUsage } from './handlers/usage.ts';
import { showVolume, showVolumeRange } from './handlers/volume.ts';
import { defineRoutes, type Handler, type Method, type Route } from './routes.ts';

const READ: readonly Method[] = ['GET', 'POST'];

function query(
  path: string,
  handler: Handler<HttpContext>,
  aliases: readonly string[] = [],
): Route<HttpContext> {
  return { methods: READ, path, aliases, component: 'querier', cost: 'query', errors: 'query', handler };
}

function push(path: string, handler: Handler<HttpContext>): Route<HttpContext> {
  return { methods: ['POST'], path, component: 'distributor', cost: 'push', errors: 'push', handler };
}

/** What agents for Elasticsearch ask before they ship; under its own root, because `/` is not theirs alone. */
function elastic(
  path: string,
  handler: Handler<HttpContext>,
  methods: readonly Method[] = ['GET'],
): Route<HttpContext> {
  return {
    methods,
    path: `/elasticsearch${path}`,
    component: 'distributor',
    cost: 'light',
    errors: 'push',
    handler,
  };
}

/** What keeps the store in shape, by request. */
function maintenance(
  path: string,
  methods: readonly Method[],
  component: 'ingester' | 'index-gateway' | 'compactor',
  handler: Handler<HttpContext>,
): Route<HttpContext> {
  return { methods, path, component, cost: 'maintenance', errors: 'push', handler };
}

export const ROUTES = defineRoutes<HttpContext>([
  push('/svc/api/v1/push', pushLogs),
  push('/api/compat/push', pushLegacyLogs),
  { ...push('/otlp/v1/logs', pushOtlpLogs), errors: 'otlp' },
  { ...push('/otlp/v1/logs/v1/logs', refuseDoubledPath), errors: 'otlp' },
  { ...push('/svc/api/v1/push/jsonline', pushJsonLines), aliases: ['/insert/jsonline'] },
  { ...push('/_bulk', pushBulk), aliases: ['/elasticsearch/_bulk'], methods: ['POST', 'PUT'] },
  {
    ...push('/{index}/_bulk', pushBulk),
    aliases: ['/elasticsearch/{index}/_bulk'],
    methods: ['POST', 'PUT'],
  },
  // Logstash, and `ping` of the official clients, ask by HEAD whether there is anybody.
  { ...elastic('', showElasticVersion, ['GET', 'HEAD']), aliases: ['/elasticsearch/'] },
  elastic('/_license', showElasticLicense),
  elastic('/_cluster/health', showElasticHealth),
  ...['/_xpack', '/_nodes/http', '/_ingest/pipeline'].map(path => elastic(path, acceptElasticSetup)),
  ...['/_ilm/policy/{name}', '/_index_template/{name}', '/_ingest/pipeline/{name}'].map(path =>
    elastic(path, acceptElasticSetup, ['GET', 'PUT']),
  ),
  push('/aws/firehose', pushFirehose),
  query('/svc/api/v1/query_range', queryRange),
  query('/svc/api/v1/query', queryInstant),
  query('/svc/api/v1/labels', listLabels, ['/svc/api/v1/label']),
  query('/svc/api/v1/label/{name}/values', listLabelValues),
  query('/svc/api/v1/series', listSeries),
  query('/svc/api/v1/index/stats', showIndexStats),
  query('/svc/api/v1/index/shards', showIndexShards),
  query('/svc/api/v1/index/volume', showVolume),
  query('/svc/api/v1/index/volume_range', showVolumeRange),
  query('/svc/api/v1/detected_labels', listDetectedLabels),
  { ...query('/svc/api/v1/drilldown-limits', showDrilldownLimits), methods: ['GET'] },
  query('/svc/api/v1/detected_fields', showDetectedFields),
  query('/svc/api/v1/detected_field/{name}/values', listDetectedValues),
  { ...query('/svc/api/v1/usage', showUsage), methods: ['GET'] },
  maintenance('/flush', READ, 'ingester', flushAll),
  maintenance('/flush/tenant', ['POST'], 'ingester', flushTenant),
  maintenance('/sync-indexes', ['PUT'], 'index-gateway', startIndexSync),
  maintenance('/sync-indexes', ['GET'], 'index-gateway', showIndexSync),
  maintenance('/svc/api/v1/delete', ['POST', 'PUT'], 'compactor', createDelete),
  maintenance('/svc/api/v1/delete', ['GET'], 'compactor', listDeletes),
  maintenance('/svc/api/v1/delete', ['DELETE'], 'compactor', cancelDelete),
  maintenance('/svc/api/v1/status/deletes', ['GET'], 'compactor', showDeleteProgress),
  maintenance('/svc/api/v1/cache/generation_numbers', ['GET'], 'compactor', showGeneration),
  maintenance('/svc/api/v1/cache/generation_numbers/increase', ['POST'], 'compactor', increaseGeneration),
  maintenance('/svc/api/v1/status/maintenance', ['GET'], 'compactor', showMaintenance),
  {
    methods: READ,
    path: '/svc/api/v1/format_query',
    component: 'all',
    cost: 'light',
    errors: 'query',
    handler: formatQuery,
  },
  {
    methods: ['GET'],
    path: '/ready',
    component: 'all',
    cost: 'light',
    errors: 'push',
    handler: ready,
  },
  {
    methods: ['GET'],
    path: '/metrics',
    component: 'all',
    cost: 'light',
    errors: 'push',
    handler: showMetrics,
  },
  {
    methods: ['GET'],
    path: '/svc/api/v1/status/buildinfo',
    component: 'all',
    cost: 'light',
    errors: 'push',
    handler: showBuildInfo,
  },
]);
