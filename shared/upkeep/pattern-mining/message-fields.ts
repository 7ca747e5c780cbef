/**
 * Where the message of a JSON or logfmt line lies. The fields are those whose text the reference mines; the first one of
 * the line counts, wherever it is nested.
 *
 * Only what is in the bytes decides, never what a parser would say: the pattern `<_>"msg":"job <_> done"<_>` finds the first
 * place of its text, so that must be the place that was mined.
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
 * Where the text of a JSON field begins, whose key starts at `key` and has its closing quote at `quote`; -1 where it is no
 * text.
 */
function messageBehindKey(source: Buffer, key: number, quote: number, to: number): number {
  if (source[key - 1] !== QUOTE || source[quote + 1] !== 0x3a) return -1;
  const at = source[quote + 2] === SPACE ? quote + 3 : quote + 2;
  return at < to && source[at] === QUOTE ? at + 1 : -1;
}

/** Of a template: where the text behind the key at `at` begins, or `at` where there is no key. */
export function behindMessageKey(source: Buffer, at: number): number {
  let stop = at;
  while (stop < source.length && stop - at <= MAX_KEY_BYTES && KEY_BYTE[source[stop]] === 1) stop++;
  if (!isMessageKey(source, at, stop)) return at;
  if (source[at - 1] === SPACE) return source[stop] === EQUALS ? stop + 1 : at;
  const text = messageBehindKey(source, at, stop, source.length);
  return text < 0 ? at : text;
}
