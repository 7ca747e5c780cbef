/**
 * Converts the body of one protocol to columns. Everything after decoding (discovery, validation, limits,
 * storage) is the same for all receivers.
 */
import type { Limits } from '../../base/model/limits.ts';
import type { Pace, Steps } from '../../base/model/steps.ts';
import type { BodyHeaders, BodyLimits } from './body.ts';
import type { HeldBytes } from './push-budget.ts';
import type { PushColumns } from './push-columns.ts';

/** Inputs of decoding in addition to the body. */
export interface DecodeContext {
  readonly limits: Limits;
  /** Time of entries without one, Unix ns. */
  readonly nowNs: bigint;
}

export interface Receiver {
  /** Label `format` of the ingest metrics, for example `loki` or `otlp`. */
  readonly format: string;
  /**
   * Removes the transfer's encoding, in time slices. The result shares the memory of `body`, or has its own,
   * which is freed after the push. Throws ClientError if headers or body are invalid or too large,
   * PushMemoryError if `held` is exhausted.
   */
  unpack(
    body: Uint8Array,
    headers: BodyHeaders,
    limits: BodyLimits,
    held: HeldBytes,
    pace?: Pace,
  ): Promise<Buffer> | Buffer;
  /** Throws ClientError if the body as a whole is invalid. */
  decode(bytes: Buffer, context: DecodeContext): Steps<PushColumns>;
  /** Returns the unpacked bytes to their pool, once nothing refers to them. */
  release?(bytes: Buffer): void;
  /**
   * Whether equal bodies always mean equal entries. A repeat within minutes is then acknowledged without
   * storing it again. False if entries may get their arrival time.
   */
  readonly repeatable: boolean;
}
