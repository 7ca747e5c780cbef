/**
 * Elements of a snappy block, decoded with copies of 16 bytes.
 *
 * Memory is the host's to lay out: input and output with SLACK behind each. Copies go in whole steps and may write up to 15
 * bytes past their end, into what later elements overwrite or into the slack. So each element is checked against what is left of
 * input and output before it is copied.
 */

/** Literals of up to 60 bytes have their size in the tag; above it the tag tells in how many bytes the size follows. */
const MAX_SHORT_LITERAL: usize = 60;

/** Decodes `at` to `end` into `start` to `limit`. Answers where the output ends, or 0 for a broken block. */
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
      copy16(done, at, size);
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
    // A copy that overlaps itself repeats a pattern: its steps may not be longer than that.
    const from = done - offset;
    if (offset >= 16) copy16(done, from, size);
    else if (offset >= 8) for (let i: usize = 0; i < size; i += 8) store<u64>(done + i, load<u64>(from + i));
    else for (let i: usize = 0; i < size; i++) store<u8>(done + i, load<u8>(from + i));
    done += size;
  }
  return done;
}

// @inline
function copy16(to: usize, from: usize, size: usize): void {
  let i: usize = 0;
  do {
    v128.store(to + i, v128.load(from + i));
    i += 16;
  } while (i < size);
}
