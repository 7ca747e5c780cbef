/**
 * Rows of a tenant's chunks that a merge omits: rows of accepted delete requests, and expired rows. Queries
 * hide the rows of requests that can still be canceled, but merges keep them.
 *
 * Pitfall: `asOfMs` is taken before the requests are read. A request that is accepted later has a later date
 * (delete-times.ts), so its rows are searched in the output again. If accepted requests must not be applied
 * because the tenant's mode has changed, `asOfMs` is not later than their dates.
 */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import type { Limits } from '../../base/model/limits.ts';
import { NS_PER_MS } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import type { DeleteRequests } from '../../storage/catalog/delete-requests.ts';
import {
  type AppliedRequest,
  DeleteCanceledError,
  type DropSource,
  type RowDrops,
} from '../compaction/row-drops.ts';
import { retentionOf } from '../retention/retention.ts';
import { retentionFilter } from '../retention/retention-filter.ts';
import { compileDeleteFilters } from './delete-filters.ts';

/** Interval for checking whether a request was canceled during a merge, which makes its output useless. */
const CHECK_EVERY_MS = 5000;

/** Limits that decide what may be removed. */
type RemovalLimits = Pick<Limits, 'deletionMode' | 'retentionPeriodNs' | 'retentionStream'>;

export interface MergeDropsParts {
  readonly deletes: DeleteRequests;
  readonly clock: Clock;
  limitsOf(tenant: string): RemovalLimits;
  /** If false, nothing is deleted and nothing expires. */
  readonly isEnabled: boolean;
}

export class MergeDrops implements DropSource {
  readonly #parts: MergeDropsParts;

  constructor(parts: MergeDropsParts) {
    this.#parts = parts;
  }

  async dropsOf(tenant: string): Promise<RowDrops> {
    const { deletes, clock, limitsOf, isEnabled } = this.#parts;
    const nowMs = Math.trunc(clock.nowMs());
    const retention = retentionOf(limitsOf(tenant), isEnabled);
    const version = await deletes.version(tenant);
    const pickedUp = version === 0 ? [] : (await deletes.list(tenant)).filter(isPickedUp);
    const applies = isEnabled && limitsOf(tenant).deletionMode === 'filter-and-delete';
    const requests = applies ? pickedUp : [];
    const asOfMs = applies
      ? nowMs
      : Math.min(nowMs, ...pickedUp.map(({ pickedUpMs }) => pickedUpMs ?? nowMs));
    const deleteFilters = compileDeleteFilters(requests, { clock });
    const deletesOf = (record: ChunkRecord) => deleteFilters.forChunk(record);
    const expiredOf = (record: ChunkRecord) => retentionFilter(retention, record, BigInt(nowMs) * NS_PER_MS);
    let checkedMs = nowMs;
    let known = version;
    const applied = requests.map(({ id, endNs }) => ({ id, endNs: `${endNs}` }));
    return {
      asOfMs,
      applied,
      deletesOf,
      of: record => both(deletesOf(record), expiredOf(record)),
      check: async () => {
        if (requests.length === 0 || clock.nowMs() - checkedMs < CHECK_EVERY_MS) return;
        checkedMs = clock.nowMs();
        const now = await deletes.version(tenant);
        if (now === known) return;
        if (!(await this.areInForce(tenant, applied))) throw new DeleteCanceledError(tenant);
        known = now;
      },
    };
  }

  async areInForce(tenant: string, applied: readonly AppliedRequest[]): Promise<boolean> {
    if (applied.length === 0) return true;
    const left = new Map((await this.#parts.deletes.list(tenant)).map(request => [request.id, request]));
    return applied.every(({ id, endNs }) => {
      const request = left.get(id);
      return request !== undefined && isPickedUp(request) && `${request.endNs}` === endNs;
    });
  }

  expiredBeforeNs(tenant: string): bigint | undefined {
    const { limitsOf, isEnabled, clock } = this.#parts;
    const { longestNs } = retentionOf(limitsOf(tenant), isEnabled);
    return longestNs === 0n ? undefined : clock.nowNs() - longestNs;
  }
}

/** True while work on the request is in progress: its rows may be removed, and some may remain. */
function isPickedUp({ pickedUpMs, processedMs }: DeleteRequest): boolean {
  return pickedUpMs !== undefined && processedMs === undefined;
}

function both(one: ChunkRowFilter | undefined, two: ChunkRowFilter | undefined): ChunkRowFilter | undefined {
  if (one === undefined || two === undefined) return one ?? two;
  return {
    mayTouch: stream => one.mayTouch(stream) || two.mayTouch(stream),
    hide: (rows, selection, count) => two.hide(rows, selection, one.hide(rows, selection, count)),
  };
}
