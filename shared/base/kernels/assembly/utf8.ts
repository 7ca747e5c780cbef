/** Validates UTF-8 as decoders do. */

/**
 * Returns whether the bytes are valid UTF-8 without U+FFFD. Decoding such bytes yields no U+FFFD, neither as
 * content nor as a replacement.
 */
export function isCleanUtf8(start: usize, length: usize): bool {
  const end = start + length;
  let at = start;
  while (at < end) {
    const lead = u32(load<u8>(at));
    if (lead < 0x80) {
      at++;
      continue;
    }
    // The first byte bounds the second: no overlong form, no surrogate, nothing above U+10FFFF.
    let low: u32 = 0x80;
    let high: u32 = 0xbf;
    let bytes: usize = 2;
    if (lead >= 0xf0) {
      if (lead > 0xf4) return false;
      bytes = 4;
      if (lead === 0xf0) low = 0x90;
      if (lead === 0xf4) high = 0x8f;
    } else if (lead >= 0xe0) {
      bytes = 3;
      if (lead === 0xe0) low = 0xa0;
      if (lead === 0xed) high = 0x9f;
    } else if (lead < 0xc2) return false;
    if (bytes > end - at) return false;
    const second = u32(load<u8>(at, 1));
    if (second < low || second > high) return false;
    for (let i: usize = 2; i < bytes; i++) if ((load<u8>(at + i) & 0xc0) !== 0x80) return false;
    if (lead === 0xef && second === 0xbf && load<u8>(at, 2) === 0xbd) return false;
    at += bytes;
  }
  return true;
}
