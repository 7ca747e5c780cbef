/**
 * Computes the ID that recognizes a repeated push: 128 bits over its body and the other inputs of its
 * entries.
 *
 * A false match would lose a push, so it must be infeasible to construct. Small bodies are hashed with
 * SHA-256. Large ones use the tag of AES-GCM with the body as authenticated data, in less than half the time.
 * The key and the tags are secret, so two different bodies of n blocks share a tag with a probability of n in
 * 2^128.
 *
 * A single nonce would be a flaw for encryption. Here it is safe, because cipher text and tag never leave
 * this process.
 */
import { createCipheriv, createSecretKey, hash, randomBytes } from 'node:crypto';
import type { Steps } from '../../base/model/steps.ts';

/** Size below which the setup of the cipher costs more than it saves, if other work ran in between. */
const MIN_TAGGED_BYTES = 48 * 1024;
const ID_BYTES = 16;
const CIPHER = 'aes-128-gcm';
// A key of this process: IDs are compared only with IDs that it made, and no decision depends on their
// values.
const KEY = createSecretKey(randomBytes(16));
const NONCE = randomBytes(12);

/** Bytes per step: 0.3 ms. */
const STEP_BYTES = 1024 * 1024;

/**
 * Returns 32 hex digits.
 *
 * @param rest inputs of the entries in addition to the body, as one unambiguous text
 */
export function* idOfPush(body: Uint8Array, inputs: string): Steps<string> {
  if (body.length < MIN_TAGGED_BYTES) {
    // Two calls take less time than one object that both are added to. The first hash has a fixed length, so the
    // boundary is unambiguous.
    return hash('sha256', hash('sha256', body) + inputs).slice(0, 2 * ID_BYTES);
  }
  // The tag covers body and `inputs` with their lengths, so the boundary between them is unambiguous.
  const cipher = createCipheriv(CIPHER, KEY, NONCE, { authTagLength: ID_BYTES });
  for (let at = 0; at < body.length; at += STEP_BYTES) {
    if (at > 0) yield;
    cipher.setAAD(body.subarray(at, at + STEP_BYTES));
  }
  cipher.update(inputs);
  cipher.final();
  return cipher.getAuthTag().toString('hex');
}
