/**
 * One request and its response, from the head to the last byte:
 *
 *     arriving --(body complete)--> running --(response handed to the socket)--> leaving
 *
 * In the first and the last phase the client determines the duration. The gateway may end the exchange there
 * when others need its slot or its bytes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientError } from '../shared/base/model/errors.ts';
import type { RequestLimits } from '../shared/server/http/request-limits.ts';

export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly limits: RequestLimits;
  /** Address whose slots it uses (address-key.ts). */
  readonly address: string;
  /** Time of the monotonic clock, like all times in this module. */
  readonly startedMs = performance.now();
  /** Aborts when the client disconnects or the gateway stops. */
  readonly controller = new AbortController();
  /** Received bytes of the body. */
  receivedBytes = 0;
  /** Memory held by its body, in bytes. */
  heldBytes = 0;
  /** Upper bound of the response bytes that the client has not read. */
  unsentBytes = 0;
  /** Time when the response was passed to the socket. */
  #leftMs: number | undefined;
  #cause: ClientError | undefined;
  #onInterrupt: ((cause: ClientError) => void) | undefined;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, limits: RequestLimits, address: string) {
    this.incoming = incoming;
    this.outgoing = outgoing;
    this.limits = limits;
    this.address = address;
  }

  get isArriving(): boolean {
    return !this.incoming.complete;
  }

  get isLeaving(): boolean {
    return this.#leftMs !== undefined;
  }

  /** True if the exchange waits for the client. */
  get isUpToClient(): boolean {
    return this.isArriving || this.isLeaving;
  }

  get isInterrupted(): boolean {
    return this.#cause !== undefined;
  }

  ageMs(nowMs: number): number {
    return nowMs - (this.#leftMs ?? this.startedMs);
  }

  leaves(bytes: number): void {
    this.#leftMs = performance.now();
    this.unsentBytes = bytes;
  }

  /**
   * Ends the arrival: pending waits reject with `cause`, which becomes the response. No effect in later
   * phases.
   */
  interrupt(cause: ClientError): void {
    this.#cause ??= cause;
    this.#onInterrupt?.(this.#cause);
  }

  /** Ends the exchange in any phase. */
  end(cause: ClientError): void {
    if (this.isArriving && !this.isLeaving) this.interrupt(cause);
    else this.incoming.socket.destroy();
  }

  /**
   * Calls `listener` once with the cause of an interruption, immediately if it already happened. The result
   * removes it.
   */
  listen(listener: (cause: ClientError) => void): () => void {
    if (this.#cause !== undefined) listener(this.#cause);
    else this.#onInterrupt = listener;
    return () => {
      this.#onInterrupt = undefined;
    };
  }

  /** Settles like `work`, or rejects when the arrival is interrupted. */
  async unlessInterrupted<T>(work: Promise<T>): Promise<T> {
    const interrupted = Promise.withResolvers<never>();
    const stop = this.listen(interrupted.reject);
    try {
      return await Promise.race([work, interrupted.promise]);
    } finally {
      stop();
    }
  }
}
