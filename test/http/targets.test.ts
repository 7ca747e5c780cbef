/** Endpoints of each target (docs/dev/operations.md#several-processes): one dense table. */
import { describe, expect, test } from '@jest/globals';
import { type ProcessTarget, TARGETS, workOf } from '../../shared/server/admin/targets.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { isExposed } from '../../shared/server/http/targets.ts';

const EVERY: readonly ProcessTarget[] = TARGETS;
const INGEST: readonly ProcessTarget[] = ['all', 'write', 'distributor'];
const QUERY: readonly ProcessTarget[] = ['all', 'read', 'querier', 'query-frontend'];
const QUERIER: readonly ProcessTarget[] = ['all', 'read', 'querier'];
const INGESTER: readonly ProcessTarget[] = ['all', 'write', 'ingester'];
const INDEX: readonly ProcessTarget[] = ['all', 'backend', 'index-gateway'];
const RULER: readonly ProcessTarget[] = ['all', 'ruler'];
const COMPACTOR: readonly ProcessTarget[] = ['all', 'backend', 'compactor'];

const EXPECTED: readonly (readonly [paths: RegExp, targets: readonly ProcessTarget[]])[] = [
  [/^\/(svc\/api\/v1\/push|api\/compat\/push|otlp\/|_bulk|\{index\}\/_bulk|elasticsearch|aws\/)/, INGEST],
  [/^\/svc\/api\/v1\/(labels|label\/|series|tail)/, QUERIER],
  [/^\/api\/compat\/(label|series|tail)/, QUERIER],
  [/^\/api\/compat\/query$/, QUERY],
  [
    /^\/svc\/api\/v1\/(query|query_range|export|ui\/.*|index\/\w+|patterns|detected_\w+.*|drilldown-limits)$/,
    QUERY,
  ],
  [/^\/(flush|ingester|partition-ring)/, INGESTER],
  [/^\/sync-indexes$/, INDEX],
  [/^\/(svc\/api\/v1|api\/compat|compat\/api\/v1)\/(rules|alerts)/, RULER],
  [/^\/svc\/api\/v1\/(delete|cache\/|status\/(deletes|maintenance))/, COMPACTOR],
  [
    /^\/(ready|memberlist|metrics|services|log_level|config|svc\/api\/v1\/(auth\/|tokens|format_query|usage|openapi\.json|status\/buildinfo))/,
    EVERY,
  ],
];

describe('endpoints', () => {
  test.each(ROUTES.map(route => [route.methods.join(), route.path, route] as const))(
    '%s %s',
    (_, path, route) => {
      const rows = EXPECTED.filter(([paths]) => paths.test(path));
      // Rings: `/ruler/ring` belongs to the ruler, and so on.
      if (path.endsWith('/ring') || path === '/ring') return;
      expect(rows).toHaveLength(1);
      expect(TARGETS.filter(target => isExposed(target, route))).toEqual(
        TARGETS.filter(target => rows[0][1].includes(target)),
      );
    },
  );
});

test('background jobs run by target', () => {
  const who = (work: keyof ReturnType<typeof workOf>) => TARGETS.filter(target => workOf(target)[work]);
  expect(who('maintains')).toEqual(['all', 'backend', 'compactor']);
  expect(who('syncsIndexes')).toEqual(['all', 'backend', 'index-gateway']);
  expect(who('evaluatesRules')).toEqual(['all', 'backend', 'ruler']);
  expect(who('tails')).toEqual(['all', 'read', 'querier']);
});
