/**
 * Go strings are bytes: `len`, `slice`, `trunc` and `substr` count bytes, while a JavaScript string counts UTF-16
 * units. Text that is all ASCII (the usual case) takes the short way. A character cut in two becomes one U+FFFD
 * per byte that is left, as Go's JSON encoder writes such bytes.
 */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}

/** Bytes `start` to `end` of the UTF-8 form, both inside the text. */
export function sliceBytes(text: string, start: number, end: number): string {
  if (Buffer.byteLength(text) === text.length) return text.slice(start, end);
  return bytesToText(Buffer.from(text).subarray(start, end));
}

/** UTF-8 to text; every byte that belongs to no character becomes U+FFFD. */
export function bytesToText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let out = '';
  let start = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = characterLength(bytes, at);
    if (length > 0) {
      at += length;
      continue;
    }
    out += buffer.toString('utf8', start, at) + '\ufffd';
    start = ++at;
  }
  return start === 0 ? buffer.toString('utf8') : out + buffer.toString('utf8', start);
}

/** Length of the well-formed character at `at`, or 0 (the table is 3-7 of the Unicode standard). */
function characterLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at];
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = bytes[at + 1];
  if (!(second >= low && second <= high)) return 0;
  if (lead < 0xe0) return 2;
  if ((bytes[at + 2] & 0xc0) !== 0x80) return 0;
  if (lead < 0xf0) return 3;
  return (bytes[at + 3] & 0xc0) === 0x80 ? 4 : 0;
}
