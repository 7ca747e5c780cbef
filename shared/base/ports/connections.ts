/**
 * WebSocket connections that another component holds: API Gateway in an AWS account, the gateway process on
 * one machine. Messages of one connection arrive in order if each post waits for the previous one.
 *
 * After an error other than ThrottledError, the message may or may not have arrived.
 */

/**
 * Result of a post. `gone`: the connection no longer exists. `too large`: the connection exists, but does not
 * accept a message of this size.
 */
export type PostOutcome = 'ok' | 'gone' | 'too large';

export interface ConnectionInfo {
  /** Unix ms. */
  readonly connectedMs: number;
  /** Unix ms of the last message in either direction, if the implementation records it. */
  readonly lastActiveMs: number;
}

export interface CloseOptions {
  /** Close code of RFC 6455. */
  readonly code: number;
  /** Close reason, at most MAX_CLOSE_REASON_BYTES of UTF-8; see closeReason. */
  readonly reason: string;
}

/** Maximum reason length: in RFC 6455, a control frame of 125 bytes holds the code and the reason. */
export const MAX_CLOSE_REASON_BYTES = 123;

export interface Connections {
  /**
   * Sends a text message (UTF-8). Resolves when the connection has accepted it, which a slow client delays
   * until its buffer drains. Throws ThrottledError if nothing was sent because of load.
   */
  post(connectionId: string, message: Uint8Array): Promise<PostOutcome>;

  /** Returns undefined if the connection does not exist. */
  get(connectionId: string): Promise<ConnectionInfo | undefined>;

  /** Ends a connection; a missing connection is not an error. Some implementations cannot send a reason. */
  close(connectionId: string, options: CloseOptions): Promise<void>;
}

/** Truncates the text to the limit of a close frame, at a whole character. */
export function closeReason(text: string): string {
  if (Buffer.byteLength(text) <= MAX_CLOSE_REASON_BYTES) return text;
  let bytes = 0;
  let reason = '';
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > MAX_CLOSE_REASON_BYTES) break;
    reason += character;
  }
  return reason;
}
