/**
 * Stores the states of rule groups in the table, compressed and split into parts because items are limited in size.
 *
 *     rs/<tenant>   <hash of namespace and name>/<part>   a part of the state; all have the version of the first
 *     rs//<shard>   <tenant>                              a tenant with states, its groups deleted or not
 *
 * A state is written in one transaction. It succeeds only if the writer holds the lease of the group and knows the
 * newest version.
 *
 * Pitfall: a query of parts is not a snapshot, so parts of two versions must be read again.
 */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  ConditionFailedError,
  type Item,
  MAX_ITEM_BODY_BYTES,
  type Table,
  type Write,
} from '../../base/ports/table.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { COMMON_SHARDS, shardOfText } from './keys.ts';
import { fencedBy, type Lease } from './leases.ts';
import type { GroupState, GroupStates } from './rule-group.ts';
import { decodeGroupRecord, encodeGroupRecord, type GroupRecord, newGroupRecord } from './rule-state.ts';

/** Maximum number of parts, below the limit of a transaction. Enough for about 50,000 alerts. */
const MAX_PARTS = 8;
/** Maximum decompressed bytes. A larger body is corrupt. */
const MAX_RECORD_BYTES = 256 * 1024 * 1024;
/** Reads before giving up. A reader occasionally meets a write in progress, but not ten times. */
const MAX_READS = 10;

export interface GroupKey {
  readonly tenant: string;
  readonly namespace: string;
  readonly name: string;
}

export interface LoadedRecord {
  readonly record: GroupRecord;
  /** -1 if no state exists yet. */
  readonly version: number;
  readonly parts: number;
}

/** The state of one group does not fit. The group needs fewer series or alerts. */
export class StateTooLargeError extends Error {
  constructor(bytes: number) {
    super(
      `the state of the rule group takes ${bytes} bytes, limit: ${MAX_PARTS * MAX_ITEM_BODY_BYTES}: it has too many alerts and series`,
    );
    this.name = 'StateTooLargeError';
  }
}

export class RuleStates implements GroupStates {
  readonly #table: Table;

  constructor({ table }: { readonly table: Table }) {
    this.#table = table;
  }

  async read(tenant: string, namespace: string, name: string): Promise<GroupState | undefined> {
    const { record, version } = await this.load({ tenant, namespace, name });
    return version < 0 ? undefined : record.state;
  }

  async load(key: GroupKey): Promise<LoadedRecord> {
    const found = await this.#loadHash(key.tenant, hashOf(key));
    return found ?? { record: newGroupRecord(key.namespace, key.name), version: -1, parts: 0 };
  }

