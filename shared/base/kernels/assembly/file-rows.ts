/**
 * Writes rows as bytes of a file: plain lines, JSON lines or CSV. The host writes the columns of the rows,
 * their label texts and their lines. `fileBytes` returns the size of all rows, and each `writeFileRows`
 * writes a part. A row that does not fit into a part continues in the next one.
 *
 *     text    LINE \n
 *     JSON    head  hh:mm:ss.nnnnnnnnn  labels  escaped line  tail
 *     CSV     the same; a line with a quote, comma or end of line is quoted
 *
 * The host lays out the memory. Loads run up to SLACK past the end of a text, stores up to FILE_SLACK past
 * the end of a part.
 */
import { BASE } from './layout';

/** Escape of each byte: up to 6 bytes, and their number in the last of 8. 0 means the byte itself. */
export const FILE_ESCAPES: usize = BASE;
/**
 * Addresses, in this order: order, times, starts, ends, labels, label offsets, label texts, lines, head, head
 * end, tail, tail end.
 */
export const FILE_ADDRESSES: usize = FILE_ESCAPES + 256 * 8;
/** Padding after a part: a head with its time, or a block of a line in which each byte is escaped. */
export const FILE_SLACK: usize = 256;
/** Maximum size of the head and of the tail. */
export const FILE_MAX_HEAD: usize = 64;

export const FILE_TEXT: u32 = 0;
export const FILE_JSON: u32 = 1;
export const FILE_CSV: u32 = 2;

/** Size of `hh:mm:ss.nnnnnnnnn`. */
const TIME_BYTES: usize = 18;
const QUOTE: u8 = 0x22;

const AT_ROW: u32 = 0;
const IN_LABELS: u32 = 1;
const IN_LINE: u32 = 2;
const AT_END: u32 = 3;

let kind: u32 = 0;
let rows: usize = 0;
let row: usize = 0;
let state: u32 = AT_ROW;
/** Remaining labels. */
let labelsAt: usize = 0;
let labelsEnd: usize = 0;
/** Remaining line. */
let lineAt: usize = 0;
let lineEnd: usize = 0;
let isQuoted: bool = false;
/** End of a copy that ran into the limit. */
let writtenTo: usize = 0;
let second: u32 = 0xffffffff;
/** Text `hh:mm:ss.` of that second. */
let clock: u64 = 0;

// @inline
function address(i: usize): usize {
  return usize(load<u32>(FILE_ADDRESSES + (i << 2)));
}

/** Starts a file with the rows that are in memory. */
export function openFile(ofKind: u32, count: u32): void {
  kind = ofKind;
  rows = usize(count);
  row = 0;
  state = AT_ROW;
  second = 0xffffffff;
}

/** Returns the size of all rows, bytes. */
export function fileBytes(): f64 {
  const fixed: usize =
    kind === FILE_TEXT ? 1 : address(9) - address(8) + TIME_BYTES + address(11) - address(10);
  const lines = address(7);
  let bytes: u64 = u64(fixed) * u64(rows);
  for (let i: usize = 0; i < rows; i++) {
    const start = lines + usize(load<u32>(address(2) + (i << 2)));
    const end = lines + usize(load<u32>(address(3) + (i << 2)));
    bytes += u64(end - start);
    if (kind === FILE_TEXT) continue;
    const offset = address(5) + (usize(load<u32>(address(4) + (i << 2))) << 2);
    bytes += u64(load<u32>(offset, 4) - load<u32>(offset));
    bytes += u64(kind === FILE_JSON ? jsonGrowth(start, end) : csvGrowth(start, end));
  }
  return f64(bytes);
}

/** Returns the additional bytes of the escaped line. */
function jsonGrowth(start: usize, end: usize): u32 {
  let growth: u32 = 0;
  for (let at = start; at < end; at += 16) {
    const block = v128.load(at);
    const within = end - at < 16 ? (1 << u32(end - at)) - 1 : 0xffff;
    growth += popcnt(u32(i8x16.bitmask(simple(block))) & within);
    let controls = u32(i8x16.bitmask(i8x16.lt_u(block, i8x16.splat(0x20)))) & within;
    while (controls !== 0) {
      growth += u32(load<u8>(FILE_ESCAPES + (usize(load<u8>(at + ctz(controls))) << 3), 7)) - 1;
      controls &= controls - 1;
    }
  }
  return growth;
}

function csvGrowth(start: usize, end: usize): u32 {
  let quotes: u32 = 0;
  let marks: u32 = 0;
  for (let at = start; at < end; at += 16) {
    const block = v128.load(at);
    const within = end - at < 16 ? (1 << u32(end - at)) - 1 : 0xffff;
    quotes += popcnt(u32(i8x16.bitmask(i8x16.eq(block, i8x16.splat(QUOTE)))) & within);
    marks |= u32(i8x16.bitmask(quoted(block))) & within;
  }
  return marks === 0 ? 0 : quotes + 2;
}

/** Marks bytes that JSON escapes with a backslash and the byte itself. */
// @inline
function simple(block: v128): v128 {
  return v128.or(i8x16.eq(block, i8x16.splat(QUOTE)), i8x16.eq(block, i8x16.splat(0x5c)));
}

