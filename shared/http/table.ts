/** The route table: every endpoint once. The local gateway, the stack and the documentation are made from it. */
import type { HttpContext } from './context.ts';
import { pushLegacyLogs, pushLogs } from './handlers/push.ts';
import { formatQuery, queryInstant, queryRange } from './handlers/query.ts';
import { ready, showBuildInfo } from './handlers/status.ts';
import { listLabels, listLabelValues, listSeries } from './handlers/streams.ts';
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

export const ROUTES = defineRoutes<HttpContext>([
  push('/svc/api/v1/push', pushLogs),
  push('/api/compat/push', pushLegacyLogs),
  query('/svc/api/v1/query_range', queryRange),
  query('/svc/api/v1/query', queryInstant),
  query('/svc/api/v1/labels', listLabels, ['/svc/api/v1/label']),
  query('/svc/api/v1/label/{name}/values', listLabelValues),
  query('/svc/api/v1/series', listSeries),
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
    path: '/svc/api/v1/status/buildinfo',
    component: 'all',
    cost: 'light',
    errors: 'push',
    handler: showBuildInfo,
  },
]);
