/**
 * Stores delete requests. delete-request.ts describes their life cycle.
 *
 *     v/<tenant>   deletes     how many there are; its version rises with every change of any of them
 *     e/<tenant>   <id>        a request that is not processed
 *     f/<tenant>   <id>        a processed one
 *     p/<shard>    <tenant>    a tenant with requests that are not processed
 *
 * Every write is one transaction that starts with the first item. One small read of a tenant's version therefore shows
 * whether anything changed.
 *
 * Pitfall: a cache that stores results under a version must read the version first. Its content is then at least as new
 * as the version.
 */
import { BadRequestError, invariant } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import { ConditionFailedError, type ItemKey, type Table, type Write } from '../../base/ports/table.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { type DeleteRequest, isHiding } from './delete-request.ts';
import { decodeDeleteRequest, encodeDeleteRequest } from './delete-request-codec.ts';
import { COMMON_SHARDS, shardOfText } from './keys.ts';

/**
 * Maximum number per tenant. Every query reads all of them after a change, and compaction applies each to its rewrites.
 */
export const MAX_UNPROCESSED_REQUESTS = 10_000;
/** Maximum stored bytes of the unprocessed requests, which a reader holds while it compiles them. */
export const MAX_UNPROCESSED_BYTES = 16 * 1024 * 1024;
/** Maximum number of processed requests. They are kept to be listed, and are read with the others. */
export const MAX_PROCESSED_REQUESTS = 1000;
/** Number removed together above the maximum, so that not every request pays for reading them. */
const FORGOTTEN_REQUESTS = 90;
/** Attempts of a write. Writers of one tenant conflict at its first item, and one of them succeeds each time. */
const MAX_TRIES = 50;
const TENANTS_OF_PAGE = 500;

/** Another request of the tenant has the ID. Nothing was written. */
export class DeleteRequestIdTakenError extends Error {
  constructor(id: string) {
    super(`delete request ${id} already exists`);
    this.name = 'DeleteRequestIdTakenError';
  }
}

/** The first item of a tenant. */
interface RequestsHead {
  /** 0 if there never was a request. */
  readonly version: number;
  readonly unprocessed: number;
  /** Bytes of the unprocessed requests. */
  readonly bytes: number;
  readonly processed: number;
}

const NO_HEAD: RequestsHead = { version: 0, unprocessed: 0, bytes: 0, processed: 0 };

/** Changes of a write to the numbers of the head. */
type HeadChange = Omit<RequestsHead, 'version'>;

interface RequestsUpdate {
  readonly change: HeadChange;
  /** Nothing is written if one of their conditions fails. */
  readonly writes: readonly Write[];
}

export class DeleteRequests {
  readonly #table: Table;
  readonly #clock: Clock;

  constructor({ table, clock }: { table: Table; clock: Clock }) {
    this.#table = table;
    this.#clock = clock;
  }

  /** All requests of a tenant in every state, by creation time. Canceled ones are deleted and not listed. */
  async list(tenant: string): Promise<readonly DeleteRequest[]> {
    const byId = new Map<string, DeleteRequest>();
    // Reads in this order: a request that is processed between the two reads is then seen twice instead of never.
    for (const pk of [unprocessedPartition(tenant), processedPartition(tenant)]) {
      for await (const request of this.#read(tenant, pk)) byId.set(request.id, request);
    }
    return [...byId.values()].sort(byAge);
  }

  /** One request of a tenant; undefined if it was canceled or never existed. */
  async find(tenant: string, id: string): Promise<DeleteRequest | undefined> {
    for (const pk of [unprocessedPartition(tenant), processedPartition(tenant)]) {
      const item = await this.#table.get({ pk, sk: id });
      if (item !== undefined) return decodeDeleteRequest(tenant, item.body);
    }
    return undefined;
  }

  /** Version that changes with every create, change and cancel of the tenant; 0 if there never was a request. */
  async version(tenant: string): Promise<number> {
    return (await this.#table.get(headKey(tenant)))?.version ?? 0;
  }

  /** Throws DeleteRequestIdTakenError, and BadRequestError if the tenant has too many requests. */
  async create(request: DeleteRequest): Promise<void> {
    const { tenant, id } = request;
    const body = encodeDeleteRequest(request);
    const isCreated = await this.#write(tenant, async ({ unprocessed, bytes }) => {
      checkRoom(unprocessed, bytes + body.length);
      return {
        change: { unprocessed: 1, bytes: body.length, processed: 0 },
        writes: [
          { kind: 'put', item: { ...keyOf(request), version: 0, body }, condition: { kind: 'absent' } },
          { kind: 'check', key: { pk: processedPartition(tenant), sk: id }, condition: { kind: 'absent' } },
        ],
      };
    });
    if (!isCreated) throw new DeleteRequestIdTakenError(id);
  }

