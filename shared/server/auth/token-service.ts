/**
 * Creates, lists and revokes tokens, for the API and for the command line that works directly on the stores.
 */

import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import { ALL_TENANTS, isScope, SCOPES, type Scope } from '../../base/model/scopes.ts';
import { checkTenantId } from '../../base/model/tenant-id.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import { MAX_TOKENS, type TokenRecord, type Tokens } from '../../storage/catalog/tokens.ts';
import { hashOf, isTokenId, newToken } from './token-text.ts';

export interface TokenToMake {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tenants: readonly string[];
  /** Unix ms; `undefined` if the token does not expire. */
  readonly expiresMs?: number | undefined;
}

interface MadeToken {
  /** Text of the token, returned only once. */
  readonly token: string;
  readonly record: TokenRecord;
}

export const MAX_TOKEN_NAME_CHARACTERS = 100;
/** An authorizer passes tenants in 8 KB, which fits 32 of 150 bytes. Use `*` or a second token for more. */
export const MAX_TENANTS = 32;
/** Attempts if another process records a use or revokes at the same time. */
const MAX_TRIES = 10;
const CONTROL = /[\0-\x1f\x7f-\x9f]/;

export class TokenService {
  readonly #tokens: Tokens;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ tokens, clock, ids }: { tokens: Tokens; clock: Clock; ids: Ids }) {
    this.#tokens = tokens;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Throws BadRequestError, and ClientError 409 if there are too many tokens. */
  async create(wanted: TokenToMake): Promise<MadeToken> {
    const made = this.#make(wanted);
    const records = await this.#tokens.list();
    if (records.length >= MAX_TOKENS) {
      throw new ClientError(
        409,
        `too many tokens: ${records.length}, limit: ${MAX_TOKENS}; revoke unused ones`,
      );
    }
    await this.#tokens.add(made.record);
    return made;
  }

  /**
   * Creates the first token of a deployment, once. Later calls return the time of the first (Unix ms), even
   * if that token ended. Throws BadRequestError.
   */
  async createFirst(wanted: TokenToMake): Promise<MadeToken | { readonly takenMs: number }> {
    const made = this.#make(wanted);
    if (await this.#tokens.addFirst(made.record)) return made;
    return { takenMs: (await this.#tokens.firstAddedMs()) ?? made.record.createdMs };
  }

  #make({ name, scopes, tenants, expiresMs }: TokenToMake): MadeToken {
    const createdMs = Math.trunc(this.#clock.nowMs());
    const checked = { name: checkName(name), scopes: checkScopes(scopes), tenants: checkTenants(tenants) };
    if (expiresMs !== undefined && !(Number.isSafeInteger(expiresMs) && expiresMs > createdMs)) {
      throw new BadRequestError('expiry must be a Unix time in ms in the future');
    }
    const { id, text } = newToken(this.#ids);
    const hash = hashOf(text).toString('hex');
    return {
      token: text,
      record: { id, ...checked, hash, createdMs, ...(expiresMs ? { expiresMs } : {}) },
    };
  }

  /** Oldest first, including tokens that ended in the last 30 days. */
  async list(): Promise<readonly TokenRecord[]> {
    const records = await this.#tokens.list();
    return [...records].sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
  }

  /**
   * Resolves to the revoked record. A record that was already revoked stays unchanged. Throws ClientError
   * 404, and 409 after too many conflicts.
   */
  async revoke(id: string): Promise<TokenRecord> {
    const tooMany = () => new ClientError(409, 'too many concurrent changes to the token; retry');
    return repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const stored = isTokenId(id) ? await this.#tokens.get(id) : undefined;
      if (stored === undefined) throw new ClientError(404, 'token not found');
      if (stored.record.revokedMs !== undefined) return stored.record;
      const record = { ...stored.record, revokedMs: Math.trunc(this.#clock.nowMs()) };
      return (await this.#tokens.replace(stored.version, record)) ? record : CONFLICT;
    });
  }
}

function checkName(name: string): string {
  if (name === '' || name.length > MAX_TOKEN_NAME_CHARACTERS || CONTROL.test(name) || !name.isWellFormed()) {
    throw new BadRequestError(
      `the name of a token must have 1 to ${MAX_TOKEN_NAME_CHARACTERS} characters and no control characters`,
    );
  }
  return name;
}

function checkScopes(scopes: readonly string[]): readonly Scope[] {
  const strange = scopes.find(scope => !isScope(scope));
  if (scopes.length === 0 || strange !== undefined) {
    const what = strange === undefined ? 'a token needs a scope' : `unknown scope ${JSON.stringify(strange)}`;
    throw new BadRequestError(`${what}; scopes are ${SCOPES.join(', ')}`);
  }
  return SCOPES.filter(scope => scopes.includes(scope));
}

function checkTenants(tenants: readonly string[]): readonly string[] {
  const distinct = [...new Set(tenants)].sort();
  if (distinct.length === 0) throw new BadRequestError("a token needs a tenant, or '*' for all");
  if (distinct.includes(ALL_TENANTS)) {
    if (distinct.length > 1)
      throw new BadRequestError("'*' includes all tenants; do not name others with it");
    return distinct;
  }
  if (distinct.length > MAX_TENANTS) {
    throw new BadRequestError(`too many tenants: ${distinct.length}, limit: ${MAX_TENANTS}`);
  }
  for (const tenant of distinct) {
    if (tenant === '') throw new BadRequestError('a tenant name must not be empty');
    checkTenantId(tenant);
  }
  return distinct;
}
