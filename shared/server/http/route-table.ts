/**
 * The route table, which lists every endpoint once. The local gateway, the stack and the documentation use
 * it.
 */
import {
  type Access,
  ADMIN_STORE,
  ADMIN_TENANT,
  DELETE_LOGS,
  KNOWN,
  METRICS,
  OPEN,
  PREPARE_READ,
  PREPARE_WRITE,
  READ_LOGS,
  READ_RULES,
  TAIL_LOGS,
  WRITE_BOARDS,
  WRITE_LOGS,
  WRITE_RULES,
} from './access.ts';
import type { HttpContext } from './context.ts';
import { giveTicket, showMe } from './handlers/auth.ts';
import { showConfig, showTenantLimits } from './handlers/config.ts';
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
import { exportEntries } from './handlers/export.ts';
import { pushFirehose } from './handlers/firehose.ts';
import { increaseGeneration, showGeneration } from './handlers/generation.ts';
import { showIndexShards, showIndexStats } from './handlers/index-stats.ts';
import { pushJsonLines } from './handlers/json-lines.ts';
import { listLegacyLabels, listLegacyValues, queryLegacy } from './handlers/legacy-query.ts';
import { setLogLevel, showLogLevel } from './handlers/log-level.ts';
import { flushAll, flushTenant, showIndexSync, startIndexSync } from './handlers/maintenance.ts';
import { showMaintenance } from './handlers/maintenance-status.ts';
import { showMetrics } from './handlers/metrics.ts';
import { describeApi } from './handlers/openapi.ts';
import { pushOtlpLogs, refuseDoubledPath } from './handlers/otlp.ts';
import { showPatterns } from './handlers/patterns.ts';
import { pushLegacyLogs, pushLogs } from './handlers/push.ts';
import { formatQuery, queryInstant, queryRange } from './handlers/query.ts';
import {
  distributorRing,
  memberList,
  partitionRing,
  patternRing,
  ringOf,
  rulerRing,
  schedulerRing,
} from './handlers/rings.ts';
import { showAlerts, showRules } from './handlers/rule-status.ts';
import {
  deleteGroup,
  deleteNamespace,
  listNamespace,
  listRules,
  setGroup,
  showGroup,
} from './handlers/rules.ts';
import { type SavedHandlers, savedBoards, savedQueries } from './handlers/saved.ts';
import {
  prepareShutdown,
  refusePartitions,
  showPrepared,
  shutDown,
  unprepareShutdown,
} from './handlers/shutdown.ts';
import { listServices, ready, showBuildInfo } from './handlers/status.ts';
import { listLabels, listLabelValues, listSeries } from './handlers/streams.ts';
import { refuseTail } from './handlers/tail.ts';
import { createToken, listTokens, revokeToken } from './handlers/tokens.ts';
import { showUsage } from './handlers/usage.ts';
import { showVolume, showVolumeRange } from './handlers/volume.ts';
import { type Component, defineRoutes, type Handler, type Method, type Route } from './routes.ts';
import { LEGACY_TAIL_PATH, TAIL_PATH } from './tail-request.ts';

const READ: readonly Method[] = ['GET', 'POST'];

function query(
  path: string,
  handler: Handler<HttpContext>,
  aliases: readonly string[] = [],
): Route<HttpContext> {
  return {
    methods: READ,
    path,
    aliases,
    component: 'query-frontend',
    cost: 'query',
    errors: 'query',
    access: READ_LOGS,
    handler,
  };
}

/** Routes that a query frontend leaves to the querier. */
function querier(
  path: string,
  handler: Handler<HttpContext>,
  aliases: readonly string[] = [],
): Route<HttpContext> {
  return { ...query(path, handler, aliases), component: 'querier' };
}

function push(path: string, handler: Handler<HttpContext>): Route<HttpContext> {
  return {
    methods: ['POST'],
    path,
    component: 'distributor',
    cost: 'push',
    errors: 'push',
    access: WRITE_LOGS,
    handler,
  };
}

/**
 * Requests that agents for Elasticsearch send first. They have a separate root, because other clients use `/`
 * too.
 */
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
    access: PREPARE_WRITE,
    handler,
  };
}

/** Maintenance on request. */
function maintenance(
  path: string,
  methods: readonly Method[],
  component: 'ingester' | 'index-gateway' | 'compactor',
  handler: Handler<HttpContext>,
  access: Access = ADMIN_STORE,
): Route<HttpContext> {
  return { methods, path, component, cost: 'maintenance', errors: 'push', access, handler };
}

