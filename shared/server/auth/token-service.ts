/** Makes, lists and revokes tokens: the same for the command line on the stores themselves and for the API. */

import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import { ALL_TENANTS, isScope, SCOPES, type Scope } from '../../base/model/scopes.ts';
import { checkTenantId } from '../../base/model/tenant-id.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { MAX_TOKENS, type TokenRecord, type Tokens } from '../../storage/catalog/tokens.ts';
import { hashOf, isTokenId, newToken } from './token-text.ts';

export interface TokenToMake {
  readonly name: string;
  readonly scopes: readonly string[];
  readonly tenants: readonly string[];
  /** Unix ms; undefined: never. */
  readonly expiresMs?: number | undefined;
}

export interface MadeToken {
  /** The one time that anybody sees it. */
  readonly token: string;
  readonly record: TokenRecord;
}

export const MAX_NAME_CHARACTERS = 100;
/** An authorizer passes them on in 8 KB: 32 of 150 bytes fit. Who needs more takes all, or a second token. */
export const MAX_TENANTS = 32;
/** A use may be noted, or another revocation run, at the same time. */
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

  /** Throws BadRequestError; ClientError 409 where there are too many. */
  async create(wanted: TokenToMake): Promise<MadeToken> {
    const made = this.#make(wanted);
    const records = await this.#tokens.list();
    if (records.length >= MAX_TOKENS) {
      throw new ClientError(409, `there are ${records.length} tokens, limit: ${MAX_TOKENS}`);
    }
    await this.#tokens.add(made.record);
    return made;
  }

  /** The first token of a deployment, once: afterwards when that was (Unix ms), even if it has ended. Throws BadRequestError. */
  async createFirst(wanted: TokenToMake): Promise<MadeToken | { readonly takenMs: number }> {
    const made = this.#make(wanted);
    if (await this.#tokens.addFirst(made.record)) return made;
    return { takenMs: (await this.#tokens.firstAddedMs()) ?? made.record.createdMs };
  }

  #make({ name, scopes, tenants, expiresMs }: TokenToMake): MadeToken {
    const createdMs = Math.trunc(this.#clock.nowMs());
    const checked = { name: checkName(name), scopes: checkScopes(scopes), tenants: checkTenants(tenants) };
    if (expiresMs !== undefined && !(Number.isSafeInteger(expiresMs) && expiresMs > createdMs)) {
      throw new BadRequestError('a token expires in the future, at a Unix time in ms');
    }
    const { id, text } = newToken(this.#ids);
    const hash = hashOf(text).toString('hex');
    return {
      token: text,
      record: { id, ...checked, hash, createdMs, ...(expiresMs ? { expiresMs } : {}) },
    };
  }

  /** Oldest first, with those that ended in the last 30 days. */
  async list(): Promise<readonly TokenRecord[]> {
    const records = await this.#tokens.list();
    return [...records].sort((a, b) => a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1));
  }

  /** The record, revoked; one that was stays as it was. Throws ClientError 404, and 409 where others always came first. */
  async revoke(id: string): Promise<TokenRecord> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const stored = isTokenId(id) ? await this.#tokens.get(id) : undefined;
      if (stored === undefined) throw new ClientError(404, 'there is no such token');
      if (stored.record.revokedMs !== undefined) return stored.record;
      const record = { ...stored.record, revokedMs: Math.trunc(this.#clock.nowMs()) };
      if (await this.#tokens.replace(stored.version, record)) return record;
    }
    throw new ClientError(409, 'the token changes all the time, try again');
  }
}

function checkName(name: string): string {
  if (name === '' || name.length > MAX_NAME_CHARACTERS || CONTROL.test(name) || !name.isWellFormed()) {
    throw new BadRequestError(
      `a token has a name of 1 to ${MAX_NAME_CHARACTERS} characters without control characters`,
    );
  }
  return name;
}

function checkScopes(scopes: readonly string[]): readonly Scope[] {
  const strange = scopes.find(scope => !isScope(scope));
  if (scopes.length === 0 || strange !== undefined) {
    const what =
      strange === undefined ? 'a token needs a scope' : `there is no scope ${JSON.stringify(strange)}`;
    throw new BadRequestError(`${what}; scopes are ${SCOPES.join(', ')}`);
  }
  return SCOPES.filter(scope => scopes.includes(scope));
}

function checkTenants(tenants: readonly string[]): readonly string[] {
  const distinct = [...new Set(tenants)].sort();
  if (distinct.length === 0) throw new BadRequestError("a token needs a tenant, or '*' for all");
  if (distinct.includes(ALL_TENANTS)) {
    if (distinct.length > 1)
      throw new BadRequestError("'*' stands for all tenants; do not name others with it");
    return distinct;
  }
  if (distinct.length > MAX_TENANTS) {
    throw new BadRequestError(`too many tenants: ${distinct.length}, limit: ${MAX_TENANTS}`);
  }
  for (const tenant of distinct) {
    if (tenant === '') throw new BadRequestError('a tenant has a name');
    checkTenantId(tenant);
  }
  return distinct;
}
