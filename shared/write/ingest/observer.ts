/** What the push path tells of what it took and what it refused: metrics, usage and cost are made from it. */

/** Entries stored with one push, of one policy. */
export interface Received {
  readonly tenant: string;
  /** See Receiver. */
  readonly format: string;
  /** Policy of the streams; empty where none applies. */
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
  /** Names of docs/dev/wire-format.md#metrics. */
  readonly reason: string;
  readonly lines: number;
  /** Line and metadata bytes. */
  readonly bytes: number;
}

/** Entries that were stored otherwise than they were sent. */
export interface Mutated {
  readonly tenant: string;
  /** `line_too_long`: cut to the limit. */
  readonly reason: string;
  readonly lines: number;
  /** That were cut off. */
  readonly bytes: number;
}

export interface IngestObserver {
  received(event: Received): void;
  refused(event: Refused): void;
  mutated?(event: Mutated): void;
}

/** For a store that nobody watches. */
export const NO_OBSERVER: IngestObserver = { received: () => undefined, refused: () => undefined };
