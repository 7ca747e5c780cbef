/**
 * One request and its response, from the head to the last byte:
 *
 *     arriving --(body complete)--> running --(response handed to the socket)--> leaving
 *
 * In the first and the last phase the client decides how long it takes, so the gateway may end it there when others need its
 * place or its bytes.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ClientError } from '../shared/base/model/errors.ts';
import type { RequestLimits } from '../shared/server/http/request-limits.ts';

export class Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
  readonly limits: RequestLimits;
  /** Whose places it counts against (address-key.ts). */
  readonly address: string;
  /** By the monotonic clock, as all times here. */
  readonly startedMs = performance.now();
  /** Aborts when the client is gone, the deadline has passed or the gateway stops. */
  readonly controller = new AbortController();
  /** Bytes of the body that have arrived. */
  receivedBytes = 0;
  /** Bytes of memory that its body takes. */
  heldBytes = 0;
  /** Bytes of the response that the client has not taken, at most. */
  unsentBytes = 0;
  /** When the response was handed to the socket. */
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

  /** The client is what it waits for. */
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

  /** Ends the arrival: what waits for it rejects with `cause`, which is the response. Without effect in later phases. */
  interrupt(cause: ClientError): void {
    this.#cause ??= cause;
    this.#onInterrupt?.(this.#cause);
  }

  /** Ends it in whatever phase. */
  end(cause: ClientError): void {
    if (this.isArriving && !this.isLeaving) this.interrupt(cause);
    else this.incoming.socket.destroy();
  }

  /** Calls `listener` once with the cause of an interruption, at once if it has happened. The result removes it. */
  listen(listener: (cause: ClientError) => void): () => void {
    if (this.#cause !== undefined) listener(this.#cause);
    else this.#onInterrupt = listener;
    return () => {
      this.#onInterrupt = undefined;
    };
  }

  /** Settles as `work` does, or rejects when the arrival is interrupted. */
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
