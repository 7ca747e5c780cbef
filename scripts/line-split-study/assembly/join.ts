/**
 * Builds lines from templates and columns. The host writes, at addresses that it passes to `place`:
 *
 * ids u16 per row; 0 is a plain row starts u32 per template (from 1): its first piece pieces 12 bytes each:
 * text, its length, and the cursor of the column whose value follows, or 0 after the last one cursors u32 per
 * column: the address of its next value, which ends with a zero byte plain u32 per plain row: its length; the
 * lines themselves are at the cursor `lines` wanted one byte per row: 0 skips it
 *
 * Copies overrun by up to 15 bytes, so 16 bytes of slack after each of these and after `out` are required.
 */
let ids: usize = 0;
let starts: usize = 0;
let wanted: usize = 0;
let plain: usize = 0;
let lines: usize = 0;

export function place(idsAt: usize, startsAt: usize, wantedAt: usize, plainAt: usize, linesAt: usize): void {
  ids = idsAt;
  starts = startsAt;
  wanted = wantedAt;
  plain = plainAt;
  lines = linesAt;
}

// @inline
function copy(to: usize, from: usize, bytes: usize): void {
  let i: usize = 0;
  do {
    v128.store(to + i, v128.load(from + i));
    i += 16;
  } while (i < bytes);
}

/** Writes the wanted lines at `out` and returns their end. */
export function join(rows: u32, out: usize): usize {
  const zero = i8x16.splat(0);
  let nextPlain = plain;
  let nextLine = lines;
  for (let row: usize = 0; row < <usize>rows; row++) {
    const id = <usize>load<u16>(ids + (row << 1));
    const isWanted = load<u8>(wanted + row) !== 0;
    if (id === 0) {
      const bytes = <usize>load<u32>(nextPlain);
      nextPlain += 4;
      if (isWanted) {
        copy(out, nextLine, bytes);
        out += bytes;
      }
      nextLine += bytes;
      continue;
    }
    let piece = <usize>load<u32>(starts + (id << 2));
    for (;;) {
      const bytes = <usize>load<u32>(piece, 4);
      if (isWanted) {
        copy(out, <usize>load<u32>(piece), bytes);
        out += bytes;
      }
      const cursor = <usize>load<u32>(piece, 8);
      if (cursor === 0) break;
      let at = <usize>load<u32>(cursor);
      for (;;) {
        const value = v128.load(at);
        const ends = i8x16.bitmask(i8x16.eq(value, zero));
        if (isWanted) v128.store(out, value);
        const taken: usize = ends === 0 ? 16 : <usize>ctz(ends);
        at += taken;
        if (isWanted) out += taken;
        if (ends !== 0) break;
      }
      store<u32>(cursor, <u32>at + 1);
      piece += 12;
    }
  }
  return out;
}
