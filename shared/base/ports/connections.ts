/**
 * WebSocket connections that somebody else holds: the management API of API Gateway in an account, the sockets of the
 * gateway on one machine. Messages of one connection arrive in the order of their posts where each waits for the one before.
 *
 * An error other than ThrottledError leaves open whether the message arrived.
 */

/** `gone`: there is no such connection any more. `too large`: it is there, and would not take a message of this size. */
export type PostOutcome = 'ok' | 'gone' | 'too large';

export interface ConnectionInfo {
  /** Unix ms. */
  readonly connectedMs: number;
  /** Unix ms of the last message in either direction, as far as it is known. */
  readonly lastActiveMs: number;
}

export interface CloseOptions {
  /** A close code of RFC 6455. */
  readonly code: number;
  /** At most MAX_CLOSE_REASON_BYTES of UTF-8; see closeReason. */
  readonly reason: string;
}

/** RFC 6455: a control frame of 125 bytes holds the code and this. */
export const MAX_CLOSE_REASON_BYTES = 123;

export interface Connections {
  /**
   * Sends a text message (UTF-8). Resolves when the connection has taken it: with a slow client only when there is room
   * again. Throws ThrottledError where nothing was sent because there is too much to send.
   */
  post(connectionId: string, message: Uint8Array): Promise<PostOutcome>;

  /** Undefined where there is no such connection. */
  get(connectionId: string): Promise<ConnectionInfo | undefined>;

  /** Ends a connection; one that is gone is no error. Where no reason can be given, as far as the place allows. */
  close(connectionId: string, options: CloseOptions): Promise<void>;
}

/** The text cut to what a close frame may hold, at a whole character. */
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