/** Status of the process that responds, without a tenant. For operators, unless access says otherwise. */
function status(
  path: string,
  handler: Handler<HttpContext>,
  { methods = ['GET'], access = ADMIN_STORE }: { methods?: readonly Method[]; access?: Access } = {},
): Route<HttpContext> {
  return { methods, path, component: 'all', cost: 'light', errors: 'push', access, handler };
}

/** Page of the members that run a component. */
function ring(path: string, component: Component, handler: Handler<HttpContext>): Route<HttpContext> {
  return {
    methods: READ,
    path,
    component,
    cost: 'maintenance',
    errors: 'push',
    access: ADMIN_STORE,
    handler,
  };
}

/** Routes under both roots of rule groups. */
function rules(
  path: string,
  methods: readonly Method[],
  handler: Handler<HttpContext>,
): readonly Route<HttpContext>[] {
  return ['/svc/api/v1/rules', '/api/compat/rules'].map(root => ({
    methods,
    path: root + path,
    component: 'ruler',
    cost: 'maintenance',
    errors: 'push',
    access: methods.every(method => method === 'GET') ? READ_RULES : WRITE_RULES,
    handler,
  }));
}

/** Saved queries or boards of the explorer, on every process that serves the page. */
function saved(kind: 'queries' | 'boards', handlers: SavedHandlers): readonly Route<HttpContext>[] {
  const root = `/svc/api/v1/ui/${kind}`;
  const route = (method: Method, path: string, handler: Handler<HttpContext>): Route<HttpContext> => ({
    methods: [method],
    path,
    component: 'query-frontend',
    cost: 'maintenance',
    errors: 'push',
    access: method === 'GET' ? READ_LOGS : WRITE_BOARDS,
    handler,
  });
  return [
    route('GET', root, handlers.list),
    route('POST', root, handlers.create),
    route('GET', `${root}/{id}`, handlers.show),
    route('PUT', `${root}/{id}`, handlers.replace),
    route('DELETE', `${root}/{id}`, handlers.remove),
  ];
}

/** Every process serves these, whatever its target. */
function tokens(path: string, methods: readonly Method[], handler: Handler<HttpContext>): Route<HttpContext> {
  const route = maintenance(`/svc/api/v1/tokens${path}`, methods, 'compactor', handler);
  return { ...route, component: 'all' };
}