/** Marks bytes for which CSV quotes a field. */
// @inline
function quoted(block: v128): v128 {
  const ends = v128.or(i8x16.eq(block, i8x16.splat(0x0a)), i8x16.eq(block, i8x16.splat(0x0d)));
  const marks = v128.or(i8x16.eq(block, i8x16.splat(QUOTE)), i8x16.eq(block, i8x16.splat(0x2c)));
  return v128.or(ends, marks);
}

/**
 * Writes the next bytes from `from` to `limit` or slightly beyond. Returns the end of the output, or `from`
 * if all rows are written.
 */
export function writeFileRows(from: usize, limit: usize): usize {
  let out = from;
  while (row < rows) {
    if (out >= limit) return out;
    if (state === AT_ROW) {
      const number = usize(load<u32>(address(0) + (row << 2)));
      lineAt = address(7) + usize(load<u32>(address(2) + (number << 2)));
      lineEnd = address(7) + usize(load<u32>(address(3) + (number << 2)));
      if (kind === FILE_TEXT) state = IN_LINE;
      else {
        out = writeHead(out, number);
        state = IN_LABELS;
      }
    }
    if (state === IN_LABELS) {
      const bytes = min(labelsEnd - labelsAt, limit > out ? limit - out : 0);
      copyOver(out, labelsAt, bytes);
      labelsAt += bytes;
      out += bytes;
      if (labelsAt < labelsEnd) return out;
      isQuoted = kind === FILE_CSV && csvGrowth(lineAt, lineEnd) > 0;
      if (isQuoted) store<u8>(out++, QUOTE);
      state = IN_LINE;
    }
    if (state === IN_LINE) {
      if (kind === FILE_JSON || isQuoted) {
        if (!writeEscaped(out, limit)) return writtenTo;
        out = writtenTo;
      } else {
        const bytes = min(lineEnd - lineAt, limit > out ? limit - out : 0);
        copyOver(out, lineAt, bytes);
        lineAt += bytes;
        out += bytes;
        if (lineAt < lineEnd) return out;
      }
      state = AT_END;
    }
    if (isQuoted) store<u8>(out++, QUOTE);
    isQuoted = false;
    if (kind === FILE_TEXT) store<u8>(out++, 0x0a);
    else {
      const tail = address(11) - address(10);
      copyOver(out, address(10), tail);
      out += tail;
    }
    state = AT_ROW;
    row++;
  }
  return out;
}

function writeHead(to: usize, number: usize): usize {
  const bytes = address(9) - address(8);
  copyOver(to, address(8), bytes);
  const time = u64(load<f64>(address(1) + (number << 3)));
  const seconds = u32(time / 1_000_000_000);
  if (seconds !== second) {
    second = seconds;
    const minutes = seconds / 60;
    clock = digits(minutes / 60) | (digits(minutes % 60) << 24) | (digits(seconds % 60) << 48);
  }
  const out = to + bytes;
  store<u64>(out, clock | 0x00003a00003a0000);
  store<u8>(out, 0x2e, 8);
  let rest = u32(time - u64(seconds) * 1_000_000_000);
  for (let i = out + 17; i > out + 8; i--) {
    const shorter = rest / 10;
    store<u8>(i, u8(0x30 + rest - shorter * 10));
    rest = shorter;
  }
  const offset = address(5) + (usize(load<u32>(address(4) + (number << 2))) << 2);
  labelsAt = address(6) + usize(load<u32>(offset));
  labelsEnd = address(6) + usize(load<u32>(offset, 4));
  return out + TIME_BYTES;
}

/** Returns two digits, the first in the lower byte. */
// @inline
function digits(value: u32): u64 {
  const tens = value / 10;
  return u64(0x3030 + tens + ((value - tens * 10) << 8));
}

/** Writes the line with its escapes until the limit; `writtenTo` is the end of the output. */
function writeEscaped(to: usize, limit: usize): bool {
  let out = to;
  let at = lineAt;
  while (at < lineEnd) {
    if (out >= limit) {
      lineAt = at;
      writtenTo = out;
      return false;
    }
    const block = v128.load(at);
    v128.store(out, block);
    const marks =
      kind === FILE_JSON
        ? v128.or(simple(block), i8x16.lt_u(block, i8x16.splat(0x20)))
        : i8x16.eq(block, i8x16.splat(QUOTE));
    let bits = u32(i8x16.bitmask(marks));
    const left = lineEnd - at;
    // Mark the end of the line like a special byte.
    if (left < 16) bits = (bits & ((1 << u32(left)) - 1)) | (1 << u32(left));
    if (bits === 0) {
      at += 16;
      out += 16;
      continue;
    }
    const next = usize(ctz(bits));
    at += next;
    out += next;
    if (next === left) break;
    const replaced = FILE_ESCAPES + (usize(load<u8>(at)) << 3);
    store<u64>(out, load<u64>(replaced));
    out += usize(load<u8>(replaced, 7));
    at++;
  }
  lineAt = lineEnd;
  writtenTo = out;
  return true;
}

// @inline
function copyOver(to: usize, from: usize, bytes: usize): void {
  for (let i: usize = 0; i < bytes; i += 16) v128.store(to + i, v128.load(from + i));
}