  /**
   * Adds a request under the new name of a renamed tenant, in its current state. Keeps a request that exists already.
   */
  async adopt(request: DeleteRequest): Promise<void> {
    const { tenant, id } = request;
    const body = encodeDeleteRequest(request);
    const isProcessed = request.processedMs !== undefined;
    await this.#write(tenant, async () => {
      if ((await this.find(tenant, id)) !== undefined) return undefined;
      return {
        change: isProcessed
          ? { unprocessed: 0, bytes: 0, processed: 1 }
          : { unprocessed: 1, bytes: body.length, processed: 0 },
        writes: [
          { kind: 'put', item: { ...keyOf(request), version: 0, body }, condition: { kind: 'absent' } },
        ],
      };
    });
  }

  /** Replaces `before` with `after`; false if the stored request no longer equals `before`. */
  async replace(before: DeleteRequest, after: DeleteRequest): Promise<boolean> {
    invariant(before.id === after.id && before.tenant === after.tenant, `request ${before.id} stays itself`);
    const isProcessed = after.processedMs !== undefined;
    invariant(isProcessed || before.processedMs === undefined, `request ${before.id} stays processed`);
    const body = encodeDeleteRequest(after);
    const [from, to] = [keyOf(before), keyOf(after)];
    return this.#write(before.tenant, async head => {
      const stored = await this.#stored(before);
      if (stored === undefined) return undefined;
      const item = { ...to, version: stored.version + 1, body };
      const condition = { kind: 'version', version: stored.version } as const;
      if (from.pk === to.pk) {
        const bytes = isProcessed ? 0 : body.length - stored.bytes;
        return {
          change: { unprocessed: 0, bytes, processed: 0 },
          writes: [{ kind: 'put', item, condition }],
        };
      }
      const forgotten = await this.#tooMany(before.tenant, head);
      return {
        change: { unprocessed: -1, bytes: -stored.bytes, processed: 1 - forgotten.length },
        writes: [{ kind: 'delete', key: from, condition }, { kind: 'put', item }, ...forgotten],
      };
    });
  }

  /** Cancels a request; false if the stored request no longer equals `request`. */
  remove(request: DeleteRequest): Promise<boolean> {
    const isProcessed = request.processedMs !== undefined;
    return this.#write(request.tenant, async () => {
      const stored = await this.#stored(request);
      if (stored === undefined) return undefined;
      return {
        change: isProcessed
          ? { unprocessed: 0, bytes: 0, processed: -1 }
          : { unprocessed: -1, bytes: -stored.bytes, processed: 0 },
        writes: [
          { kind: 'delete', key: keyOf(request), condition: { kind: 'version', version: stored.version } },
        ],
      };
    });
  }

  /** Tenants with requests that are not processed. */
  async *tenants(): AsyncGenerator<string> {
    for (let shard = 0; shard < COMMON_SHARDS; shard++) {
      let after: string | undefined;
      do {
        const page = await this.#table.query(tenantsPartition(shard), { after, limit: TENANTS_OF_PAGE });
        for (const { sk } of page.items) yield sk;
        after = page.next;
      } while (after !== undefined);
    }
  }

  /** Writes one step together with the head. False if `plan` returns no step, or a condition of the step fails. */
  async #write(
    tenant: string,
    plan: (head: RequestsHead) => Promise<RequestsUpdate | undefined>,
  ): Promise<boolean> {
    const tooMany = () =>
      new ThrottledError(`too many concurrent changes to the delete requests of tenant ${tenant}; retry`);
    return repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const head = await this.#head(tenant);
      const step = await plan(head);
      if (step === undefined) return false;
      try {
        await this.#table.transact([...headWrites(tenant, head, step.change), ...step.writes]);
      } catch (error) {
        if (error instanceof ConditionFailedError && error.index > 1) return false;
        throw error;
      }
      await this.#raise(tenant, head.version + 1);
      return true;
    });
  }

  /**
   * Raises the version once more, in a separate write. A reader may see a transaction in parts: the raised head without
   * the request. Data cached under that version is older than the response; data cached under the next version is not.
   * If another writer changed the head since, its write began after the transaction ended.
   */
  async #raise(tenant: string, version: number): Promise<void> {
    const item = await this.#table.get(headKey(tenant));
    if (item?.version !== version) return;
    try {
      await this.#table.put({ ...item, version: version + 1 }, { kind: 'version', version });
    } catch (error) {
      if (!(error instanceof ConditionFailedError)) throw error;
    }
  }

  async #head(tenant: string): Promise<RequestsHead> {
    const item = await this.#table.get(headKey(tenant));
    if (item === undefined) return NO_HEAD;
    const numbers = JSON.parse(Buffer.from(item.body).toString()) as HeadChange;
    return { ...numbers, version: item.version };
  }

  /** Version and size of the item if it equals `request`. */
  async #stored(request: DeleteRequest): Promise<{ version: number; bytes: number } | undefined> {
    const item = await this.#table.get(keyOf(request));
    if (item === undefined || !encodeDeleteRequest(request).equals(item.body)) return undefined;
    return { version: item.version, bytes: item.body.length };
  }

  /** Selects the oldest processed requests above the maximum, except those that still hide rows. */
  async #tooMany(tenant: string, { processed }: RequestsHead): Promise<Write[]> {
    if (processed < MAX_PROCESSED_REQUESTS + FORGOTTEN_REQUESTS) return [];
    const nowMs = this.#clock.nowMs();
    const requests = await Array.fromAsync(this.#read(tenant, processedPartition(tenant)));
    return requests
      .filter(request => !isHiding(request, nowMs))
      .sort(byAge)
      .slice(0, FORGOTTEN_REQUESTS)
      .map(request => ({ kind: 'delete', key: keyOf(request), condition: { kind: 'present' } }));
  }

  async *#read(tenant: string, pk: string): AsyncGenerator<DeleteRequest> {
    let after: string | undefined;
    do {
      const page = await this.#table.query(pk, { after });
      for (const { body } of page.items) yield decodeDeleteRequest(tenant, body);
      after = page.next;
    } while (after !== undefined);
  }
}

