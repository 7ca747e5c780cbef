/**
 * Resolves the escapes of JSON strings in place: marks what needs a look in 64 bytes, and moves what lies between.
 *
 * Memory: what escapes stand for, then the body, behind which the host lays quotes that end every string in it. Moves go
 * in steps of 16, so a text must move down by at least as much: bytes that are still to be read would be overwritten else.
 */
import { BASE } from './layout';

/** What the byte behind a backslash stands for; 0 if it is no simple escape. */
export const UNQUOTE_ESCAPES: usize = BASE;
export const UNQUOTE_BODY: usize = UNQUOTE_ESCAPES + 256;

const BACKSLASH: u8 = 0x5c;
const BLOCK: usize = 64;

let writtenTo: usize = 0;

/** Where the text of the last call ends. */
export function unquotedEnd(): usize {
  return writtenTo;
}

/**
 * Moves the text of a string from `from` to `to`. Answers the place of what ended it: a quote, a backslash that begins no simple
 * escape, or, with `longer` 0x80, a byte of a longer character. At `limit` it ends in any case.
 */
export function unquote(from: usize, to: usize, limit: usize, longer: u32): usize {
  const high = i8x16.splat(i8(longer));
  let at = from;
  let end = to;
  while (at < limit) {
    let bits =
      specials(at, high) |
      (specials(at + 16, high) << 16) |
      (specials(at + 32, high) << 32) |
      (specials(at + 48, high) << 48);
    // Of the block, what was moved.
    let done: usize = 0;
    while (bits !== 0) {
      const place = usize(ctz(bits));
      if (place > done) move(end, at + done, place - done);
      end += place - done;
      const special = at + place;
      const escaped =
        load<u8>(special) === BACKSLASH ? load<u8>(UNQUOTE_ESCAPES + usize(load<u8>(special, 1))) : 0;
      if (escaped === 0) {
        writtenTo = end;
        return special;
      }
      store<u8>(end++, escaped);
      done = place + 2;
      bits &= ~(u64(3) << u64(place));
    }
    if (done < BLOCK) {
      move(end, at + done, BLOCK - done);
      end += BLOCK - done;
      done = BLOCK;
    }
    at += done;
  }
  writtenTo = end;
  return at;
}

/** A bit for each of 16 bytes that needs a look. */
// @inline
function specials(at: usize, high: v128): u64 {
  const block = v128.load(at);
  const quotes = v128.or(i8x16.eq(block, i8x16.splat(0x22)), i8x16.eq(block, i8x16.splat(0x5c)));
  return u64(i8x16.bitmask(v128.or(quotes, v128.and(block, high))));
}

// @inline
function move(to: usize, from: usize, size: usize): void {
  let i: usize = 0;
  do {
    v128.store(to + i, v128.load(from + i));
    i += 16;
  } while (i < size);
}
