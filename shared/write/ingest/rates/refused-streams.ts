/** Takes single streams out of a push that is to be stored, and counts what went with them. */
import type { ClientError } from '../../../base/model/errors.ts';
import type { Steps } from '../../../base/model/steps.ts';
import type { PushResult } from '../accept.ts';

export type RateReason = 'rate_limited' | 'per_stream_rate_limit' | 'stream_limit';

/** Entries of streams of one policy that are refused for one reason. */
export interface RateDiscard {
  readonly reason: RateReason;
  readonly policy: string;
  lines: number;
  /** Line and metadata bytes. */
  bytes: number;
}

/** What of a push may be stored. */
export interface Admission {
  /** Places of entries, ascending. */
  readonly entries: Uint32Array;
  /** Why others may not; goes before what validation found. */
  readonly error: ClientError | undefined;
  readonly discards: readonly RateDiscard[];
}

/** Of a step: 0.2 ms. */
const STREAMS_A_STEP = 1024;
const ENTRIES_A_STEP = 32_768;

export const NO_DISCARDS: readonly RateDiscard[] = [];

/** All that would be stored, by policy. */
export function discardAll({ totals, policyOf }: PushResult, reason: RateReason): readonly RateDiscard[] {
  const discards = new RateDiscards();
  for (let stream = 0; stream < policyOf.length; stream++) {
    discards.add(reason, policyOf[stream], totals.entries[stream], bytesOfStream(totals, stream));
  }
  return discards.all();
}

/**
 * Entries without those of the refused streams. Lowers `totals` to what is left, and counts the rest.
 *
 * @param refused reason by the place of a stream
 */
export function* withoutStreams(
  { accepted, totals, policyOf }: PushResult,
  refused: ReadonlyMap<number, RateReason>,
): Steps<{ readonly entries: Uint32Array; readonly discards: readonly RateDiscard[] }> {
  const { entries, columns } = accepted;
  const isRefused = new Uint8Array(columns.streams.length);
  const discards = new RateDiscards();
  let left = STREAMS_A_STEP;
  for (const [stream, reason] of refused) {
    if (--left === 0) {
      left = STREAMS_A_STEP;
      yield;
    }
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

/** A few reasons times a few policies. */
class RateDiscards {
  private readonly byKey = new Map<string, RateDiscard>();

  add(reason: RateReason, policy: string, lines: number, bytes: number): void {
    if (lines === 0) return;
    const key = `${reason} ${policy}`;
    const discard = this.byKey.get(key);
    if (discard === undefined) this.byKey.set(key, { reason, policy, lines, bytes });
    else {
      discard.lines += lines;
      discard.bytes += bytes;
    }
  }

  all(): readonly RateDiscard[] {
    return [...this.byKey.values()];
  }
}
