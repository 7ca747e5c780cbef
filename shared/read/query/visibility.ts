/**
 * Decides which stored entries of a tenant a query may show: nothing that a delete request covers, and
 * nothing expired. Each tenant of a query has its own rules. They are read once per query, before the
 * catalog. A request that is processed meanwhile therefore keeps its delete filter (delete-request.ts).
 */

import type { Limits } from '../../base/model/limits.ts';
import type { DeleteFilterSource, TenantDeleteFilters } from '../../upkeep/deletion/delete-filters.ts';
import { type DayRetention, retentionOfDay } from '../../upkeep/retention/day-retention.ts';
import { KEPT_FOR_GOOD, type Retention, retentionOf } from '../../upkeep/retention/retention.ts';
import { named } from './tenant-view.ts';

export interface Visible {
  /** Undefined if no request hides anything. */
  readonly deleteFilters: TenantDeleteFilters | undefined;
  readonly retention: Retention;
  /** Time at which the query read the clock. */
  readonly nowNs: bigint;
}

interface VisibilityParts {
  readonly deleteFilters: DeleteFilterSource;
  /** Limits of one tenant, not of all tenants of a query together. */
  limitsOf(tenant: string): Limits;
  /** `compactor.retention_enabled`: if false, nothing is hidden and nothing expires. */
  readonly enabled: boolean;
}

export const ALL_VISIBLE: Visible = Object.freeze({
  deleteFilters: undefined,
  retention: KEPT_FOR_GOOD,
  nowNs: 0n,
});

/** Returns the visibility of a tenant. */
export type VisibleOf = (tenant: string) => Visible;

export class Visibility {
  readonly #parts: VisibilityParts;

  constructor(parts: VisibilityParts) {
    this.#parts = parts;
  }

  /** Returns delete requests and retention. Throws errors of the table. */
  async of(tenants: readonly string[], nowNs: bigint): Promise<VisibleOf> {
    const { enabled, limitsOf, deleteFilters: source } = this.#parts;
    if (!enabled) return () => ALL_VISIBLE;
    const pairs = named(tenants).map(async (tenant): Promise<[string, Visible]> => {
      const limits = limitsOf(tenant);
      const deleteFilters = limits.deletionMode === 'disabled' ? undefined : await source.filtersOf(tenant);
      const visible = {
        deleteFilters: deleteFilters?.isEmpty ? undefined : deleteFilters,
        retention: retentionOf(limits, enabled),
        nowNs,
      };
      return [tenant, visible];
    });
    const byTenant = new Map(await Promise.all(pairs));
    return tenant => byTenant.get(tenant) ?? ALL_VISIBLE;
  }

  /** Returns only retention: entries hidden by requests still show their labels. */
  retained(nowNs: bigint): VisibleOf {
    const { enabled, limitsOf } = this.#parts;
    if (!enabled) return () => ALL_VISIBLE;
    return tenant => ({ deleteFilters: undefined, retention: retentionOf(limitsOf(tenant), enabled), nowNs });
  }
}

/** Undefined if nothing of the day is expired. */
export function keptOfDay({ retention, nowNs }: Visible, day: number): DayRetention | undefined {
  return retentionOfDay(retention, nowNs, day);
}
