/** Assembles access control over the catalog of a store. */

import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Config } from '../admin/config-fields.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { FailedAttempts } from '../auth/failed-attempts.ts';
import { TicketService } from '../auth/ticket-service.ts';
import { type AuditLog, tokenAudit } from '../auth/token-audit.ts';
import { TokenService } from '../auth/token-service.ts';
import { TokenVerifier } from '../auth/token-verifier.ts';
import type { AccessServices } from './context.ts';
import { createGuard } from './guard.ts';

interface AccessParts {
  readonly config: Config;
  readonly catalog: Pick<Catalog, 'tokens' | 'tickets'>;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly registry?: MetricsRegistry;
  /** Log of created and revoked tokens. Default: none. */
  readonly auditLog?: AuditLog | undefined;
  /** See VerifierParts. */
  readonly maxAgeMs?: number;
  /** See GuardParts. Default: false. */
  readonly trustsAuthorizer?: boolean | undefined;
}

export function assembleAccess(parts: AccessParts): AccessServices {
  const { config, catalog, clock, ids, registry, maxAgeMs, trustsAuthorizer = false } = parts;
  const refused = registry?.counter({
    name: 'logboom_authentication_refused_total',
    help: 'Requests refused because of their token, by reason.',
    labels: ['reason'],
  });
  const attempts = new FailedAttempts(clock);
  const verifier = new TokenVerifier({
    tokens: catalog.tokens,
    clock,
    attempts,
    maxAgeMs,
    onRefused: reason => refused?.inc({ reason }),
  });
  const tickets = new TicketService({ tickets: catalog.tickets, verifier, attempts, clock, ids });
  return {
    guard: createGuard({ verifier, tickets, config, clock, trustsAuthorizer }),
    verifier,
    tickets,
    tokens: new TokenService({ tokens: catalog.tokens, clock, ids }),
    audit: tokenAudit(parts.auditLog),
  };
}
