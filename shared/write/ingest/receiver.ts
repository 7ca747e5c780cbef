/**
 * A way in: one protocol's body, from bytes to columns. Everything after decoding (discovery, validation, limits,
 * storing) is the same for all receivers.
 */
import type { Limits } from '../../base/model/limits.ts';
import type { Pace, Steps } from '../../base/model/steps.ts';
import type { BodyHeaders, BodyLimits } from './body.ts';
import type { HeldBytes } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';

/** What decoding may depend on beside the body. */
export interface DecodeContext {
  readonly limits: Limits;
  /** Unix ns: the time of entries that come without one. */
  readonly nowNs: bigint;
}

export interface Receiver {
  /** Label `format` of the ingest metrics, for example `loki` or `otlp`. */
  readonly format: string;
  /**
   * Takes off the transfer's encoding, in time slices. Throws ClientError where the headers or the body are wrong or too large,
   * NoRoomError where `held` has no room. What it returns lies in the memory of `body`, or in memory of its own, which is freed after
   * the push.
   */
  unpack(
    body: Uint8Array,
    headers: BodyHeaders,
    limits: BodyLimits,
    held: HeldBytes,
    pace?: Pace,
  ): Promise<Buffer> | Buffer;
  /** Throws ClientError where the body as a whole cannot be understood. */
  decode(bytes: Buffer, context: DecodeContext): Steps<PushColumns>;
  /** Gives the unpacked bytes back to the pool that they came from, once nothing points into them. */
  release?(bytes: Buffer): void;
  /**
   * The same body means the same entries, whenever it comes: a repeat within minutes is answered without storing it
   * again. Not so where entries may get the time of their arrival.
   */
  readonly repeatable: boolean;
}
