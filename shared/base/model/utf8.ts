/** Reads UTF-8 (RFC 3629, section 4) as Go does: which bytes form a character and which are invalid. */

/**
 * Returns the length of the character that starts at `at`, 1 to 4 bytes. 0 if the byte starts no character.
 */
export function utf8Length(bytes: Uint8Array, at: number, end: number): number {
  const first = bytes[at];
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  if (at + 1 >= end) return 0;
  const second = bytes[at + 1];
  if (first < 0xe0) return isContinuation(second) ? 2 : 0;
  if (first < 0xf0) {
    // Rejects overlong forms and surrogates.
    const low = first === 0xe0 ? 0xa0 : 0x80;
    const high = first === 0xed ? 0x9f : 0xbf;
    if (second < low || second > high) return 0;
    return at + 2 < end && isContinuation(bytes[at + 2]) ? 3 : 0;
  }
  const low = first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return 0;
  return at + 3 < end && isContinuation(bytes[at + 2]) && isContinuation(bytes[at + 3]) ? 4 : 0;
}

function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80;
}

/** Writes a code point below 0x110000 at `at`. Returns the offset after it. */
export function writeUtf8(bytes: Uint8Array, at: number, code: number): number {
  if (code < 0x80) {
    bytes[at] = code;
    return at + 1;
  }
  if (code < 0x800) {
    bytes[at] = 0xc0 | (code >> 6);
    bytes[at + 1] = 0x80 | (code & 0x3f);
    return at + 2;
  }
  if (code < 0x10000) {
    bytes[at] = 0xe0 | (code >> 12);
    bytes[at + 1] = 0x80 | ((code >> 6) & 0x3f);
    bytes[at + 2] = 0x80 | (code & 0x3f);
    return at + 3;
  }
  bytes[at] = 0xf0 | (code >> 18);
  bytes[at + 1] = 0x80 | ((code >> 12) & 0x3f);
  bytes[at + 2] = 0x80 | ((code >> 6) & 0x3f);
  bytes[at + 3] = 0x80 | (code & 0x3f);
  return at + 4;
}
