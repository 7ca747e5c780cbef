/**
 * Messages between a thread and the thread that started it, for every role:
 *
 *     starter                       thread
 *        | <-------- ready ----------- |       or broken, with the reason
 *        | --- call (number) --------> |
 *        | --- cancel (number) ------> |       the answer is not needed any more
 *        | <--------- heard ---------- |       immediately: a thread that does not confirm hangs
 *        | <-- answer or failed ------ |       also after a cancel: the thread has released the call
 *        | <------- ask (number) ----- |       the thread numbers its requests itself
 *        | --- reply or refused -----> |
 *        | <-------- `tell` ---------> |       without a reply
 *        | ---------- stop ----------> |       it completes its work and exits
 */
import type { MessagePort } from 'node:worker_threads';
import type { ThrownError } from './thrown-errors.ts';

export type ToThread<Call> =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  | { readonly kind: 'cancel'; readonly id: number }
  | { readonly kind: 'reply'; readonly id: number; readonly reply: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly error: ThrownError }
  | { readonly kind: 'tell'; readonly tell: unknown }
  | { readonly kind: 'stop' };

export type FromThread<Answer> =
  | { readonly kind: 'ready' }
  | { readonly kind: 'heard' }
  | { readonly kind: 'broken'; readonly error: ThrownError }
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answer }
  | { readonly kind: 'failed'; readonly id: number; readonly error: ThrownError }
  | { readonly kind: 'ask'; readonly id: number; readonly ask: unknown }
  | { readonly kind: 'cancel-ask'; readonly id: number }
  | { readonly kind: 'tell'; readonly tell: unknown };

/** Objects that are transferred in a message. */
export type Movable = ArrayBuffer | MessagePort;

/**
 * A value for another thread. The objects in `moved` are transferred, so the sender cannot read them any
 * more.
 */
export interface Moved<Value> {
  readonly value: Value;
  readonly moved?: Movable[] | undefined;
}

/**
 * Returns the bytes in a separate buffer that can be moved. Copies them if they are part of a larger buffer,
 * or shared.
 */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
