/**
 * Access tokens: scopes and tenants of each. A record holds the hash of its token, never the token. A leaked copy of
 * the table therefore contains no usable token.
 *
 *     a/tokens   <id>    a token; the item expires some time after the token
 *     a/first    token   time when the first token of a deployment was created; its version is that time, Unix ms
 */
import type { Scope } from '../../base/model/scopes.ts';
import { MS_PER_DAY } from '../../base/model/time-units.ts';
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';

export interface TokenRecord {
  readonly id: string;
  /** Human-readable name. */
  readonly name: string;
  /** SHA-256 of the token's whole text, hex. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Tenant names, or only ALL_TENANTS. */
  readonly tenants: readonly string[];
  readonly createdMs: number;
  /** Undefined if the token never expires. */
  readonly expiresMs?: number | undefined;
  readonly revokedMs?: number | undefined;
  /** UTC day since 1970-01-01 of the last use, written once a day. */
  readonly lastUsedDay?: number | undefined;
}

export interface StoredToken {
  readonly record: TokenRecord;
  readonly version: number;
}

/** Maximum number of tokens: the list of tokens is read as a whole. */
export const MAX_TOKENS = 10_000;
/** Time for which an ended token is still listed, ms. */
export const ENDED_KEPT_MS = 30 * MS_PER_DAY;
/** Partition of the tokens. A function that verifies tokens needs access only to this partition. */
const TOKENS_PARTITION = 'a/tokens';

const FIRST_KEY = { pk: 'a/first', sk: 'token' };

export class Tokens {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  async get(id: string): Promise<StoredToken | undefined> {
    const item = await this.#table.get(keyOf(id));
    return item && { record: decode(item.body), version: item.version };
  }

  /** Tokens ordered by ID, including recently ended ones. */
  async list(): Promise<readonly TokenRecord[]> {
    const found: TokenRecord[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(TOKENS_PARTITION, { after });
      for (const { body } of page.items) found.push(decode(body));
      after = page.next;
    } while (after !== undefined && found.length <= MAX_TOKENS);
    return found;
  }

  /** Throws ConditionFailedError if the ID exists, which is practically impossible with 64 random bits. */
  async add(record: TokenRecord): Promise<void> {
    await this.#table.put(itemOf(record, 0), { kind: 'absent' });
  }

  /** Adds the first token of a deployment. False if a first token was ever added before, even if it is gone. */
  async addFirst(record: TokenRecord): Promise<boolean> {
    const condition = { kind: 'absent' } as const;
    const first = { ...FIRST_KEY, version: record.createdMs, body: new Uint8Array(0) };
    try {
      await this.#table.transact([
        { kind: 'put', item: first, condition },
        { kind: 'put', item: itemOf(record, 0), condition },
      ]);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }

  /** Time at which the first token was added, Unix ms; undefined before. */
  async firstAddedMs(): Promise<number | undefined> {
    return (await this.#table.get(FIRST_KEY))?.version;
  }

  /** Writes unless another process wrote since `version` was read; false then. */
  async replace(version: number, record: TokenRecord): Promise<boolean> {
    try {
      await this.#table.put(itemOf(record, version + 1), { kind: 'version', version });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }
}

function itemOf(record: TokenRecord, version: number) {
  const { expiresMs = Number.POSITIVE_INFINITY, revokedMs = Number.POSITIVE_INFINITY } = record;
  const endMs = Math.min(expiresMs, revokedMs);
  const expiresAt = Number.isFinite(endMs) ? Math.ceil((endMs + ENDED_KEPT_MS) / 1000) : undefined;
  return { ...keyOf(record.id), version, body: Buffer.from(JSON.stringify(record)), expiresAt };
}

function decode(body: Uint8Array): TokenRecord {
  return JSON.parse(Buffer.from(body).toString()) as TokenRecord;
}

function keyOf(id: string) {
  return { pk: TOKENS_PARTITION, sk: id };
}
