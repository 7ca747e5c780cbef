/**
 * Decodes elements of a snappy block, with copies of 32 bytes.
 *
 * The host lays out the memory: input and output, each followed by SLACK bytes. Copies proceed in whole steps
 * and may write up to 31 bytes past their end, into later output or the slack. Each element is therefore
 * checked against the remaining input and output before it is copied.
 */

/**
 * Maximum literal size that is stored in the tag. Above it, the tag contains the number of bytes of the size
 * that follows.
 */
const MAX_SHORT_LITERAL: usize = 60;

/**
 * Decodes `at` to `end` into `start` to `limit`. Returns the end of the output, or 0 for a corrupt block.
 */
export function decodeSnappy(at: usize, end: usize, start: usize, limit: usize): usize {
  let done = start;
  while (at < end) {
    const tag = usize(load<u8>(at++));
    let size = (tag >>> 2) + 1;
    if ((tag & 3) === 0) {
      if (size > MAX_SHORT_LITERAL) {
        const extra = size - MAX_SHORT_LITERAL;
        if (extra > end - at) return 0;
        size = usize(load<u32>(at) & (u32(0xffffffff) >>> (32 - (u32(extra) << 3))));
        at += extra;
        // One less than the size, so that the largest does not become 0.
        if (size >= limit - done) return 0;
        size++;
      }
      if (size > end - at || size > limit - done) return 0;
      copyLong(done, at, size);
      at += size;
      done += size;
      continue;
    }
    let offset: usize;
    if ((tag & 3) === 1) {
      if (at >= end) return 0;
      size = ((tag >>> 2) & 7) + 4;
      offset = ((tag >>> 5) << 8) | usize(load<u8>(at));
      at += 1;
    } else if ((tag & 3) === 2) {
      if (end - at < 2) return 0;
      offset = usize(load<u16>(at));
      at += 2;
    } else {
      if (end - at < 4) return 0;
      offset = usize(load<u32>(at));
      at += 4;
    }
    if (offset === 0 || offset > done - start || size > limit - done) return 0;
    // A copy that overlaps itself repeats a pattern, so its steps must not exceed the length of that pattern.
    const from = done - offset;
    if (offset >= 16) copyLong(done, from, size);
    else if (offset >= 8) for (let i: usize = 0; i < size; i += 8) store<u64>(done + i, load<u64>(from + i));
    else for (let i: usize = 0; i < size; i++) store<u8>(done + i, load<u8>(from + i));
    done += size;
  }
  return done;
}

/** Only long literals exceed 64 bytes. Shorter copies need no loop, whose end no processor predicts. */
// @inline
function copyLong(to: usize, from: usize, size: usize): void {
  v128.store(to, v128.load(from));
  v128.store(to, v128.load(from, 16), 16);
  if (size <= 32) return;
  v128.store(to, v128.load(from, 32), 32);
  v128.store(to, v128.load(from, 48), 48);
  for (let i: usize = 64; i < size; i += 16) v128.store(to + i, v128.load(from + i));
}
