/**
 * Access requirements of each endpoint: one dense table, and every route called with a token of each scope.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPES } from '../../shared/base/model/scopes.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { FailedAttempts } from '../../shared/server/auth/failed-attempts.ts';
import { TicketService } from '../../shared/server/auth/ticket-service.ts';
import { TokenService } from '../../shared/server/auth/token-service.ts';
import { TokenVerifier } from '../../shared/server/auth/token-verifier.ts';
import type { Access } from '../../shared/server/http/access.ts';
import * as accesses from '../../shared/server/http/access.ts';
import { createDispatcher } from '../../shared/server/http/dispatch.ts';
import { createGuard } from '../../shared/server/http/guard.ts';
import type { HttpRequest } from '../../shared/server/http/message.ts';
import { json } from '../../shared/server/http/respond.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { createRouter, pathsOf } from '../../shared/server/http/routes.ts';
import { Tickets } from '../../shared/storage/catalog/tickets.ts';
import { Tokens } from '../../shared/storage/catalog/tokens.ts';
import { manualClock } from '../support/manual-clock.ts';
import { request, tenants } from './request.ts';

const { READ_LOGS, WRITE_LOGS, DELETE_LOGS, READ_RULES, WRITE_RULES, ADMIN_STORE, ADMIN_TENANT } = accesses;
const { OPEN, KNOWN, METRICS, PREPARE_READ, PREPARE_WRITE, TAIL_LOGS, WRITE_BOARDS } = accesses;

/** Exactly one row for each route: a new endpoint needs a row, and its author a thought. */
const EXPECTED: readonly (readonly [routes: RegExp, access: Access])[] = [
  [
    /^\S+ (\/svc\/api\/v1\/push(\/jsonline)?|\/api\/compat\/push|\/otlp\/\S+|\S*\/_bulk|\/aws\/firehose)$/,
    WRITE_LOGS,
  ],
  [
    /^\S+ \/elasticsearch(|\/_license|\/_cluster\/health|\/_xpack|\/_nodes\S*|\/_ingest\S*|\/_ilm\S*|\/_index\S*)$/,
    PREPARE_WRITE,
  ],
  [
    /^\S+ \/svc\/api\/v1\/(query|query_range|export|labels|label\/\S+|series|index\/\S+|patterns)$/,
    READ_LOGS,
  ],
  [/^\S+ \/svc\/api\/v1\/(detected_\S+|drilldown-limits|usage|auth\/ticket)$/, READ_LOGS],
  [/^\S+ \/api\/compat\/(query|label|label\/\S+|series)$/, READ_LOGS],
  [/^GET \/config\/tenant\/v1\/limits$/, READ_LOGS],
  [/^GET \/svc\/api\/v1\/tail$/, TAIL_LOGS],
  [/^\S+ \/svc\/api\/v1\/format_query$/, PREPARE_READ],
  [/^\S+ \/svc\/api\/v1\/(delete|status\/deletes)$/, DELETE_LOGS],
  [/^GET (\/svc\/api\/v1|\/api\/compat)\/rules\S*$/, READ_RULES],
  [/^(POST|DELETE) (\/svc\/api\/v1|\/api\/compat)\/rules\S*$/, WRITE_RULES],
  [/^GET \/compat\/api\/v1\/(rules|alerts)$/, READ_RULES],
  [/^GET \/svc\/api\/v1\/ui\/\S+$/, READ_LOGS],
  [/^(POST|PUT|DELETE) \/svc\/api\/v1\/ui\/\S+$/, WRITE_BOARDS],
  [/^\S+ (\/flush\/tenant|\/svc\/api\/v1\/cache\/\S+)$/, ADMIN_TENANT],
  [/^\S+ \/(flush|sync-indexes|ingester\/\S+|services|log_level|config)$/, ADMIN_STORE],
  [
    /^\S+ (\/ring|\/partition-ring|\/memberlist|\/\S+\/ring|\/svc\/api\/v1\/status\/maintenance|\/svc\/api\/v1\/tokens\S*)$/,
    ADMIN_STORE,
  ],
  [/^GET \/metrics$/, METRICS],
  [/^GET (\/ready|\/svc\/api\/v1\/(status\/buildinfo|openapi\.json))$/, OPEN],
  [/^GET \/svc\/api\/v1\/auth\/me$/, KNOWN],
];

