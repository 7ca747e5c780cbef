/**
 * Receives the body of a request into one buffer that grows as the body arrives, so a declared length alone
 * reserves no memory. Every byte counts against a budget that all requests share.
 *
 * Large buffers are reused. Fresh ones cost a garbage collection every few tens of megabytes, and a page
 * fault for every 4 KiB. They are in shared memory, which is freed only when the garbage collectors of all
 * threads that saw it have run. Buffers that are too large for the pool are in memory that moves to the
 * thread that handles the request, and is freed immediately.
 *
 * Pitfall: release a buffer only if no code reads it any more.
 */
import type { IncomingMessage } from 'node:http';
import { BufferPool } from '../shared/base/model/buffer-pool.ts';
import { copyBytes } from '../shared/base/model/copy-bytes.ts';
import { type ClientError, TooLargeError } from '../shared/base/model/errors.ts';
import { freeBytes, freeWhole } from '../shared/base/model/free-bytes.ts';
import { BrokenRequestError } from './gateway-broken.ts';
import type { BodyBudget } from './gateway-budget.ts';
import type { Exchange } from './gateway-exchange.ts';

export interface Body {
  readonly bytes: Uint8Array;
  /** Bytes that the caller returns to the budget after the response. */
  readonly heldBytes: number;
}

export const NO_BODY: Body = { bytes: new Uint8Array(0), heldBytes: 0 };
/** Size of one socket read. */
const FIRST_CAPACITY = 64 * 1024;
/**
 * Growth factor if the length is declared, so that only one seventh is copied twice. Otherwise the buffer
 * doubles.
 */
const DECLARED_GROWTH = 8;
/**
 * Minimum mean size of a chunk. Each chunk costs the thread about 1 µs. Agents send several KB per chunk, and
 * a log line has about 100 bytes.
 */
const MIN_MEAN_CHUNK = 16;
/** Number of chunks before the mean size is checked. */
const FREE_CHUNKS = 4_000;
/**
 * Minimum size of a chunk that is freed when it was copied. Left to the collector, the chunks of large bodies
 * make it mark the whole heap several times a second. Freeing takes 1 µs, so it does not pay for small chunks.
 */
const MIN_FREED_CHUNK = 4 * 1024;
const TINY = `body chunks have less than ${MIN_MEAN_CHUNK} bytes on average; send larger chunks`;
/** Fits the usual pushes of a few connections. */
const POOL_BYTES = 16 * 1024 * 1024;
/** Buffers for reuse by later bodies. */
const POOL = new BufferPool(POOL_BYTES, { isShared: true });
/** Memory of bodies that are too large for the pool. */
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

/** Memory of a body that can be moved to another thread; `undefined` if threads share it. */
export function movableMemory({ buffer }: Uint8Array): ArrayBuffer | undefined {
  return LARGE.has(buffer) ? (buffer as ArrayBuffer) : undefined;
}

/**
 * Releases the buffer of a body for the next request to overwrite. Pitfall: do not call it if other code may
 * still work on the request, for example after an error.
 */
export function recycleBody({ bytes }: Body): void {
  // A body that was moved to another thread has length 0.
  if (bytes.length > 0) giveBuffer(bytes as Buffer);
}

/** The client disconnected or broke the protocol before its body was complete. */
export class BodyInterruptedError extends Error {
  constructor() {
    super('the connection ended before the body');
    this.name = 'BodyInterruptedError';
  }
}

/** Declared length; `undefined` for a chunked body, 0 without a body. */
export function declaredLength(request: IncomingMessage): number | undefined {
  if (request.headers['transfer-encoding'] !== undefined) return undefined;
  return Number(request.headers['content-length'] ?? 0);
}

export function bodyTooLarge(bytes: number, maxBytes: number): ClientError {
  return new TooLargeError(
    `request body too large: message size too large than max (${bytes} vs ${maxBytes})`,
  );
}

interface ReadBodyOptions {
  readonly budget: BodyBudget;
  /** Error to throw when the budget is exhausted. */
  readonly overloaded: ClientError;
}

/**
 * Rejects with ClientError (413 over the limit of the request, 503 over the budget, 400 for too many tiny
 * chunks), BodyInterruptedError, or the cause of an interruption of the exchange. Then no bytes are held and
 * the rest of the body is unread. The caller refuses a declared length over the limit.
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
      if (needed > maxBytes) return bodyTooLarge(maxBytes + 1, maxBytes);
      const growth = declared === undefined ? 2 : DECLARED_GROWTH;
      const wanted = Math.min(Math.max(needed, capacity * growth), most);
      // Taking bytes may end other exchanges, or this one.
      if (!budget.take(exchange, wanted - capacity)) return overloaded;
      capacity = wanted;
      const grown = takeBuffer(capacity);
      copyBytes(buffer.subarray(0, length), grown, 0);
      giveBuffer(buffer);
      buffer = grown;
      return undefined;
    };
    const onData = (chunk: Buffer) => {
      const needed = length + chunk.length;
      const problem = needed > capacity ? grow(needed) : undefined;
      if (problem !== undefined) return fail(problem);
      if (++chunks > FREE_CHUNKS && needed < chunks * MIN_MEAN_CHUNK)
        return fail(new BrokenRequestError(400, TINY));
      copyBytes(chunk, buffer, length);
      if (chunk.length >= MIN_FREED_CHUNK) freeBytes(chunk);
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
