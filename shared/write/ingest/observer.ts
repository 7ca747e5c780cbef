/** Events of the push path about stored and refused entries, the source of metrics, usage and cost. */

/** Entries of one policy stored with one push. */
export interface Received {
  readonly tenant: string;
  /** See Receiver. */
  readonly format: string;
  /** Policy of the streams. Empty if none applies. */
  readonly policy: string;
  readonly lines: number;
  /** Bytes of lines. */
  readonly lineBytes: number;
  /** Bytes of names and values of structured metadata, as sent. */
  readonly metadataBytes: number;
}

/** Entries that were refused for one reason. */
export interface Refused {
  readonly tenant: string;
  readonly format: string;
  readonly policy: string;
  /** Reason, named as in docs/dev/wire-format.md#metrics. */
  readonly reason: string;
  readonly lines: number;
  /** Line and metadata bytes. */
  readonly bytes: number;
}

/** Entries that were stored with changes. */
export interface Mutated {
  readonly tenant: string;
  /** Reason `line_too_long`: cut to the limit. */
  readonly reason: string;
  readonly lines: number;
  /** Bytes that were cut off. */
  readonly bytes: number;
}

export interface IngestObserver {
  received(event: Received): void;
  refused(event: Refused): void;
  mutated?(event: Mutated): void;
}