  /** The saved record, or undefined if another process wrote or the lease is lost. Throws StateTooLargeError. */
  async save(
    tenant: string,
    { version, parts }: LoadedRecord,
    record: GroupRecord,
    lease: Lease,
  ): Promise<LoadedRecord | undefined> {
    const body = deflateRawSync(encodeGroupRecord(record), { level: 3 });
    const needed = Math.ceil(body.length / MAX_ITEM_BODY_BYTES);
    if (needed > MAX_PARTS) throw new StateTooLargeError(body.length);
    const pk = partition(tenant);
    const hash = hashOf({ ...record, tenant });
    const next = version + 1;
    const writes: Write[] = [fencedBy(lease)];
    for (let part = 0; part < needed; part++) {
      const item: Item = {
        pk,
        sk: partKey(hash, part),
        version: next,
        body: body.subarray(part * MAX_ITEM_BODY_BYTES, (part + 1) * MAX_ITEM_BODY_BYTES),
      };
      const condition = version < 0 ? ({ kind: 'absent' } as const) : ({ kind: 'version', version } as const);
      writes.push(part === 0 ? { kind: 'put', item, condition } : { kind: 'put', item });
    }
    for (let part = needed; part < parts; part++) {
      writes.push({ kind: 'delete', key: { pk, sk: partKey(hash, part) } });
    }
    if (version < 0) {
      const item = {
        pk: tenantsPartition(shardOfText(tenant)),
        sk: tenant,
        version: 0,
        body: new Uint8Array(0),
      };
      writes.push({ kind: 'put', item });
    }
    return (await this.#transact(writes)) ? { record, version: next, parts: needed } : undefined;
  }

  /** Deletes the state of a group. False if another process wrote or the lease is lost. */
  delete(tenant: string, { record, version, parts }: LoadedRecord, lease: Lease): Promise<boolean> {
    const hash = hashOf({ ...record, tenant });
    const pk = partition(tenant);
    const writes: Write[] = [fencedBy(lease)];
    for (let part = 0; part < parts; part++) {
      const key = { pk, sk: partKey(hash, part) };
      writes.push(
        part === 0
          ? { kind: 'delete', key, condition: { kind: 'version', version } }
          : { kind: 'delete', key },
      );
    }
    return this.#transact(writes);
  }

  /**
   * Tenants that have or had states. They stay listed, because a removal would race with the writer of the next state.
   */
  async tenants(): Promise<string[]> {
    const found: string[] = [];
    for (let shard = 0; shard < COMMON_SHARDS; shard++) {
      let after: string | undefined;
      do {
        const page = await this.#table.query(tenantsPartition(shard), { after });
        for (const { sk } of page.items) found.push(sk);
        after = page.next;
      } while (after !== undefined);
    }
    return found;
  }

  /** A tenant's groups with states that are not in `known`. */
  async orphans(tenant: string, known: readonly GroupKey[]): Promise<LoadedRecord[]> {
    const hashes = new Set<string>();
    let after: string | undefined;
    do {
      const page = await this.#table.query(partition(tenant), { after });
      for (const { sk } of page.items) hashes.add(sk.split('/', 1)[0]);
      after = page.next;
    } while (after !== undefined);
    for (const key of known) hashes.delete(hashOf(key));
    const found: LoadedRecord[] = [];
    for (const hash of hashes) {
      const loaded = await this.#loadHash(tenant, hash);
      if (loaded !== undefined) found.push(loaded);
    }
    return found;
  }

  async #loadHash(tenant: string, hash: string): Promise<LoadedRecord | undefined> {
    for (let reads = 0; reads < MAX_READS; reads++) {
      const items = await this.#parts(tenant, hash);
      if (items.length === 0) return undefined;
      const [{ version }] = items;
      if (!items.every((item, part) => item.version === version && item.sk === partKey(hash, part))) continue;
      try {
        const body = inflateRawSync(Buffer.concat(items.map(item => item.body)), {
          maxOutputLength: MAX_RECORD_BYTES,
        });
        return { record: decodeGroupRecord(body), version, parts: items.length };
      } catch (error) {
        // Rereads: a new part may be missing among old ones of the same number only during a write.
        if (reads === MAX_READS - 1) throw error;
      }
    }
    throw new ThrottledError(
      `too many concurrent changes to the state of a rule group of tenant ${tenant}; retry`,
    );
  }

  async #parts(tenant: string, hash: string): Promise<Item[]> {
    const items: Item[] = [];
    let after: string | undefined;
    do {
      const page = await this.#table.query(partition(tenant), { from: `${hash}/`, to: `${hash}0`, after });
      items.push(...page.items);
      after = page.next;
    } while (after !== undefined);
    return items;
  }

  async #transact(writes: readonly Write[]): Promise<boolean> {
    try {
      await this.#table.transact(writes);
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }
}

/** Hashes the names, because they may be long and contain any character, and keys may not. */
function hashOf({ tenant, namespace, name }: GroupKey): string {
  return createHash('sha256')
    .update(JSON.stringify([tenant, namespace, name]))
    .digest('hex')
    .slice(0, 32);
}

function partKey(hash: string, part: number): string {
  return `${hash}/${part}`;
}

function partition(tenant: string): string {
  return `rs/${tenant}`;
}

/** Partition name with an empty tenant, which no tenant has. */
function tenantsPartition(shard: number): string {
  return `rs//${shard}`;
}