/** Two writes: the head with its version raised, and the marker of unprocessed requests of the tenant. */
function headWrites(tenant: string, head: RequestsHead, change: HeadChange): Write[] {
  const unprocessed = head.unprocessed + change.unprocessed;
  const numbers: HeadChange = {
    unprocessed,
    bytes: head.bytes + change.bytes,
    processed: head.processed + change.processed,
  };
  const item = {
    ...headKey(tenant),
    version: head.version + 1,
    body: Buffer.from(JSON.stringify(numbers)),
  };
  const key = { pk: tenantsPartition(shardOfText(tenant)), sk: tenant };
  return [
    {
      kind: 'put',
      item,
      condition: head.version === 0 ? { kind: 'absent' } : { kind: 'version', version: head.version },
    },
    unprocessed > 0
      ? { kind: 'put', item: { ...key, version: 0, body: new Uint8Array(0) } }
      : { kind: 'delete', key },
  ];
}

function checkRoom(unprocessed: number, bytes: number): void {
  if (unprocessed >= MAX_UNPROCESSED_REQUESTS) {
    throw new BadRequestError(
      `too many delete requests are not processed yet: ${unprocessed}, limit: ${MAX_UNPROCESSED_REQUESTS}`,
    );
  }
  if (bytes > MAX_UNPROCESSED_BYTES) {
    throw new BadRequestError(
      `delete requests that are not processed yet would take ${bytes} bytes, limit: ${MAX_UNPROCESSED_BYTES}`,
    );
  }
}

function byAge(a: DeleteRequest, b: DeleteRequest): number {
  return a.createdMs - b.createdMs || (a.id < b.id ? -1 : 1);
}

function headKey(tenant: string): ItemKey {
  return { pk: `v/${tenant}`, sk: 'deletes' };
}

function keyOf({ tenant, id, processedMs }: DeleteRequest): ItemKey {
  const pk = processedMs === undefined ? unprocessedPartition(tenant) : processedPartition(tenant);
  return { pk, sk: id };
}

function unprocessedPartition(tenant: string): string {
  return `e/${tenant}`;
}

function processedPartition(tenant: string): string {
  return `f/${tenant}`;
}

function tenantsPartition(shard: number): string {
  return `p/${shard}`;
}
