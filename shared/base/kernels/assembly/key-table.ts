/**
 * Numbers the keys of JSON or logfmt lines in order of appearance, by their bytes and surrounding object. The
 * host names each key once (`nameKey`), and decides whether the parser must handle lines with it. A key is
 * represented by the address of its record.
 */
import {
  byteAt,
  FIELD_LINES,
  KEY_SLOTS,
  KEY_TEXT,
  MAX_KEY_BYTES,
  MAX_KEYS,
  RECORD_BYTES,
  START_RECORD,
} from './field-layout';

const SLOT_MASK: u32 = 2 * u32(MAX_KEYS) - 1;
/** Maximum slots probed for one key. Longer probe sequences occur only for keys chosen to collide. */
const MAX_PROBES: u32 = 32;

// Record layout: hash, the following fields, and the bytes of the key at KEY_TEXT.
const LENGTH: usize = 4;
const PARENT: usize = 8;
const NUMBER: usize = 12;
const FLAGS: usize = 16;
const FOLLOWER: usize = 20;

// Key flags from the host.
/** Lines with this key are left to the parser. */
const LEFT_TO_PARSER: u32 = 1;
/** Values of this key are not recorded. */
const UNWANTED: u32 = 2;

/** Reports a key with the next number to the host. Returns its flags. */
// @external("env", "nameKey")
declare function nameKey(table: usize, number: u32, start: usize, length: usize, parent: u32): u32;

export function clearKeys(table: usize): void {
  memory.fill(table, 0, START_RECORD + RECORD_BYTES);
}

export function keyCount(table: usize): u32 {
  return load<u32>(table);
}

// @inline
export function startOfLine(table: usize): usize {
  return table + START_RECORD;
}

/** Returns the key that last followed `key`, or 0. */
// @inline
export function followerOf(key: usize): usize {
  return usize(load<u32>(key, FOLLOWER));
}

// @inline
export function follow(key: usize, follower: usize): void {
  store<u32>(key, u32(follower), FOLLOWER);
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

// @inline
export function lengthOf(key: usize): usize {
  return usize(load<u32>(key, LENGTH));
}

/**
 * Returns whether the bytes at `at` are the key's and it belongs to that object. Ignores the bytes after it.
 */
// @inline
export function matches(key: usize, parent: u32, at: usize, end: usize): bool {
  const length = lengthOf(key);
  if (load<u32>(key, PARENT) !== parent || at + length > end) return false;
  const own = key + KEY_TEXT;
  const other = FIELD_LINES + at;
  if (length <= 16) {
    const same = i8x16.bitmask(i8x16.eq(v128.load(own), v128.load(other)));
    const wanted = (1 << u32(length)) - 1;
    return (same & wanted) === wanted;
  }
  const last = length - 16;
  for (let i: usize = 0; i < last; i += 16) {
    if (v128.any_true(v128.xor(v128.load(own + i), v128.load(other + i)))) return false;
  }
  return !v128.any_true(v128.xor(v128.load(own + last), v128.load(other + last)));
}

/**
 * Returns the key at `start` to `end` of the lines, and adds it if it is new. Returns 0 if the table is full.
 * @param parent 1 + number of the object's key, or 0 at the top
 */
export function findKey(table: usize, start: usize, end: usize, parent: u32): usize {
  const length = end - start;
  if (length > MAX_KEY_BYTES) return 0;
  let hash = u32(length) ^ (parent * 0x9e3779b1);
  for (let at = start; at < end; at++) hash = hash * 31 + byteAt(at);
  hash = (hash ^ (hash >>> 15)) * 0x85ebca6b;
  let slot = (hash ^ (hash >>> 13)) & SLOT_MASK;
  for (let probe: u32 = 0; probe < MAX_PROBES; probe++) {
    const place = table + KEY_SLOTS + (usize(slot) << 2);
    const key = usize(load<u32>(place));
    if (key === 0) return addKey(table, place, hash, start, length, parent);
    if (load<u32>(key) === hash && lengthOf(key) === length && matches(key, parent, start, end)) return key;
    slot = (slot + 1) & SLOT_MASK;
  }
  return 0;
}

function addKey(table: usize, place: usize, hash: u32, start: usize, length: usize, parent: u32): usize {
  const number = keyCount(table);
  if (usize(number) === MAX_KEYS) return 0;
  const key = startOfLine(table) + (usize(number) + 1) * RECORD_BYTES;
  store<u32>(key, hash);
  store<u32>(key, u32(length), LENGTH);
  store<u32>(key, parent, PARENT);
  store<u32>(key, number, NUMBER);
  store<u32>(key, nameKey(table, number, FIELD_LINES + start, length, parent), FLAGS);
  store<u32>(key, 0, FOLLOWER);
  memory.copy(key + KEY_TEXT, FIELD_LINES + start, length);
  store<u32>(place, u32(key));
  store<u32>(table, number + 1);
  return key;
}
