/**
 * Counts entries of a push that are not stored, by reason and policy, for the metrics of docs/dev/wire-format.md#metrics.
 */
import type { BlockReason } from './blocked-ingestion.ts';
import type { EntryReason } from './entry-errors.ts';
import type { StreamReason } from './validate-stream.ts';

type DiscardReason = StreamReason | BlockReason | EntryReason;

export interface Discard {
  readonly reason: DiscardReason;
  /** Policy of the streams. Empty if none applies. */
  readonly policy: string;
  readonly entries: number;
  /** Line and metadata bytes. */
  readonly bytes: number;
}

type DiscardCount = { -readonly [K in keyof Discard]: Discard[K] };

/** The maps stay small: a push has a few policies, and there are a dozen reasons. */
export class Discards {
  readonly #byPolicy = new Map<string, Map<DiscardReason, DiscardCount>>();

  /** Counts one entry. */
  add(reason: DiscardReason, policy: string, bytes: number): void {
    let counts = this.#byPolicy.get(policy);
    if (counts === undefined) this.#byPolicy.set(policy, (counts = new Map()));
    const count = counts.get(reason);
    if (count === undefined) counts.set(reason, { reason, policy, entries: 1, bytes });
    else {
      count.entries++;
      count.bytes += bytes;
    }
  }

  all(): readonly Discard[] {
    return [...this.#byPolicy.values()].flatMap(counts => [...counts.values()]);
  }
}