const cases = ROUTES.map(route => [`${route.methods.join()} ${route.path}`, route] as const);

test.each(cases)('%s requires its access', (name, { access }) => {
  const rows = EXPECTED.filter(([routes]) => routes.test(name));
  expect(rows.map(([routes]) => String(routes))).toHaveLength(1);
  // Compared by identity, because two equal requirements may still be different entries.
  expect(access === rows[0][1]).toBe(true);
});

describe('each route', () => {
  const clock = manualClock();
  const ids = seededIds(3);
  const table = memoryTable({ clock });
  const tokens = new Tokens({ table });
  const attempts = new FailedAttempts(clock);
  const verifier = new TokenVerifier({ tokens, clock, attempts });
  const tickets = new TicketService({
    tickets: new Tickets({ table, clock }),
    verifier,
    attempts,
    clock,
    ids,
  });
  const config = { ...DEFAULT_CONFIG, access: { ...DEFAULT_CONFIG.access, tokensEnabled: true } };
  const guard = createGuard({ verifier, tickets, config, clock, trustsAuthorizer: false });
  // Handlers that record what reaches them.
  const routes = ROUTES.map(route => ({
    ...route,
    handler: async (_: null, { headers, tenants }: HttpRequest) => json({ headers, tenants }),
  }));
  const log = { error: () => {} };
  const dispatch = createDispatcher({
    router: createRouter(routes),
    guard,
    context: null,
    log,
    compress: false,
  });
  /** Tokens by scope and tenants. */
  const made = new Map<string, string>();
  beforeAll(async () => {
    const service = new TokenService({ tokens, clock, ids });
    for (const scope of SCOPES) {
      for (const tenant of ['a', '*']) {
        const { token } = await service.create({ name: 'x', scopes: [scope], tenants: [tenant] });
        made.set(`${scope} ${tenant}`, token);
      }
    }
  });

  const filled = (path: string) => path.replaceAll(/\{\w+\}/g, 'x');
  const basic = (user: string, token: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
  });

  test.each(cases)('%s accepts the right tokens under all its paths', async (_, route) => {
    const { access, methods } = route;
    const [method] = methods;
    for (const path of pathsOf(route).map(filled)) {
      const nobody = await dispatch(request({ method, path }));
      const isOpen = access.kind === 'open';
      expect([path, nobody.status]).toEqual([path, isOpen ? 200 : 401]);
      expect(nobody.headers['www-authenticate']).toBe(
        isOpen ? undefined : 'Basic realm="logboom", charset="UTF-8"',
      );
    }
    const path = filled(route.path);
    for (const [key, token] of made) {
      const [scope, tokenFor] = key.split(' ');
      const answer = await dispatch(request({ method, path, headers: basic('a', token) }));
      const allowed =
        access.kind !== 'scope' || (access.scope === scope && (access.over !== 'store' || tokenFor === '*'));
      expect([key, answer.status]).toEqual([key, allowed ? 200 : 403]);
      if (answer.status !== 200) continue;
      const seen: Pick<HttpRequest, 'headers' | 'tenants'> = JSON.parse(String(answer.body));
      // Credentials are removed, and a tenant is set only if allowed.
      expect(seen.headers).not.toHaveProperty('authorization');
      const hasTenant = access.kind === 'known' || (access.kind === 'scope' && access.over === 'tenant');
      expect(seen.headers).not.toHaveProperty('x-scope-orgid');
      expect(seen.tenants?.kind).toBe(hasTenant ? 'resolved' : 'refused');
      if (hasTenant) expect(seen.tenants).toEqual(tenants('a'));
      const other = await dispatch(request({ method, path, headers: basic('b', token) }));
      const stopped = hasTenant && tokenFor === 'a';
      expect([key, other.status]).toEqual([key, stopped ? 403 : 200]);
    }
  });
});
