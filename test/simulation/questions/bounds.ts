/** Subject of a query, and the two bounds of its response. */
import type { KnownEntry, Model } from '../model.ts';
import type { SimulatedProcess } from '../process.ts';
import type { Ledger } from '../removal/ledger.ts';

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
  /** Set in runs with delete requests and retention. */
  readonly ledger?: Ledger;
}

interface Bounds {
  /**
   * Must be in the response: acknowledged before it began, and not hidden. Read all three when it has ended.
   */
  readonly lower: () => readonly KnownEntry[];
  /** May be in it. */
  readonly upper: () => readonly KnownEntry[];
  /** The same if nothing were ever hidden. */
  readonly attempted: () => readonly KnownEntry[];
}

/** `labels`: what delete requests hide keeps its labels until it is removed. */
type Shown = 'entries' | 'labels';

/** The bounds of an answer that begins now. */
export function boundsOf(
  { model, tenant, ledger }: Asked,
  holds: (entry: KnownEntry) => boolean,
  shown: Shown = 'entries',
): Bounds {
  const began = model.now();
  const question = ledger?.question(tenant);
  const known = model.entries(tenant);
  const acknowledged = [...known.values()].filter(entry => entry.acknowledgedAt <= began && holds(entry));
  const attempted = () => [...known.values()].filter(holds);
  if (question === undefined) return { lower: () => acknowledged, upper: attempted, attempted };
  const isHidden = (entry: KnownEntry) =>
    question.isExpired(entry) ||
    question.isGone(entry.id) ||
    (shown === 'entries' && question.isDeleted(entry.id, entry));
  return {
    lower: () =>
      acknowledged.filter(entry => !question.mayBeExpired(entry) && !question.mayBeDeleted(entry.id, entry)),
    upper: () => attempted().filter(entry => !isHidden(entry)),
    attempted,
  };
}

export const isIn =
  ({ startNs, endNs }: Span) =>
  ({ ns }: KnownEntry): boolean =>
    ns >= startNs && ns < endNs;
