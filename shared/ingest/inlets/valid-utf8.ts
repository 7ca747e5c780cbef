/** Bodies of text made UTF-8 before ranges of them become lines: what is no character is U+FFFD, as in JSON pushes. */
import { isUtf8 } from 'node:buffer';
import { TooLargeError } from '../../model/errors.ts';
import { MAX_BODY_BYTES } from '../bounds.ts';
import { utf8Length } from '../utf8.ts';

const REPLACEMENT = Buffer.from('\ufffd');

/** The same bytes where they are UTF-8 (hardly ever they are not), else a copy. Throws TooLargeError. */
export function validUtf8(bytes: Buffer): Buffer {
  if (isUtf8(bytes)) return bytes;
  const more = invalidBytes(bytes) * (REPLACEMENT.length - 1);
  if (bytes.length + more > MAX_BODY_BYTES) {
    throw new TooLargeError(
      `request body too large: message size too large than max (${bytes.length + more} vs ${MAX_BODY_BYTES})`,
    );
  }
  const valid = Buffer.allocUnsafeSlow(bytes.length + more);
  let to = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = utf8Length(bytes, at, bytes.length);
    if (length === 0) {
      to += REPLACEMENT.copy(valid, to);
      at++;
    } else {
      for (let i = 0; i < length; i++) valid[to++] = bytes[at++];
    }
  }
  return valid;
}

function invalidBytes(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = utf8Length(bytes, at, bytes.length);
    if (length === 0) count++;
    at += length || 1;
  }
  return count;
}
