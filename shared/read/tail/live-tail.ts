/** A tail that is being served: its subscription, its query, and its outbox. */
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import type { Subscription } from '../../storage/catalog/subscriptions.ts';
import { COVERED_MS } from './bounds.ts';
import type { Outbox } from './outbox.ts';
import type { TailEntry } from './tail-entry.ts';
import type { TailQuery } from './tail-query.ts';

export class LiveTail {
  /** The subscription without the IDs that its lookback covers. */
  readonly subscription: Subscription;
  readonly query: TailQuery;
  readonly outbox: Outbox;
  /** Set until its lookback is posted. */
  joining: Promise<void> | undefined;
  /** Unix ms. */
  renewedMs: number;
  /** IDs of chunks in its lookback. Tails that joined together share one set. */
  readonly covered: Set<string>;

  constructor(
    subscription: Subscription,
    { query, outbox, renewedMs, covered }: Pick<LiveTail, 'query' | 'outbox' | 'renewedMs' | 'covered'>,
  ) {
    const { covered: _, ...rest } = subscription;
    this.subscription = rest;
    this.query = query;
    this.outbox = outbox;
    this.renewedMs = renewedMs;
    this.covered = covered;
  }

  get coveredIds(): string[] {
    return [...this.covered];
  }

  /** Returns the entries that its lookback does not contain. */
  ownOf(entries: readonly TailEntry[]): readonly TailEntry[] {
    if (this.covered.size === 0) return entries;
    return entries.filter(({ chunkId }) => !this.covered.has(chunkId));
  }

  /** Removes IDs that no log can contain any more. */
  forgetCovered(nowMs: number): void {
    for (const id of this.covered) if (startedMsOf(id) < nowMs - COVERED_MS) this.covered.delete(id);
  }
}
