/** Entries of a push that are not stored, counted by reason and policy for the metrics of docs/dev/wire-format.md#metrics. */
import type { BlockReason } from './blocked-ingestion.ts';
import type { EntryReason } from './entry-errors.ts';
import type { StreamReason } from './validate-stream.ts';

export type DiscardReason = StreamReason | BlockReason | EntryReason;

export interface Discard {
  readonly reason: DiscardReason;
  /** Of the streams; empty where none applies. */
  readonly policy: string;
  readonly entries: number;
  /** Line and metadata bytes. */
  readonly bytes: number;
}

type Count = { -readonly [K in keyof Discard]: Discard[K] };

/** A push has a few policies at most, and reasons are a dozen: the maps stay small. */
export class Discards {
  readonly #byPolicy = new Map<string, Map<DiscardReason, Count>>();

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
