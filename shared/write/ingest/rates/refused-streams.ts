/** Removes single streams from a push that is to be stored, and counts their entries. */
import type { ClientError } from '../../../base/model/errors.ts';
import type { Steps } from '../../../base/model/steps.ts';
import type { PushResult } from '../accept.ts';

/** Reasons for refusing single streams of a push. */
export const STREAM_REASONS = ['stream_limit', 'per_stream_rate_limit'] as const;
export type StreamLimitReason = (typeof STREAM_REASONS)[number];
type RateReason = 'rate_limited' | StreamLimitReason;

/**
 * Refused streams as typed arrays, because up to 100,000 streams of a push may be refused, and the decision
 * comes from another thread.
 */
export interface RefusedStreams {
  /** Indexes of the streams in the push. */
  readonly indexes: Uint32Array;
  /** Reason of each stream, as an index in STREAM_REASONS. */
  readonly reasons: Uint8Array;
}

/** Entries of streams of one policy that are refused for one reason. */
interface RateDiscard {
  readonly reason: RateReason;
  readonly policy: string;
  lines: number;
  /** Line and metadata bytes. */
  bytes: number;
}

/** Entries of a push that may be stored. */
export interface Admission {
  /** Indexes of entries, ascending. */
  readonly entries: Uint32Array;
  /** Reason for refusing the others. It has precedence over errors of validation. */
  readonly error: ClientError | undefined;
  readonly discards: readonly RateDiscard[];
}

/** Streams per step: 0.2 ms. */
const STREAMS_A_STEP = 1024;
const ENTRIES_A_STEP = 32_768;

export const NO_DISCARDS: readonly RateDiscard[] = [];

/** Discards all entries that would be stored, by policy. */
export function discardAll({ totals, policyOf }: PushResult, reason: RateReason): readonly RateDiscard[] {
  const discards = new RateDiscards();
  for (let stream = 0; stream < policyOf.length; stream++) {
    discards.add(reason, policyOf[stream], totals.entries[stream], bytesOfStream(totals, stream));
  }
  return discards.all();
}

/** Returns the entries without those of refused streams. Lowers `totals` to them, and counts the others. */
export function* withoutStreams(
  { accepted, totals, policyOf }: PushResult,
  refused: RefusedStreams,
): Steps<{ readonly entries: Uint32Array; readonly discards: readonly RateDiscard[] }> {
  const { entries, columns } = accepted;
  const isRefused = new Uint8Array(columns.streams.length);
  const discards = new RateDiscards();
  for (let i = 0; i < refused.indexes.length; i++) {
    if (i % STREAMS_A_STEP === STREAMS_A_STEP - 1) yield;
    const stream = refused.indexes[i];
    const reason = STREAM_REASONS[refused.reasons[i]];
    isRefused[stream] = 1;
    discards.add(reason, policyOf[stream], totals.entries[stream], bytesOfStream(totals, stream));
    totals.entries[stream] = 0;
    totals.lineBytes[stream] = 0;
    totals.metadataBytes[stream] = 0;
  }
  const kept = new Uint32Array(entries.length);
  let count = 0;
  for (let i = 0; i < entries.length; i++) {
    if (isRefused[columns.streamOf[entries[i]]] === 0) kept[count++] = entries[i];
    if (i % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
  return { entries: kept.subarray(0, count), discards: discards.all() };
}

export function bytesOfStream({ lineBytes, metadataBytes }: PushResult['totals'], stream: number): number {
  return lineBytes[stream] + metadataBytes[stream];
}

/** Indexed by reason and policy, of which there are few. */
class RateDiscards {
  readonly #byKey = new Map<string, RateDiscard>();

  add(reason: RateReason, policy: string, lines: number, bytes: number): void {
    if (lines === 0) return;
    const key = `${reason} ${policy}`;
    const discard = this.#byKey.get(key);
    if (discard === undefined) this.#byKey.set(key, { reason, policy, lines, bytes });
    else {
      discard.lines += lines;
      discard.bytes += bytes;
    }
  }

  all(): readonly RateDiscard[] {
    return [...this.#byKey.values()];
  }
}
