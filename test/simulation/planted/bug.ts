/** A defect put into the store from outside: each process of a run is built with it. The product has no switch for any. */

import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import type { Table } from '../../../shared/base/ports/table.ts';
import type { Catalog, CatalogParts } from '../../../shared/storage/catalog/catalog.ts';
import type { DropSource } from '../../../shared/upkeep/compaction/row-drops.ts';
import type { DeleteFilterSource } from '../../../shared/upkeep/deletion/delete-filters.ts';
import type { MergeDropsParts } from '../../../shared/upkeep/deletion/merge-drops.ts';
import type { TenantDeletionParts } from '../../../shared/upkeep/deletion/tenant-deletion.ts';
import type { RetentionJobParts } from '../../../shared/upkeep/maintenance/retention-job.ts';
import type { GroupCommitParts, GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import type { PushService, PushServiceParts } from '../../../shared/write/ingest/push.ts';
import type { Dice } from '../dice.ts';

/** Parts of the retention job. */
export type RetentionParts = Pick<RetentionJobParts, 'rewriter' | 'limitsOf' | 'removedGraceMs'>;

export interface Bug {
  readonly name: string;
  /** Seeds within which a run must fail. */
  readonly maxSeeds: number;
  /** A seed that found it, tried before the others: if few of them do, the search takes seconds. */
  readonly knownSeed?: number;
  /** Names of the invariants of which one must be reported as broken. */
  readonly breaks: readonly string[];
  /** It shows only in runs that last over a day. */
  readonly needsRest?: boolean;
  /** It is visible only if transactions are seen in parts. */
  readonly needsParts?: boolean;
  readonly store?: (store: ObjectStore, dice: Dice) => ObjectStore;
  /** Table of the whole process. */
  readonly table?: (table: Table, dice: Dice) => Table;
  /** Table of its queries only. */
  readonly readTable?: (table: Table, dice: Dice) => Table;
  /** Catalog that its queries read, instead of `readTable`. */
  readonly readCatalog?: (parts: CatalogParts) => Catalog;
  /** Catalog of its maintenance. */
  readonly workCatalog?: (parts: CatalogParts, store: ObjectStore) => Catalog;
  readonly committer?: (parts: GroupCommitParts) => GroupCommitter;
  readonly pushes?: (parts: PushServiceParts) => PushService;
  /** It shows only in runs with delete requests and retention. */
  readonly needsRemoval?: boolean;
  /** Rows that merges drop. */
  readonly drops?: (parts: MergeDropsParts) => DropSource;
  /** Rows that its queries hide because of delete requests. */
  readonly deleteFilters?: (parts: ConstructorParameters<typeof DeleteFilterSource>[0]) => DeleteFilterSource;
  readonly deletion?: (parts: TenantDeletionParts) => TenantDeletionParts;
  readonly retention?: (parts: RetentionParts) => RetentionParts;
  /** Grace of the maintenance, ms, instead of the usual one. */
  readonly graceMs?: number;
}