export const ROUTES: readonly Route<HttpContext>[] = defineRoutes<HttpContext>([
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
  // Logstash, and `ping` of the official clients, check with HEAD whether the server is up.
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
  query('/svc/api/v1/export', exportEntries),
  { ...query('/api/compat/query', queryLegacy), methods: ['GET'] },
  { ...querier('/api/compat/label', listLegacyLabels), methods: ['GET'] },
  { ...querier('/api/compat/label/{name}/values', listLegacyValues), methods: ['GET'] },
  querier('/api/compat/series', listSeries),
  querier('/svc/api/v1/labels', listLabels, ['/svc/api/v1/label']),
  querier('/svc/api/v1/label/{name}/values', listLabelValues),
  querier('/svc/api/v1/series', listSeries),
  query('/svc/api/v1/index/stats', showIndexStats),
  query('/svc/api/v1/index/shards', showIndexShards),
  query('/svc/api/v1/index/volume', showVolume),
  query('/svc/api/v1/index/volume_range', showVolumeRange),
  query('/svc/api/v1/detected_labels', listDetectedLabels),
  query('/svc/api/v1/patterns', showPatterns),
  { ...query('/svc/api/v1/drilldown-limits', showDrilldownLimits), methods: ['GET'] },
  query('/svc/api/v1/detected_fields', showDetectedFields),
  query('/svc/api/v1/detected_field/{name}/values', listDetectedValues),
  { ...query('/svc/api/v1/usage', showUsage), methods: ['GET'], component: 'all' },
  {
    ...querier(TAIL_PATH, refuseTail, [LEGACY_TAIL_PATH]),
    methods: ['GET'],
    cost: 'light',
    access: TAIL_LOGS,
  },
  maintenance('/flush', READ, 'ingester', flushAll),
  maintenance('/flush/tenant', ['POST'], 'ingester', flushTenant, ADMIN_TENANT),
  maintenance('/sync-indexes', ['PUT'], 'index-gateway', startIndexSync),
  maintenance('/sync-indexes', ['GET'], 'index-gateway', showIndexSync),
  maintenance('/svc/api/v1/delete', ['POST', 'PUT'], 'compactor', createDelete, DELETE_LOGS),
  maintenance('/svc/api/v1/delete', ['GET'], 'compactor', listDeletes, DELETE_LOGS),
  maintenance('/svc/api/v1/delete', ['DELETE'], 'compactor', cancelDelete, DELETE_LOGS),
  maintenance('/svc/api/v1/status/deletes', ['GET'], 'compactor', showDeleteProgress, DELETE_LOGS),
  maintenance('/svc/api/v1/cache/generation_numbers', ['GET'], 'compactor', showGeneration, ADMIN_TENANT),
  maintenance(
    '/svc/api/v1/cache/generation_numbers/increase',
    ['POST'],
    'compactor',
    increaseGeneration,
    ADMIN_TENANT,
  ),
  ...rules('', ['GET'], listRules),
  ...rules('/{namespace}', ['GET'], listNamespace),
  ...rules('/{namespace}', ['POST'], setGroup),
  ...rules('/{namespace}', ['DELETE'], deleteNamespace),
  ...rules('/{namespace}/{group}', ['GET'], showGroup),
  ...rules('/{namespace}/{group}', ['DELETE'], deleteGroup),
  {
    methods: ['GET'],
    path: '/compat/api/v1/rules',
    component: 'ruler',
    cost: 'light',
    errors: 'push',
    access: READ_RULES,
    handler: showRules,
  },
  {
    methods: ['GET'],
    path: '/compat/api/v1/alerts',
    component: 'ruler',
    cost: 'light',
    errors: 'push',
    access: READ_RULES,
    handler: showAlerts,
  },
  ...saved('queries', savedQueries),
  ...saved('boards', savedBoards),
  { ...maintenance('/svc/api/v1/status/maintenance', ['GET'], 'compactor', showMaintenance), isStatus: true },
  {
    methods: READ,
    path: '/svc/api/v1/format_query',
    component: 'all',
    cost: 'light',
    errors: 'query',
    access: PREPARE_READ,
    handler: formatQuery,
  },
  maintenance('/ingester/prepare_shutdown', ['GET'], 'ingester', showPrepared),
  maintenance('/ingester/prepare_shutdown', ['POST'], 'ingester', prepareShutdown),
  maintenance('/ingester/prepare_shutdown', ['DELETE'], 'ingester', unprepareShutdown),
  maintenance('/ingester/shutdown', READ, 'ingester', shutDown),
  // There are no partitions without Kafka. Same response as the reference without them.
  maintenance('/ingester/prepare_partition_downscale', READ, 'ingester', refusePartitions),
  ring('/ring', 'ingester', ringOf('ingester')),
  ring('/distributor/ring', 'distributor', distributorRing),
  ring('/indexgateway/ring', 'index-gateway', ringOf('index-gateway')),
  ring('/ruler/ring', 'ruler', rulerRing),
  ring('/compactor/ring', 'compactor', ringOf('compactor')),
  ring('/scheduler/ring', 'query-frontend', schedulerRing),
  ring('/pattern/ring', 'ingester', patternRing),
  ring('/partition-ring', 'ingester', partitionRing),
  ring('/memberlist', 'all', memberList),
  status('/ready', ready, { access: OPEN }),
  status('/metrics', showMetrics, { access: METRICS }),
  status('/services', listServices),
  status('/log_level', showLogLevel),
  status('/log_level', setLogLevel, { methods: ['POST'] }),
  status('/config', showConfig),
  status('/config/tenant/v1/limits', showTenantLimits, { access: READ_LOGS }),
  status('/svc/api/v1/status/buildinfo', showBuildInfo, { access: OPEN }),
  status(
    '/svc/api/v1/openapi.json',
    describeApi(() => ROUTES),
    { access: OPEN },
  ),
  status('/svc/api/v1/auth/me', showMe, { access: KNOWN }),
  {
    ...maintenance('/svc/api/v1/auth/ticket', ['POST'], 'compactor', giveTicket, READ_LOGS),
    component: 'all',
  },
  tokens('', ['POST'], createToken),
  tokens('', ['GET'], listTokens),
  tokens('/{id}', ['DELETE'], revokeToken),
]);
