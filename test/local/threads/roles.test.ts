import { expect, test } from '@jest/globals';
import { frontsOf, ROLES, roleOf, rolesOf, threadsOf } from '../../../local/threads/roles.ts';
import { TARGETS } from '../../../shared/server/admin/targets.ts';
import { ROUTES } from '../../../shared/server/http/route-table.ts';

/** Every route, by the thread that serves it. What is new has to be given a thread here. */
const SERVED = {
  ingest: `
    POST /svc/api/v1/push
    POST /api/compat/push
    POST /otlp/v1/logs
    POST /otlp/v1/logs/v1/logs
    POST /svc/api/v1/push/jsonline
    POST|PUT /_bulk
    POST|PUT /{index}/_bulk
    POST /aws/firehose`,
  query: `
    GET|POST /svc/api/v1/query_range
    GET|POST /svc/api/v1/query
    GET /api/compat/query
    GET /api/compat/label
    GET /api/compat/label/{name}/values
    GET|POST /api/compat/series
    GET|POST /svc/api/v1/labels
    GET|POST /svc/api/v1/label/{name}/values
    GET|POST /svc/api/v1/series
    GET|POST /svc/api/v1/index/stats
    GET|POST /svc/api/v1/index/shards
    GET|POST /svc/api/v1/index/volume
    GET|POST /svc/api/v1/index/volume_range
    GET|POST /svc/api/v1/detected_labels
    GET|POST /svc/api/v1/patterns
    GET /svc/api/v1/drilldown-limits
    GET|POST /svc/api/v1/detected_fields
    GET|POST /svc/api/v1/detected_field/{name}/values
    POST|PUT /svc/api/v1/delete
    GET /svc/api/v1/delete
    DELETE /svc/api/v1/delete
    GET /svc/api/v1/status/deletes
    GET /svc/api/v1/cache/generation_numbers
    POST /svc/api/v1/cache/generation_numbers/increase
    GET /svc/api/v1/rules
    GET /api/compat/rules
    GET /svc/api/v1/rules/{namespace}
    GET /api/compat/rules/{namespace}
    POST /svc/api/v1/rules/{namespace}
    POST /api/compat/rules/{namespace}
    DELETE /svc/api/v1/rules/{namespace}
    DELETE /api/compat/rules/{namespace}
    GET /svc/api/v1/rules/{namespace}/{group}
    GET /api/compat/rules/{namespace}/{group}
    DELETE /svc/api/v1/rules/{namespace}/{group}
    DELETE /api/compat/rules/{namespace}/{group}
    GET /compat/api/v1/rules
    GET /compat/api/v1/alerts
    GET|POST /svc/api/v1/export
    GET /svc/api/v1/ui/boards
    POST /svc/api/v1/ui/boards
    GET /svc/api/v1/ui/boards/{id}
    PUT /svc/api/v1/ui/boards/{id}
    DELETE /svc/api/v1/ui/boards/{id}
    GET /svc/api/v1/ui/queries
    POST /svc/api/v1/ui/queries
    GET /svc/api/v1/ui/queries/{id}
    PUT /svc/api/v1/ui/queries/{id}
    DELETE /svc/api/v1/ui/queries/{id}
    GET|POST /svc/api/v1/format_query`,
  upkeep: `
    GET|POST /flush
    POST /flush/tenant
    PUT /sync-indexes
    GET /sync-indexes
    GET /svc/api/v1/status/maintenance`,
  front: `
    GET|HEAD /elasticsearch
    GET /elasticsearch/_license
    GET /elasticsearch/_cluster/health
    GET /elasticsearch/_xpack
    GET /elasticsearch/_nodes/http
    GET /elasticsearch/_ingest/pipeline
    GET|PUT /elasticsearch/_ilm/policy/{name}
    GET|PUT /elasticsearch/_index_template/{name}
    GET|PUT /elasticsearch/_ingest/pipeline/{name}
    GET /svc/api/v1/usage
    GET /svc/api/v1/tail
    GET /ingester/prepare_shutdown
    POST /ingester/prepare_shutdown
    DELETE /ingester/prepare_shutdown
    GET|POST /ingester/shutdown
    GET|POST /ingester/prepare_partition_downscale
    GET|POST /ring
    GET|POST /distributor/ring
    GET|POST /indexgateway/ring
    GET|POST /ruler/ring
    GET|POST /compactor/ring
    GET|POST /scheduler/ring
    GET|POST /pattern/ring
    GET|POST /partition-ring
    GET|POST /memberlist
    GET /ready
    GET /metrics
    GET /services
    GET /log_level
    POST /log_level
    GET /config
    GET /config/tenant/v1/limits
    GET /svc/api/v1/openapi.json
    GET /svc/api/v1/status/buildinfo
    GET /svc/api/v1/auth/me
    POST /svc/api/v1/auth/ticket
    POST /svc/api/v1/tokens
    GET /svc/api/v1/tokens
    DELETE /svc/api/v1/tokens/{id}`,
};

test.each([...ROLES, 'front'] as const)('routes that %s serves', role => {
  const served = ROUTES.filter(route => (roleOf(route) ?? 'front') === role);
  const expected = SERVED[role].trim().split(/\n\s*/);
  expect(served.map(({ methods, path }) => `${methods.join('|')} ${path}`).sort()).toEqual(expected.sort());
});

test.each<[(typeof TARGETS)[number], string]>([
  ['all', 'ingest query upkeep'],
  ['read', 'query'],
  // Each answers what formats a query, and flushes by upkeep.
  ['write', 'ingest query upkeep'],
  ['backend', 'query upkeep'],
  ['distributor', 'ingest query'],
  ['ingester', 'query upkeep'],
  ['querier', 'query'],
  ['query-frontend', 'query'],
  ['index-gateway', 'query upkeep'],
  ['ruler', 'query'],
  ['compactor', 'query upkeep'],
])('a process of the target %s has threads for %s', (target, roles) => {
  expect([...rolesOf(target)].sort().join(' ')).toBe(roles);
});

test('every target is above', () => expect(TARGETS).toHaveLength(11));

test.each([
  [1, 1, 1, 1],
  [2, 1, 1, 1],
  [3, 2, 2, 1],
  [4, 3, 3, 2],
  [16, 15, 15, 8],
])('%i cores: up to %i threads ingest, %i query, %i do upkeep', (cores, ingest, query, upkeep) => {
  expect(ROLES.map(role => threadsOf(role, cores))).toEqual([ingest, query, upkeep]);
});

test.each([
  ['all', 1, 1],
  ['all', 2, 1],
  ['all', 7, 1],
  ['all', 8, 2],
  ['all', 16, 3],
  ['write', 64, 10],
  // Without pushes, one front can receive everything.
  ['read', 64, 1],
] as const)('target %s on %d cores has %d fronts', (target, cores, fronts) => {
  expect(frontsOf(target, cores)).toBe(process.platform === 'linux' ? fronts : 1);
});
