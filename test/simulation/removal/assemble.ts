/**
 * Parts of a simulated process that delete and hide entries, assembled as in the program, except for planted
 * bugs.
 */

import { Visibility } from '../../../shared/read/query/visibility.ts';
import type { DayRewriterParts } from '../../../shared/upkeep/compaction/day-rewriter.ts';
import { DeleteFilterSource } from '../../../shared/upkeep/deletion/delete-filters.ts';
import { DeleteService } from '../../../shared/upkeep/deletion/delete-service.ts';
import { DELETE_TIMES } from '../../../shared/upkeep/deletion/delete-times.ts';
import { MergeDrops } from '../../../shared/upkeep/deletion/merge-drops.ts';
import { TenantDeletion } from '../../../shared/upkeep/deletion/tenant-deletion.ts';
import type { Removal } from '../../../shared/upkeep/maintenance/maintenance.ts';
import type { Bug } from '../planted/bug.ts';
import type { TenantLimits } from './tenant-limits.ts';

export interface RemovalSettings {
  readonly limits: TenantLimits;
  /** Age from which only force cancels a request, ms. */
  readonly cancelPeriodMs: number;
  /** Maximum concurrent requests of a tenant. */
  readonly batchSize: number;
  /** Grace period of objects whose chunks are removed as a whole, ms. */
  readonly removedGraceMs: number;
}

interface Parts {
  readonly merging: Omit<DayRewriterParts, 'drops'>;
  readonly removal: RemovalSettings;
  readonly bug: Bug | undefined;
}

interface Removing {
  readonly deletes: DeleteService;
  readonly drops: DayRewriterParts['drops'];
  readonly visibility: Visibility;
  readonly jobs: Removal;
}

export function assembleRemoval({ merging, removal, bug }: Parts): Removing {
  const { catalog, store, clock, ids } = merging;
  const { limits, cancelPeriodMs, batchSize, removedGraceMs } = removal;
  const { deletes, generations } = catalog;
  const limitsOf = limits.of;
  const dropParts = { deletes, clock, limitsOf, isEnabled: true };
  const drops = bug?.drops?.(dropParts) ?? new MergeDrops(dropParts);
  const rewriter = { ...merging, drops };
  const deleteFilters =
    bug?.deleteFilters?.({ deletes, clock }) ?? new DeleteFilterSource({ deletes, clock });
  const deletion = {
    catalog,
    store,
    clock,
    rewriter,
    limitsOf,
    times: DELETE_TIMES,
    cancelPeriodMs,
    batchSize,
  };
  const retention = { rewriter, limitsOf, removedGraceMs };
  return {
    deletes: new DeleteService({ deletes, generations, clock, ids, cancelPeriodMs }),
    drops,
    visibility: new Visibility({ deleteFilters, limitsOf, enabled: true }),
    jobs: {
      deletion: new TenantDeletion(bug?.deletion?.(deletion) ?? deletion),
      retention: bug?.retention?.(retention) ?? retention,
    },
  };
}
