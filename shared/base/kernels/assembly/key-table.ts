/**
 * Numbers the keys of JSON or logfmt lines in order of appearance, by their bytes and surrounding object. The
 * host names each key once (`nameKey`), and decides whether the parser must handle lines with it. A key is
 * represented by the address of its record.
 */
import {
  FIELD_LINES,
  KEY_SLOTS,
  KEY_TEXT,
  LINE_RECORD,
  MAX_KEY_BYTES,
  MAX_KEYS,
  RECORD_BYTES,
} from './field-layout';
import { clearGaps } from './gaps';

const SLOT_MASK: u32 = 2 * u32(MAX_KEYS) - 1;
/** Maximum slots probed for one key. Longer probe sequences occur only for keys chosen to collide. */
const MAX_PROBES: u32 = 32;

// Record layout: hash, the following fields, gaps, and the bytes of the key at KEY_TEXT.
const LENGTH: usize = 4;
const PARENT: usize = 8;
const NUMBER: usize = 12;
const FLAGS: usize = 16;
const DEPTH: usize = 20;

// Key flags from the host.
/** Lines with this key are left to the parser. */
const LEFT_TO_PARSER: u32 = 1;
/** Values of this key are not recorded. */
const UNWANTED: u32 = 2;

/** Reports a key with the next number to the host. Returns its flags. */
// @external("env", "nameKey")
declare function nameKey(table: usize, number: u32, start: usize, length: usize, parent: u32): u32;

export function clearKeys(table: usize): void {
  memory.fill(table, 0, LINE_RECORD + RECORD_BYTES);
  // The line is the object around keys with parent 0, at depth 0.
  const line = recordOf(table, 0);
  store<u32>(line, u32.MAX_VALUE, NUMBER);
  store<u32>(line, u32.MAX_VALUE, DEPTH);
  clearGaps(line);
}

export function keyCount(table: usize): u32 {
  return load<u32>(table);
}

/**
 * Returns the record of a key or of the line.
 * @param record 1 + number of the key, or 0 for the line
 */
// @inline
export function recordOf(table: usize, record: u32): usize {
  return table + LINE_RECORD + usize(record) * RECORD_BYTES;
}

/** Returns 1 + number of the key of the surrounding object, or 0 at the top. */
// @inline
export function parentOf(key: usize): u32 {
  return load<u32>(key, PARENT);
}

/** Returns the number of objects between the line and the key. */
// @inline
export function depthOf(key: usize): u32 {
  return load<u32>(key, DEPTH);
}

// @inline
export function isReserved(key: usize): bool {
  return (load<u32>(key, FLAGS) & LEFT_TO_PARSER) !== 0;
}

// @inline
export function isUnwanted(key: usize): bool {
  return (load<u32>(key, FLAGS) & UNWANTED) !== 0;
}

// @inline
export function numberOf(key: usize): u32 {
  return load<u32>(key, NUMBER);
}

/** Returns whether the bytes of the key equal those at `start` of the lines. */
function hasBytes(key: usize, start: usize, length: usize): bool {
  const own = key + KEY_TEXT;
  const other = FIELD_LINES + start;
  for (let i: usize = 0; i < length; i += 8) {
    if (wordOf(own, i, length) !== wordOf(other, i, length)) return false;
  }
  return true;
}

/** Returns up to eight bytes of a text from `i` on, followed by zeros. */
// @inline
function wordOf(text: usize, i: usize, length: usize): u64 {
  const word = load<u64>(text + i);
  return length - i >= 8 ? word : word & ((u64(1) << u64((length - i) << 3)) - 1);
}

/**
 * Returns the key at `start` to `end` of the lines, and adds it if it is new. Returns 0 if the table is full.
 * @param parent 1 + number of the object's key, or 0 at the top
 */
export function findKey(table: usize, start: usize, end: usize, parent: u32): usize {
  const length = end - start;
  if (length > MAX_KEY_BYTES) return 0;
  let mixed = (u64(length) << 32) | u64(parent);
  for (let i: usize = 0; i < length; i += 8) {
    mixed = (mixed ^ wordOf(FIELD_LINES + start, i, length)) * 0x9e37_79b9_7f4a_7c15;
    mixed ^= mixed >>> 29;
  }
  // Only the upper bits of a product depend on all bytes.
  const hash = u32(mixed >>> 32);
  let slot = (hash ^ (hash >>> 16)) & SLOT_MASK;
  for (let probe: u32 = 0; probe < MAX_PROBES; probe++) {
    const slotAt = table + KEY_SLOTS + (usize(slot) << 2);
    const key = usize(load<u32>(slotAt));
    if (key === 0) return addKey(table, slotAt, hash, start, length, parent);
    if (load<u32>(key) === hash && parentOf(key) === parent && usize(load<u32>(key, LENGTH)) === length) {
      if (hasBytes(key, start, length)) return key;
    }
    slot = (slot + 1) & SLOT_MASK;
  }
  return 0;
}

function addKey(table: usize, slotAt: usize, hash: u32, start: usize, length: usize, parent: u32): usize {
  const number = keyCount(table);
  if (usize(number) === MAX_KEYS) return 0;
  const key = recordOf(table, number + 1);
  store<u32>(key, hash);
  store<u32>(key, u32(length), LENGTH);
  store<u32>(key, parent, PARENT);
  store<u32>(key, number, NUMBER);
  store<u32>(key, nameKey(table, number, FIELD_LINES + start, length, parent), FLAGS);
  store<u32>(key, depthOf(recordOf(table, parent)) + 1, DEPTH);
  clearGaps(key);
  memory.copy(key + KEY_TEXT, FIELD_LINES + start, length);
  store<u32>(slotAt, u32(key));
  store<u32>(table, number + 1);
  return key;
}
