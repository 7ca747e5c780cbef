/**
 * The id by which a repeated push is known: 128 bits over its body and what else its entries depend on.
 *
 * A false match would lose a push, so it must not be to be made on purpose. Small bodies are hashed with SHA-256. Large ones
 * get the tag of AES-GCM with the body as its authenticated data, which takes less than half the time: under a key that
 * nobody knows, and tags that nobody sees, two different bodies of n blocks share a tag with a probability of n in 2^128.
 *
 * What a reader would get wrong: one nonce for all would be a fault of an encryption. Nothing is sent here that it could
 * tell of: cipher text and tag stay in this process.
 */
import { createCipheriv, createHash, createSecretKey, randomBytes } from 'node:crypto';
import type { Steps } from '../../base/model/steps.ts';

/** Below it the cipher's set-up costs more than it saves. */
const MIN_TAGGED_BYTES = 128 * 1024;
const ID_BYTES = 16;
const CIPHER = 'aes-128-gcm';
// Of this process alone: ids are compared with ids that it made, and no decision depends on what they are.
const KEY = createSecretKey(randomBytes(16));
const NONCE = randomBytes(12);

/** Of a step: 0.3 ms. */
const STEP_BYTES = 1024 * 1024;

/** 32 hex digits. `rest`: what the entries depend on beside the body, as one unambiguous text. */
export function* idOfPush(body: Uint8Array, rest: string): Steps<string> {
  if (body.length < MIN_TAGGED_BYTES) {
    const hash = createHash('sha256').update(`${rest.length} ${rest}`).update(body);
    return hash.digest('hex').slice(0, 2 * ID_BYTES);
  }
  // The tag covers both and their lengths: what follows is told apart from what the body ends with.
  const cipher = createCipheriv(CIPHER, KEY, NONCE, { authTagLength: ID_BYTES });
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    if (at > 0) yield;
    cipher.setAAD(body.subarray(at, at + STEP_BYTES));
  }
  cipher.update(rest);
  cipher.final();
  return cipher.getAuthTag().toString('hex');
}
