/**
 * Receives the body of a request into one buffer: of the declared length where there is one, so that a push is copied
 * once on its way in; a growing one for chunked uploads. Every byte is taken from a budget that all requests share.
 *
 * Large buffers are used again: fresh ones cost a collection of the heap every few tens of megabytes, and a page fault
 * for every 4 KiB. Who gives a buffer back must know that nobody reads it any more.
 */
import type { IncomingMessage } from 'node:http';
import { BufferPool } from '../shared/model/buffer-pool.ts';
import { type ClientError, TooLargeError } from '../shared/model/errors.ts';

/** Bytes of bodies that may be held at once, counted. */
export interface BodyBudget {
  /** False where they are not to be had; nothing is taken then. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

export function createBodyBudget(maxBytes: number): BodyBudget {
  let held = 0;
  return {
    take(bytes) {
      if (held + bytes > maxBytes) return false;
      held += bytes;
      return true;
    },
    give(bytes) {
      held -= bytes;
    },
  };
}

export interface Body {
  readonly bytes: Uint8Array;
  /** What the caller gives back to the budget when the request is answered. */
  readonly heldBytes: number;
}

export const NO_BODY: Body = { bytes: new Uint8Array(0), heldBytes: 0 };
/** A chunked body starts with one socket read and doubles from there. */
const FIRST_CAPACITY = 64 * 1024;
/** Buffers that wait for the next body: as many as usual pushes of a handful of connections take at once. */
const POOL = new BufferPool(16 * 1024 * 1024);

/**
 * Takes back the buffer of a body that nobody reads any more: the next request may overwrite it. Not to be called where
 * something may still be at work on the request, as after an error.
 */
export function recycleBody({ bytes }: Body): void {
  if (bytes.length > 0) POOL.give(bytes as Buffer);
}

/** The client went away, or broke the protocol, before its body was complete. */
export class BodyInterruptedError extends Error {
  constructor() {
    super('the connection ended before the body');
    this.name = 'BodyInterruptedError';
  }
}

/** Length that the head declares; undefined for a chunked body, 0 for none. */
export function declaredLength(request: IncomingMessage): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined;
  return Number(request.headers['content-length'] ?? 0);
}

export function tooLarge(bytes: number, maxBytes: number): ClientError {
  return new TooLargeError(
    `request body too large: message size too large than max (${bytes} vs ${maxBytes})`,
  );
}

export interface ReadBodyOptions {
  readonly maxBytes: number;
  readonly budget: BodyBudget;
  /** What is thrown where the budget is used up. */
  readonly overloaded: ClientError;
  /** Called with a function that ends the reading with an error, and without one when the reading has ended. */
  readonly onReading: (interrupt?: (error: Error) => void) => void;
}

/**
 * Rejects with ClientError (413 over `maxBytes`, 503 over the budget), BodyInterruptedError, or what interrupted it;
 * nothing is held then and the rest of the body is unread. A declared length over `maxBytes` is the caller's to refuse.
 */
export function readBody(
  request: IncomingMessage,
  { maxBytes, budget, overloaded, onReading }: ReadBodyOptions,
): Promise<Body> {
  let capacity = declaredLength(request) ?? Math.min(FIRST_CAPACITY, maxBytes);
  if (!budget.take(capacity)) return Promise.reject(overloaded);

  return new Promise((resolve, reject) => {
    let buffer = POOL.take(capacity);
    let length = 0;

    const fail = (error: Error) => {
      stop();
      request.pause();
      budget.give(capacity);
      POOL.give(buffer);
      reject(error);
    };
    const grow = (needed: number): Error | undefined => {
      if (needed > maxBytes) return tooLarge(maxBytes + 1, maxBytes);
      const wanted = Math.min(Math.max(needed, capacity * 2), maxBytes);
      if (!budget.take(wanted - capacity)) return overloaded;
      capacity = wanted;
      const grown = POOL.take(capacity);
      buffer.copy(grown, 0, 0, length);
      POOL.give(buffer);
      buffer = grown;
      return undefined;
    };
    const onData = (chunk: Buffer) => {
      const needed = length + chunk.length;
      const problem = needed > capacity ? grow(needed) : undefined;
      if (problem !== undefined) return fail(problem);
      chunk.copy(buffer, length);
      length = needed;
    };
    const onEnd = () => {
      stop();
      resolve({ bytes: length === capacity ? buffer : buffer.subarray(0, length), heldBytes: capacity });
    };
    const onBroken = () => fail(new BodyInterruptedError());
    const stop = () => {
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      onReading();
    };
    onReading(fail);
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}
