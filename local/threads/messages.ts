/**
 * What a thread and the thread that started it send each other, whatever the role:
 *
 *     starter                       thread
 *        | <-------- ready ----------- |       or broken, with the reason
 *        | --- call (number) --------> |
 *        | --- cancel (number) ------> |       the answer is not wanted any more
 *        | <--------- heard ---------- |       at once: a thread that does not say so hangs
 *        | <-- answer or failed ------ |       also if it was cancelled: the thread has let go of the call
 *        | <------- ask (number) ----- |       numbers of questions are the thread's own
 *        | --- reply or refused -----> |
 *        | <--------- tell ----------> |       without an answer
 *        | ---------- stop ----------> |       it ends its work and exits
 */
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

/** A value for another thread. The buffers in `moved` are not copied; the sender cannot read them any more. */
export interface Moved<Value> {
  readonly value: Value;
  readonly moved?: ArrayBuffer[] | undefined;
}

/** The bytes in a buffer of their own, which can be moved. Copies them if they are a part of a larger buffer, or shared. */
export function ownBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return isWhole ? new Uint8Array(buffer) : new Uint8Array(bytes);
}
