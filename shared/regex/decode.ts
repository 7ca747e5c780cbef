/**
 * Bytes of a line to text, as Go's regular expressions see them: every byte that is not part of valid UTF-8 is one
 * U+FFFD. The platform's decoder differs: it makes one U+FFFD of a cut-off sequence of several bytes.
 */
const replacement = '\ufffd';

export function decodeText(buffer: Buffer, start: number, end: number): string {
  const text = buffer.utf8Slice(start, end);
  // A text of one-byte units cannot hold it, and V8 then answers without looking.
  return text.includes(replacement) ? decodeByteWise(buffer, start, end) : text;
}

function decodeByteWise(buffer: Buffer, start: number, end: number): string {
  let text = '';
  let validFrom = start;
  for (let at = start; at < end; ) {
    const length = sequenceLength(buffer, at, end);
    if (length === 0) {
      text += buffer.utf8Slice(validFrom, at) + replacement;
      validFrom = at + 1;
    }
    at += Math.max(1, length);
  }
  return text + buffer.utf8Slice(validFrom, end);
}

/** Bytes of the valid sequence at `at`, 0 where there is none (RFC 3629, section 4). */
function sequenceLength(buffer: Buffer, at: number, end: number): number {
  const lead = buffer[at];
  if (lead < 0x80) return 1;
  const length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0;
  if (length === 0 || at + length > end) return 0;
  // The second byte rules out overlong forms, surrogates and what is above U+10FFFF.
  const low = lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
  const high = lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
  const second = buffer[at + 1];
  if (second < low || second > high) return 0;
  for (let i = 2; i < length; i++) if ((buffer[at + i] & 0xc0) !== 0x80) return 0;
  return length;
}
