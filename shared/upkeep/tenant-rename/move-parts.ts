/** Types that the steps of a move share. */

import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Lease } from '../../storage/catalog/leases.ts';
import type { Tokens } from '../../storage/catalog/tokens.ts';
import type { UsageRecords } from '../../storage/catalog/usage-records.ts';

export interface MoveParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly usage: UsageRecords;
  readonly tokens: Tokens;
  readonly clock: Clock;
}

export interface MoveTotals {
  days: number;
  chunks: number;
  /** Number of chunks that are stored in their records. */
  inlineChunks: number;
  rows: number;
  /** Bytes of copied objects. */
  copiedBytes: number;
  deleteRequests: number;
  ruleGroups: number;
  savedItems: number;
  usageRecords: number;
  tokens: number;
}

/** A move in progress. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Lease of the whole move, so that two never run at the same time. */
  readonly lease: Lease;
  /** Renews the lease if it is due. Throws LeaseLostError. */
  readonly hold: () => Promise<void>;
  /** Time in ms for which the old objects stay, because earlier queries still read them. */
  readonly graceMs: number;
  readonly totals: MoveTotals;
  readonly progress: ((totals: Readonly<MoveTotals>) => void) | undefined;
}

/** A refusal that the operator can resolve. */
export class MoveRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefusedError';
  }
}
