/**
 * Delete requests of a tenant: create, list and cancel. Every change raises the cache generation number
 * afterwards, so that clients drop cached results. If it were raised before, they could cache old results
 * under the new number.
 */

import { formatGoDuration } from '../../base/model/duration.ts';
import { BadRequestError, ClientError } from '../../base/model/errors.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../storage/catalog/delete-request.ts';
import { DeleteRequestIdTakenError, type DeleteRequests } from '../../storage/catalog/delete-requests.ts';
import type { GenerationNumbers } from '../../storage/catalog/generation-numbers.ts';
import { countParts } from './delete-parts.ts';

/** Bytes of an ID: 8 hex digits. */
const ID_BYTES = 4;
/**
 * Attempts to find a free ID. With 11,000 requests of a tenant, one of 400,000 IDs is in use, so a second
 * collision in a row does not happen.
 */
const MAX_IDS = 10;
/** Attempts to cancel. A request changes a few times a minute while it is processed. */
const MAX_CANCELS = 10;

export interface NewDeleteRequest {
  /** Query text that was parsed as a log query. */
  readonly query: string;
  /** Unix ns, both inclusive. */
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** See DeleteRequest. */
  readonly intervalNs: bigint;
}

interface DeleteServiceParts {
  readonly deletes: DeleteRequests;
  readonly generations: GenerationNumbers;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Age in ms from which a request can only be canceled with force. */
  readonly cancelPeriodMs: number;
  /** Called for each created request. */
  readonly onCreated?: (tenant: string) => void;
}

/** IDs have 8 characters, and table keys at most 1,024 bytes. */
const MAX_ID_CHARACTERS = 64;

export class DeleteService {
  readonly #parts: DeleteServiceParts;

  constructor(parts: DeleteServiceParts) {
    this.#parts = parts;
  }

  /**
   * Resolves to the ID. From then on, queries hide the covered rows. Throws BadRequestError if the tenant has
   * too many requests.
   */
  async create(tenant: string, { query, startNs, endNs, intervalNs }: NewDeleteRequest): Promise<string> {
    const { deletes, generations, clock, ids } = this.#parts;
    const request = {
      tenant,
      query,
      startNs,
      endNs,
      intervalNs,
      createdMs: Math.trunc(clock.nowMs()),
      ...NOT_BEGUN,
    };
    for (let attempt = 1; ; attempt++) {
      const id = ids.randomHex(ID_BYTES);
      try {
        await deletes.create({ ...request, id });
        await generations.increase(tenant);
        this.#parts.onCreated?.(tenant);
        return id;
      } catch (error) {
        if (!(error instanceof DeleteRequestIdTakenError) || attempt === MAX_IDS) throw error;
      }
    }
  }

  /** Sorted by creation time. With a range (Unix ns, both inclusive), only requests that overlap it. */
  async list(
    tenant: string,
    range?: { readonly startNs: bigint; readonly endNs: bigint },
  ): Promise<readonly DeleteRequest[]> {
    const requests = await this.#parts.deletes.list(tenant);
    if (range === undefined) return requests;
    return requests.filter(({ startNs, endNs }) => startNs <= range.endNs && endNs >= range.startNs);
  }

  /**
   * Cancels the request. Rows removed before stay removed. A request with finished parts stays in the list as
   * processed, up to the last finished part (docs/dev/wire-format.md#cancel-a-request). Throws ClientError 404 and 400.
   */
  async cancel(tenant: string, id: string, { force }: { readonly force: boolean }): Promise<void> {
    const { deletes, generations } = this.#parts;
    const tooMany = (): Error =>
      new ThrottledError(`too many concurrent changes to delete request ${id} of ${tenant}; retry`);
    await repeatConflicts({ maxTries: MAX_CANCELS, tooMany }, async () => {
      const request = mayBeId(id) ? await deletes.find(tenant, id) : undefined;
      if (request === undefined) throw new ClientError(404, 'could not find delete request with given id');
      this.#checkMayCancel(request, force);
      const rest = this.#doneOf(request);
      const isChanged =
        rest === undefined ? await deletes.remove(request) : await deletes.replace(request, rest);
      return isChanged ? undefined : CONFLICT;
    });
    await generations.increase(tenant);
  }

  /** Cuts the request to its finished parts; `undefined` without finished parts. */
  #doneOf(request: DeleteRequest): DeleteRequest | undefined {
    const { doneToNs, endNs, sealedMs } = request;
    if (doneToNs === undefined || countParts(request).done === 0) return undefined;
    const nowMs = Math.trunc(this.#parts.clock.nowMs());
    const processed = {
      ...request,
      sealedMs: sealedMs ?? nowMs,
      processedMs: nowMs,
      canceled: true as const,
    };
    return doneToNs < endNs ? { ...processed, endNs: doneToNs } : processed;
  }

  #checkMayCancel({ processedMs, pickedUpMs, createdMs }: DeleteRequest, force: boolean): void {
    if (processedMs !== undefined) {
      throw new BadRequestError(
        'deletion of request which is in process or already processed is not allowed',
      );
    }
    const { clock, cancelPeriodMs } = this.#parts;
    const isLate = pickedUpMs !== undefined || clock.nowMs() - createdMs > cancelPeriodMs;
    if (!isLate || force) return;
    const period = formatGoDuration(BigInt(cancelPeriodMs) * NS_PER_MS);
    throw new BadRequestError(
      'Cancellation of partially completed delete request or delete request past the deadline of ' +
        `${period} since its creation is not allowed. To force, use the ?force query parameter`,
    );
  }
}

function mayBeId(id: string): boolean {
  return id !== '' && id.length <= MAX_ID_CHARACTERS;
}
