/**
 * Access tokens: who may do what with which tenants. A record holds the hash of its token, never the token, so that whoever
 * reads the table or a copy of it can use none of them.
 *
 *     a/tokens   <id>    a token; it vanishes some time after it has ended
 *     a/first    token   when the first token of a deployment was made; its version is that time, Unix ms
 */
import type { Scope } from '../../base/model/scopes.ts';
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';

export interface TokenRecord {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** SHA-256 of the token's whole text, hex. */
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Names, or ALL_TENANTS alone. */
  readonly tenants: readonly string[];
  readonly createdMs: number;
  /** Undefined: it never expires by itself. */
  readonly expiresMs?: number | undefined;
  readonly revokedMs?: number | undefined;
  /** UTC day since 1970-01-01 on which it was used last, written once a day. */
  readonly lastUsedDay?: number | undefined;
}

export interface StoredToken {
  readonly record: TokenRecord;
  readonly version: number;
}

/** A list of tokens is read at once, and each needs somebody to look after it. */
export const MAX_TOKENS = 10_000;
/** How long a token that has ended is still listed. */
export const ENDED_KEPT_MS = 30 * 86_400_000;
/** A function that verifies tokens needs rights to this partition alone. */
export const TOKENS_PARTITION = 'a/tokens';

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

  /** By id, those that ended lately included. */
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

  /** Throws ConditionFailedError where the id is taken, which 64 random bits are not. */
  async add(record: TokenRecord): Promise<void> {
    await this.#table.put(itemOf(record, 0), { kind: 'absent' });
  }

  /** Adds the first token of a deployment. False where one was added so before, whatever became of it. */
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

  /** When the first token was added, Unix ms; undefined before. */
  async firstAddedMs(): Promise<number | undefined> {
    return (await this.#table.get(FIRST_KEY))?.version;
  }

  /** Writes unless somebody else did since `version` was read; false then. */
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
