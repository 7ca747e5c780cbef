/** What a question is asked about, and the two bounds that its answer must lie between. */
import type { KnownEntry, Model } from '../model.ts';
import type { SimulatedProcess } from '../process.ts';

export const NS_PER_SECOND = 1_000_000_000n;

/** A log selection with what it means. */
export interface Selection {
  readonly text: string;
  readonly holds: (entry: KnownEntry) => boolean;
}

/** Start inclusive, end exclusive, Unix ns. */
export interface Span {
  readonly startNs: bigint;
  readonly endNs: bigint;
}

export interface Asked {
  readonly process: SimulatedProcess;
  readonly model: Model;
  readonly tenant: string;
  /** All times that entries of the run can have. */
  readonly whole: Span;
}

export interface Bounds {
  /** Must be in the answer: acknowledged before it began. */
  readonly lower: readonly KnownEntry[];
  /** May be in it; to be asked when it has ended. */
  readonly upper: () => readonly KnownEntry[];
}

/** The bounds of an answer that begins now. */
export function boundsOf({ model, tenant }: Asked, holds: (entry: KnownEntry) => boolean): Bounds {
  const began = model.now();
  const known = model.entries(tenant);
  const lower = [...known.values()].filter(entry => entry.acknowledgedAt <= began && holds(entry));
  return { lower, upper: () => [...known.values()].filter(holds) };
}

export const isIn =
  ({ startNs, endNs }: Span) =>
  ({ ns }: KnownEntry): boolean =>
    ns >= startNs && ns < endNs;
