/**
 * Finds lines that repeat an earlier line of the same call: their gaps and words of text are equal, and only other
 * words differ. Their bytes are compared, so lines whose shapes collide do not repeat each other.
 */
import {
  REPEAT_SLOTS,
  REPEAT_SLOTS_COUNT,
  WORD_ENDS,
  WORD_FIRST,
  WORD_KINDS,
  WORD_LINES,
  WORD_OFFSETS,
  WORD_REPEATED,
  WORD_SHAPES,
  WORD_STARTS,
  WORD_TEXT,
  WORD_VARIED,
} from './word-layout';

/** Words with a bit. Lines of more repeat no other. */
const MAX_REPEATED_WORDS: u32 = 64;

export function clearRepeats(): void {
  memory.fill(REPEAT_SLOTS, 0, 4 * REPEAT_SLOTS_COUNT);
}

/** Finds the line that a line with `count` words from index `first` on repeats. Its shape is known. */
export function findRepeated(row: usize, first: u32, count: u32): void {
  store<u32>(WORD_REPEATED + (row << 2), u32(row));
  const slot = REPEAT_SLOTS + ((usize(load<u32>(WORD_SHAPES + (row << 2))) & (REPEAT_SLOTS_COUNT - 1)) << 2);
  const known = load<u32>(slot);
  if (known !== 0 && count <= MAX_REPEATED_WORDS && repeats(row, usize(known - 1), first, count)) {
    store<u32>(WORD_REPEATED + (row << 2), known - 1);
    return;
  }
  store<u32>(slot, u32(row + 1));
}

function repeats(row: usize, other: usize, first: u32, count: u32): bool {
  if (load<u32>(WORD_SHAPES + (row << 2)) !== load<u32>(WORD_SHAPES + (other << 2))) return false;
  const otherFirst = load<u32>(WORD_FIRST + (other << 2));
  if (load<u32>(WORD_FIRST + (other << 2), 4) - otherFirst !== count) return false;
  let varied: u64 = 0;
  let at = WORD_LINES + usize(load<u32>(WORD_OFFSETS + (row << 2)));
  let otherAt = WORD_LINES + usize(load<u32>(WORD_OFFSETS + (other << 2)));
  for (let i: u32 = 0; i < count; i++) {
    const word = usize(first + i);
    const otherWord = usize(otherFirst + i);
    const start = usize(load<u32>(WORD_STARTS + (word << 2)));
    const otherStart = usize(load<u32>(WORD_STARTS + (otherWord << 2)));
    if (!isSame(at, start - at, otherAt, otherStart - otherAt)) return false;
    at = usize(load<u32>(WORD_ENDS + (word << 2)));
    otherAt = usize(load<u32>(WORD_ENDS + (otherWord << 2)));
    if (isSame(start, at - start, otherStart, otherAt - otherStart)) continue;
    if (load<u8>(WORD_KINDS + word) === WORD_TEXT || load<u8>(WORD_KINDS + otherWord) === WORD_TEXT)
      return false;
    varied |= u64(1) << u64(i);
  }
  const end = WORD_LINES + usize(load<u32>(WORD_OFFSETS + (row << 2), 4));
  const otherEnd = WORD_LINES + usize(load<u32>(WORD_OFFSETS + (other << 2), 4));
  if (!isSame(at, end - at, otherAt, otherEnd - otherAt)) return false;
  store<u64>(WORD_VARIED + (row << 3), varied);
  return true;
}

/** Returns whether two texts are equal. */
// @inline
function isSame(a: usize, bytes: usize, b: usize, otherBytes: usize): bool {
  return bytes === otherBytes && hasSameBytes(a, b, bytes);
}

function hasSameBytes(a: usize, b: usize, bytes: usize): bool {
  let i: usize = 0;
  for (; i + 8 < bytes; i += 8) if (load<u64>(a + i) !== load<u64>(b + i)) return false;
  // Shift out the bytes that were loaded after the last one.
  return i === bytes || (load<u64>(a + i) ^ load<u64>(b + i)) << u64(64 - 8 * (bytes - i)) === 0;
}
