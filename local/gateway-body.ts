/**
 * Receives the body of a request into one buffer, which grows as the body arrives: memory for a declared length is taken only once
 * the bytes come. Every byte is taken from a budget that all requests share.
 *
 * Large buffers are used again: fresh ones cost a collection of the heap every few tens of megabytes, and a page fault
 * for every 4 KiB. Who gives a buffer back must know that nobody reads it any more. They lie in shared memory, which only the garbage
 * collectors of all threads that saw it free; so buffers that are too large for the pool lie in memory that is moved to the thread
 * that works on the request, and freed at once.
 */
import type { IncomingMessage } from 'node:http';
import { BufferPool } from '../shared/base/model/buffer-pool.ts';
import { type ClientError, TooLargeError } from '../shared/base/model/errors.ts';
import { freeWhole } from '../shared/base/model/free-bytes.ts';
import { BrokenRequestError } from './gateway-broken.ts';
import type { BodyBudget } from './gateway-budget.ts';
import type { Exchange } from './gateway-exchange.ts';

export interface Body {
  readonly bytes: Uint8Array;
  /** What the caller gives back to the budget when the request is answered. */
  readonly heldBytes: number;
}

export const NO_BODY: Body = { bytes: new Uint8Array(0), heldBytes: 0 };
/** A body starts with one socket read. */
const FIRST_CAPACITY = 64 * 1024;
/** Of a declared length the next buffer is so much larger, so that a seventh is copied twice; otherwise it doubles. */
const DECLARED_GROWTH = 8;
/**
 * Chunks smaller than this on average are no way to send a body: each costs the thread about a microsecond. Agents send some
 * kilobytes; a line of a log has about 100 bytes.
 */
const LEAST_MEAN_CHUNK = 16;
/** Before that many nothing is said of their size. */
const FREE_CHUNKS = 4_000;
const TINY = `the body comes in chunks of less than ${LEAST_MEAN_CHUNK} bytes on average; send larger ones`;
/** As many as usual pushes of a handful of connections take at once. */
const POOL_BYTES = 16 * 1024 * 1024;
/** Buffers that wait for the next body. */
const POOL = new BufferPool(POOL_BYTES, { isShared: true });
/** Memory of bodies that were too large for the pool. */
const LARGE = new WeakSet<ArrayBufferLike>();

function takeBuffer(bytes: number): Buffer {
  if (bytes <= POOL_BYTES) return POOL.take(bytes);
  const buffer = Buffer.allocUnsafeSlow(bytes);
  LARGE.add(buffer.buffer);
  return buffer;
}

function giveBuffer(buffer: Buffer): void {
  if (LARGE.has(buffer.buffer)) freeWhole(buffer);
  else POOL.give(buffer);
}

/** The memory of a body that may be moved to another thread; undefined where threads share it. */
export function movableMemory({ buffer }: Uint8Array): ArrayBuffer | undefined {
  return LARGE.has(buffer) ? (buffer as ArrayBuffer) : undefined;
}

/**
 * Takes back the buffer of a body that nobody reads any more: the next request may overwrite it. Not to be called where
 * something may still be at work on the request, as after an error.
 */
export function recycleBody({ bytes }: Body): void {
  // One that was moved has no bytes any more.
  if (bytes.length > 0) giveBuffer(bytes as Buffer);
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
  readonly budget: BodyBudget;
  /** What is thrown where the budget is used up. */
  readonly overloaded: ClientError;
}

/**
 * Rejects with ClientError (413 over the limit of the request, 503 over the budget, 400 for a hail of tiny chunks),
 * BodyInterruptedError, or what interrupted the exchange; nothing is held then and the rest of the body is unread. A declared length
 * over the limit is the caller's to refuse.
 */
export function readBody(exchange: Exchange, { budget, overloaded }: ReadBodyOptions): Promise<Body> {
  const { incoming: request } = exchange;
  const { maxBodyBytes: maxBytes } = exchange.limits;
  const declared = declaredLength(request);
  const most = declared ?? maxBytes;
  let capacity = Math.min(FIRST_CAPACITY, most);
  if (!budget.take(exchange, capacity)) return Promise.reject(overloaded);

  return new Promise((resolve, reject) => {
    let buffer = takeBuffer(capacity);
    let length = 0;
    let chunks = 0;
    let isOver = false;

    const fail = (error: Error) => {
      if (isOver) return;
      stop();
      request.pause();
      budget.give(exchange, capacity);
      giveBuffer(buffer);
      reject(error);
    };
    const grow = (needed: number): Error | undefined => {
      if (needed > maxBytes) return tooLarge(maxBytes + 1, maxBytes);
      const growth = declared === undefined ? 2 : DECLARED_GROWTH;
      const wanted = Math.min(Math.max(needed, capacity * growth), most);
      // Others may be ended for it, or this one by itself.
      if (!budget.take(exchange, wanted - capacity)) return overloaded;
      capacity = wanted;
      const grown = takeBuffer(capacity);
      buffer.copy(grown, 0, 0, length);
      giveBuffer(buffer);
      buffer = grown;
      return undefined;
    };
    const onData = (chunk: Buffer) => {
      const needed = length + chunk.length;
      const problem = needed > capacity ? grow(needed) : undefined;
      if (problem !== undefined) return fail(problem);
      if (++chunks > FREE_CHUNKS && needed < chunks * LEAST_MEAN_CHUNK)
        return fail(new BrokenRequestError(400, TINY));
      chunk.copy(buffer, length);
      length = needed;
      exchange.receivedBytes = length;
    };
    const onEnd = () => {
      stop();
      resolve({ bytes: length === capacity ? buffer : buffer.subarray(0, length), heldBytes: capacity });
    };
    const onBroken = () => fail(new BodyInterruptedError());
    const stop = () => {
      isOver = true;
      request.off('data', onData).off('end', onEnd).off('error', onBroken).off('close', onBroken);
      stopListening();
    };
    let stopListening = () => {};
    stopListening = exchange.listen(fail);
    if (isOver) return;
    request.on('data', onData).on('end', onEnd).on('error', onBroken).on('close', onBroken);
  });
}
