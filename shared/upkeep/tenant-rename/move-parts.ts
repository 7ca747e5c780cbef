/** What the steps of a move share. */

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
  /** Of the chunks, those that lie in their records. */
  inlineChunks: number;
  rows: number;
  /** Of the objects that were copied. */
  copiedBytes: number;
  deleteRequests: number;
  ruleGroups: number;
  savedItems: number;
  usageRecords: number;
  tokens: number;
}

/** One move under way. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Of the move as a whole: two never run at once. */
  readonly lease: Lease;
  /** Renews that lease where it is time. Throws LeaseLostError. */
  readonly hold: () => Promise<void>;
  /** How long the old objects stay, ms: queries that began before still read them. */
  readonly graceMs: number;
  readonly totals: MoveTotals;
  readonly progress: ((totals: Readonly<MoveTotals>) => void) | undefined;
}

/** What the person who asked can do something about. */
export class MoveRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'MoveRefusedError';
  }
}
