/**
 * Logs the identity that created or revoked a token. After an incident, the list of current tokens does not
 * show it.
 *
 * Pitfall: log only IDs and names, never a token or its hash.
 */
import type { TokenRecord } from '../../storage/catalog/tokens.ts';
import type { Identity } from './identity.ts';

export interface AuditLog {
  info(fields: object, message: string): void;
}

export interface TokenAudit {
  /** @param by identity that created the token */
  created(record: TokenRecord, by: Identity | undefined, clientAddress: string | undefined): void;
  revoked(record: TokenRecord, by: Identity | undefined, clientAddress: string | undefined): void;
}

/** Returns an audit that does nothing if there is no log. */
export function tokenAudit(log: AuditLog | undefined): TokenAudit {
  const tell = (
    message: string,
    { id, name, scopes, tenants, expiresMs }: TokenRecord,
    by: Identity | undefined,
    clientAddress: string | undefined,
  ): void => {
    const expires = expiresMs === undefined ? null : new Date(expiresMs).toISOString();
    const token = { id, name, scopes, tenants, expires };
    log?.info({ token, by: by && { id: by.tokenId, name: by.name }, address: clientAddress }, message);
  };
  return {
    created: (record, by, address) => tell('token created', record, by, address),
    revoked: (record, by, address) => tell('token revoked', record, by, address),
  };
}
