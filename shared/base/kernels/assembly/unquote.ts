/**
 * Resolves the escapes of JSON strings in place. Finds special bytes 64 at a time, and moves the text between
 * them.
 *
 * Memory: the meanings of escapes, then the body. After it, the host writes quotes that end any unfinished
 * string. Moves proceed in steps of 16 bytes, so a text must move down by at least 16. Otherwise they would
 * overwrite unread bytes.
 */
import { BASE } from './layout';

/** Meaning of the byte after a backslash; 0 if it is not a simple escape. */
export const UNQUOTE_ESCAPES: usize = BASE;
export const UNQUOTE_BODY: usize = UNQUOTE_ESCAPES + 256;

const BACKSLASH: u8 = 0x5c;
const BLOCK: usize = 64;

let writtenTo: usize = 0;

/** Returns the end of the text that the last call wrote. */
export function unquotedEnd(): usize {
  return writtenTo;
}

/**
 * Moves the text of a string from `from` to `to`. Returns the address of the byte that ended it. That is a
 * quote, a backslash that begins no simple escape, or with `longer` 0x80 a byte of a longer character. The
 * scan always ends at `limit`.
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
    // Offset in the block up to which bytes were moved.
    let done: usize = 0;
    while (bits !== 0) {
      const bit = usize(ctz(bits));
      if (bit > done) move(end, at + done, bit - done);
      end += bit - done;
      const special = at + bit;
      const escaped =
        load<u8>(special) === BACKSLASH ? load<u8>(UNQUOTE_ESCAPES + usize(load<u8>(special, 1))) : 0;
      if (escaped === 0) {
        writtenTo = end;
        return special;
      }
      store<u8>(end++, escaped);
      done = bit + 2;
      bits &= ~(u64(3) << u64(bit));
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

/** Returns a bit for each of 16 bytes that needs special handling. */
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
