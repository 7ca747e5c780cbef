/** Packs the codes at CELL_CODES for the bytes of a field column (docs/dev/format.md#45-fields-of-lines). */
import { CELL_CODES, CODE_SYMBOLS, MAX_CODES, PACKED_CODES, USED_CODES } from './field-layout';

/**
 * Numbers the codes in use, ascending, at USED_CODES, and writes the numbers of the rows at PACKED_CODES: with up to 2, 4, 16 and 256
 * codes 1, 2, 4 and 8 bits a row, else the low bytes of all rows and their high bytes. One code needs no numbers.
 * @returns codes in use, or 0 if one is too large
 */
export function packCodes(rows: u32): u32 {
  memory.fill(CODE_SYMBOLS, 0, 2 * usize(MAX_CODES));
  for (let row: usize = 0; row < usize(rows); row++) {
    const code = load<u32>(CELL_CODES + (row << 2));
    if (code >= MAX_CODES) return 0;
    store<u16>(CODE_SYMBOLS + (usize(code) << 1), 1);
  }
  let used: u32 = 0;
  for (let code: u32 = 0; code < MAX_CODES; code++) {
    const at = CODE_SYMBOLS + (usize(code) << 1);
    if (load<u16>(at) === 0) continue;
    store<u32>(USED_CODES + (usize(used) << 2), code);
    store<u16>(at, u16(used++));
  }
  if (used > 256) packPlanes(usize(rows));
  else if (used > 16) packBits(usize(rows), 8);
  else if (used > 4) packBits(usize(rows), 4);
  else if (used > 2) packBits(usize(rows), 2);
  else if (used > 1) packBits(usize(rows), 1);
  return used;
}

// @inline
function symbolOf(row: usize): u32 {
  return u32(load<u16>(CODE_SYMBOLS + (usize(load<u32>(CELL_CODES + (row << 2))) << 1)));
}

// @inline
function packBits(rows: usize, bits: u32): void {
  const perByte = usize(8 / bits);
  let out = PACKED_CODES;
  for (let first: usize = 0; first < rows; first += perByte) {
    let byte: u32 = 0;
    let shift: u32 = 0;
    const end = min(first + perByte, rows);
    for (let row = first; row < end; row++) {
      byte |= symbolOf(row) << shift;
      shift += bits;
    }
    store<u8>(out++, u8(byte));
  }
}

function packPlanes(rows: usize): void {
  for (let row: usize = 0; row < rows; row++) {
    const symbol = symbolOf(row);
    store<u8>(PACKED_CODES + row, u8(symbol));
    store<u8>(PACKED_CODES + rows + row, u8(symbol >>> 8));
  }
}
