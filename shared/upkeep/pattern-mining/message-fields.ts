/**
 * Locates the message of a JSON or logfmt line. The message fields are those that the reference mines. The
 * first one in the line counts, even if it is nested.
 *
 * Only the bytes decide, not a parser. The pattern `<_>"msg":"job <_> done"<_>` finds the first occurrence of
 * its text, so this must be the position that was mined.
 */
import { EQUALS, QUOTE, SPACE } from './byte-classes.ts';

const KEYS: readonly Buffer[] = ['log', 'message', 'msg', 'msg_', '_msg', 'content'].map(key =>
  Buffer.from(key),
);
const MAX_KEY_BYTES = 7;
const KEY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) =>
  KEYS.some(key => key.includes(byte)) ? 1 : 0,
);

function isMessageKey(source: Buffer, from: number, to: number): boolean {
  const length = to - from;
  if (length < 3 || length > MAX_KEY_BYTES) return false;
  for (const key of KEYS) {
    if (key.length !== length) continue;
    let i = 0;
    while (i < length && source[from + i] === key[i]) i++;
    if (i === length) return true;
  }
  return false;
}

/**
 * Start of the text of a JSON field whose key starts at `key` and has its closing quote at `quote`; -1 if the
 * value is not text.
 */
function messageBehindKey(source: Buffer, key: number, quote: number, to: number): number {
  if (source[key - 1] !== QUOTE || source[quote + 1] !== 0x3a) return -1;
  const at = source[quote + 2] === SPACE ? quote + 3 : quote + 2;
  return at < to && source[at] === QUOTE ? at + 1 : -1;
}

/** Start of the text after the key at `at` of a template, or `at` if there is no key. */
export function behindMessageKey(source: Buffer, at: number): number {
  let stop = at;
  while (stop < source.length && stop - at <= MAX_KEY_BYTES && KEY_BYTE[source[stop]] === 1) stop++;
  if (!isMessageKey(source, at, stop)) return at;
  if (source[at - 1] === SPACE) return source[stop] === EQUALS ? stop + 1 : at;
  const text = messageBehindKey(source, at, stop, source.length);
  return text < 0 ? at : text;
}
