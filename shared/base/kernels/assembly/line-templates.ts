/**
 * Stores templates by their literals, and assigns columns to their variables. A variable after a key uses the
 * column of the key. Any other variable uses a column by its position and by the number of such variables in
 * the line.
 */
import {
  COLUMN_SLOTS,
  COLUMN_SLOTS_COUNT,
  copyOver,
  LITERAL_LENGTHS,
  LITERALS,
  lineByte,
  MAX_COLUMNS,
  MAX_PIECES,
  MAX_TEMPLATE_BYTES,
  MAX_TEMPLATES,
  PIECE_COLUMNS,
  PIECE_LENGTHS,
  SPANS,
  SPLIT_LINES,
  TEMPLATE_RECORD,
  TEMPLATE_SLOTS,
  TEMPLATE_SLOTS_COUNT,
  TEMPLATE_TEXT,
  TEMPLATES,
  VARIABLE_KEYS,
} from './split-layout';
import { COMMA, QUOTE, SPACE } from './text-bytes';

const FACTOR: u64 = 0x9e3779b97f4a7c15;
/** Maximum bytes of a key that are hashed, from its end. */
const MAX_KEY: usize = 64;

// Layout of a template's record.
const TEXT: usize = 4;
const TEXT_BYTES: usize = 8;
const FIRST_PIECE: usize = 12;
const VARIABLES: usize = 16;

let templates: usize = 0;
let columns: usize = 0;
let pieces: usize = 0;
let textBytes: usize = 0;
/** Template of the latest line that has one, or 0. */
let latest: usize = 0;

// @inline
export function templateCount(): usize {
  return templates;
}
// @inline
export function columnCount(): usize {
  return columns;
}
// @inline
export function pieceCount(): usize {
  return pieces;
}
// @inline
export function templateTextBytes(): usize {
  return textBytes;
}

/** Begins a page, with template 0 and column 0. */
export function clearTemplates(): void {
  memory.fill(TEMPLATE_SLOTS, 0, 2 * TEMPLATE_SLOTS_COUNT);
  memory.fill(COLUMN_SLOTS, 0, 8 * COLUMN_SLOTS_COUNT);
  templates = 1;
  latest = 0;
  columns = 1;
  pieces = 0;
  textBytes = 0;
}

/** Writes the literals of a line with `count` variables, from span `first` on. Returns their size, bytes. */
export function layLiterals(start: usize, end: usize, first: usize, count: usize): usize {
  let to = LITERALS;
  let at = start;
  for (let i: usize = 0; i < count; i++) {
    const span = SPANS + ((first + i) << 3);
    const from = usize(load<u32>(span));
    const bytes = from - at;
    copyOver(to, SPLIT_LINES + at, bytes);
    to += bytes;
    store<u16>(LITERAL_LENGTHS + (i << 1), u16(bytes));
    at = from + usize(load<u32>(span, 4));
  }
  copyOver(to, SPLIT_LINES + at, end - at);
  store<u16>(LITERAL_LENGTHS + (count << 1), u16(end - at));
  return to + (end - at) - LITERALS;
}

function same(a: usize, b: usize, bytes: usize): bool {
  let i: usize = 0;
  for (; i + 16 <= bytes; i += 16) {
    if (v128.any_true(v128.xor(v128.load(a + i), v128.load(b + i)))) return false;
  }
  for (; i + 4 <= bytes; i += 4) if (load<u32>(a + i) !== load<u32>(b + i)) return false;
  for (; i < bytes; i++) if (load<u8>(a + i) !== load<u8>(b + i)) return false;
  return true;
}

/** Hashes the literals, in two parts that do not wait for each other. */
// @inline
function hashOf(bytes: usize, count: usize): u32 {
  v128.store(LITERALS + bytes, i64x2.splat(0));
  let even = (u64(bytes) + (u64(count) << 32)) * FACTOR;
  let odd = FACTOR;
  for (let at: usize = 0; at < bytes; at += 16) {
    even = (even ^ load<u64>(LITERALS + at)) * FACTOR;
    even ^= even >>> 32;
    odd = (odd ^ load<u64>(LITERALS + at, 8)) * FACTOR;
    odd ^= odd >>> 32;
  }
  const mixed = (even ^ (odd << 29) ^ (odd >>> 35)) * FACTOR;
  return u32(mixed ^ (mixed >>> 29));
}

