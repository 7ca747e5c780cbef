/** One tail that is being served: its subscription, its query, what waits for its client. */
import { startedMsOf } from '../../storage/catalog/chunk-id.ts';
import type { Subscription } from '../../storage/catalog/subscriptions.ts';
import { COVERED_MS } from './bounds.ts';
import type { Outbox } from './outbox.ts';
import type { TailEntry } from './tail-entry.ts';
import type { TailQuery } from './tail-query.ts';

export class LiveTail {
  /** Without the ids that its lookback covers. */
  readonly subscription: Subscription;
  readonly query: TailQuery;
  readonly outbox: Outbox;
  /** Until its lookback is posted. */
  joining: Promise<void> | undefined;
  /** Unix ms. */
  renewedMs: number;
  /** Ids of chunks that its lookback has; one set for all that joined together. */
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

  /** Those that its lookback has not. */
  ownOf(entries: readonly TailEntry[]): readonly TailEntry[] {
    if (this.covered.size === 0) return entries;
    return entries.filter(({ chunkId }) => !this.covered.has(chunkId));
  }

  /** Ids that no log can bring any more. */
  forgetCovered(nowMs: number): void {
    for (const id of this.covered) if (startedMsOf(id) < nowMs - COVERED_MS) this.covered.delete(id);
  }
}
