/**
 * Request and decision about the rate and stream limits of a push, and their effect on the push. Both are
 * plain data, because the push may be on another thread than the limits.
 */
import { type Pace, runPaced, type Steps, UNPACED } from '../../../base/model/steps.ts';
import { hashOfText } from '../../../base/model/text-hash.ts';
import type { PushResult } from '../accept.ts';
import { streamLimitError, streamRateError, tenantRateError } from './rate-errors.ts';
import {
  type Admission,
  bytesOfStream,
  discardAll,
  NO_DISCARDS,
  type RefusedStreams,
  STREAM_REASONS,
  type StreamLimitReason,
  withoutStreams,
} from './refused-streams.ts';

export interface RequestedRate {
  /** Number of entries that would be stored. */
  readonly lines: number;
  /** Bytes of their lines and metadata. */
  readonly bytes: number;
  /** Index in the push, hash (model/text-hash.ts), and bytes of each stream with such entries. */
  readonly indexes: Uint32Array;
  readonly hashes: Float64Array;
  readonly bytesOf: Float64Array;
}

export type RateDecision =
  | { readonly kind: 'all' }
  /** The tenant's rate refuses the whole push. */
  | { readonly kind: 'nothing'; readonly limitBytes: number }
  | {
      readonly kind: 'some';
      readonly refused: RefusedStreams;
      /** Limit of a stream, bytes per second. */
      readonly limitBytes: number;
    };

export const ALL: RateDecision = { kind: 'all' };
const NOTHING = new Uint32Array(0);

/** Characters per step: 0.1 ms. */
const CHARACTERS_A_STEP = 64 * 1024;
const STREAMS_A_STEP = 1024;
/** Hash, bytes and index. */
const BYTES_OF_STREAM = 20;

function* requestedRateOf(result: PushResult): Steps<RequestedRate> {
  const { accepted, totals, lineBytes, metadataBytes } = result;
  const { streams } = accepted.columns;
  // One memory, because each one in a message to another thread is allocated twice.
  const memory = new ArrayBuffer(BYTES_OF_STREAM * streams.length);
  const hashes = new Float64Array(memory, 0, streams.length);
  const bytesOf = new Float64Array(memory, 8 * streams.length, streams.length);
  const indexes = new Uint32Array(memory, 16 * streams.length, streams.length);
  let count = 0;
  let characters = 0;
  for (let index = 0; index < streams.length; index++) {
    if (totals.entries[index] > 0) {
      const { text } = streams[index];
      indexes[count] = index;
      hashes[count] = hashOfText(text);
      bytesOf[count++] = bytesOfStream(totals, index);
      characters += text.length;
    }
    if (characters < CHARACTERS_A_STEP && index % STREAMS_A_STEP !== STREAMS_A_STEP - 1) continue;
    characters = 0;
    yield;
  }
  return {
    lines: accepted.entries.length,
    bytes: lineBytes + metadataBytes,
    indexes: indexes.subarray(0, count),
    hashes: hashes.subarray(0, count),
    bytesOf: bytesOf.subarray(0, count),
  };
}

/**
 * Applies the decision of `decide` to a validated push and lowers `result.totals`. Does not call it if no
 * entry is left.
 */
export async function admitBy(
  tenant: string,
  result: PushResult,
  decide: (asked: RequestedRate) => Promise<RateDecision>,
  pace: Pace = UNPACED,
): Promise<Admission> {
  const isEmpty = result.accepted.entries.length === 0;
  const decision = isEmpty ? ALL : await decide(await runPaced(requestedRateOf(result), pace));
  return runPaced(admissionOf(tenant, result, decision), pace);
}

function* admissionOf(tenant: string, result: PushResult, decision: RateDecision): Steps<Admission> {
  const { columns, entries } = result.accepted;
  switch (decision.kind) {
    case 'all':
      return { entries, error: undefined, discards: NO_DISCARDS };
    case 'nothing': {
      const asked = { lines: entries.length, bytes: result.lineBytes + result.metadataBytes };
      const error = tenantRateError(tenant, { ...asked, limitBytes: decision.limitBytes });
      return { entries: NOTHING, error, discards: discardAll(result, 'rate_limited') };
    }
    case 'some': {
      const { refused, limitBytes } = decision;
      // As in the reference, the error names the last stream that failed, and its rate comes before the
      // number of streams.
      const stream = lastOf(refused, 'per_stream_rate_limit');
      const count = stream === undefined ? 0 : result.totals.entries[stream];
      const error =
        stream === undefined
          ? streamLimitError(tenant, columns.streams[lastOf(refused, 'stream_limit')!].text)
          : streamRateError(tenant, { columns, entries, stream, count, limitBytes });
      return { ...(yield* withoutStreams(result, refused)), error };
    }
  }
}

function lastOf({ indexes, reasons }: RefusedStreams, wanted: StreamLimitReason): number | undefined {
  const last = reasons.lastIndexOf(STREAM_REASONS.indexOf(wanted));
  return last < 0 ? undefined : indexes[last];
}