// @inline
function hasLiterals(own: usize, bytes: usize, count: usize): bool {
  return (
    usize(load<u32>(own, TEXT_BYTES)) === bytes &&
    usize(load<u32>(own, VARIABLES)) === count &&
    same(usize(load<u32>(own, TEXT)), LITERALS, bytes) &&
    same(PIECE_LENGTHS + (usize(load<u32>(own, FIRST_PIECE)) << 1), LITERAL_LENGTHS, (count + 1) << 1)
  );
}

/**
 * Returns the template of the literals at LITERALS, which belong to the line at `start`. Adds it if it is
 * new. Returns 0 if a limit is reached.
 */
export function findTemplate(bytes: usize, start: usize, count: usize): usize {
  // Most lines have the template of the line before.
  if (latest !== 0 && hasLiterals(TEMPLATES + latest * TEMPLATE_RECORD, bytes, count)) return latest;
  const hash = hashOf(bytes, count);
  let slot = usize(hash) & (TEMPLATE_SLOTS_COUNT - 1);
  for (;;) {
    const known = usize(load<u16>(TEMPLATE_SLOTS + (slot << 1)));
    if (known === 0) break;
    const own = TEMPLATES + known * TEMPLATE_RECORD;
    if (load<u32>(own) === hash && hasLiterals(own, bytes, count)) {
      latest = known;
      return known;
    }
    slot = (slot + 1) & (TEMPLATE_SLOTS_COUNT - 1);
  }
  if (
    templates === MAX_TEMPLATES ||
    textBytes + bytes > MAX_TEMPLATE_BYTES ||
    pieces + count + 1 > MAX_PIECES ||
    columns + count > MAX_COLUMNS
  ) {
    return 0;
  }
  const added = TEMPLATES + templates * TEMPLATE_RECORD;
  store<u32>(added, hash);
  store<u32>(added, u32(TEMPLATE_TEXT + textBytes), TEXT);
  store<u32>(added, u32(bytes), TEXT_BYTES);
  store<u32>(added, u32(pieces), FIRST_PIECE);
  store<u32>(added, u32(count), VARIABLES);
  memory.copy(TEMPLATE_TEXT + textBytes, LITERALS, bytes);
  memory.copy(PIECE_LENGTHS + (pieces << 1), LITERAL_LENGTHS, (count + 1) << 1);
  chooseColumns(start, count);
  textBytes += bytes;
  pieces += count + 1;
  store<u16>(TEMPLATE_SLOTS + (slot << 1), u16(templates));
  latest = templates++;
  return latest;
}

/** Assigns columns to the variables of the new template. */
function chooseColumns(start: usize, count: usize): void {
  let words: u32 = 0;
  for (let i: usize = 0; i < count; i++) if (load<u32>(VARIABLE_KEYS + (i << 2)) === 0) words++;
  let word: u32 = 0;
  for (let i: usize = 0; i < count; i++) {
    const end = usize(load<u32>(VARIABLE_KEYS + (i << 2)));
    const key = end === 0 ? (words << 16) + ++word : keyBefore(start, end);
    store<u16>(PIECE_COLUMNS + ((pieces + i) << 1), u16(columnOf(key)));
  }
  // The literal after the last variable has no column.
  store<u16>(PIECE_COLUMNS + ((pieces + count) << 1), 0);
}

/** Returns the hash of the key before a colon or equals sign; the highest bit is set. */
function keyBefore(start: usize, end: usize): u32 {
  let at = end;
  if (lineByte(at - 1) === QUOTE) at--;
  let hash: u32 = 17;
  for (let i: usize = 0; i < MAX_KEY && at > start; i++) {
    const byte = lineByte(--at);
    if (byte <= SPACE || byte === QUOTE || byte === COMMA) break;
    hash = hash * 31 + byte;
  }
  return hash | 0x80000000;
}

function columnOf(key: u32): usize {
  let slot = usize((key * 0x9e3779b1) >>> 16) & (COLUMN_SLOTS_COUNT - 1);
  let entry = COLUMN_SLOTS + (slot << 3);
  while (load<u32>(entry, 4) !== 0) {
    if (load<u32>(entry) === key) return usize(load<u32>(entry, 4));
    slot = (slot + 1) & (COLUMN_SLOTS_COUNT - 1);
    entry = COLUMN_SLOTS + (slot << 3);
  }
  store<u32>(entry, key);
  store<u32>(entry, u32(columns), 4);
  return columns++;
}
