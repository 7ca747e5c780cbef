/**
 * Distinct values of one field of a page, by their bytes, numbered from 0 in the order of their first occurrence. Loads run up to 8 bytes
 * past a text.
 */
import {
  CELL_BYTES,
  CELL_HASHES,
  CELL_SLOTS,
  CELL_SLOTS_COUNT,
  CELL_STARTS,
  MAX_CELL_BYTES,
  MAX_CELL_VALUES,
} from './field-layout';
import { areEqual, hashOf } from './text-equality';
import { isCleanUtf8 } from './utf8';

/** Result if the table has no space for another value. */
export const FULL: u32 = 0xffffffff;
/** Result for bytes that parsers would show as a different text. */
export const BROKEN: u32 = 0xfffffffe;

/**
 * Maximum slots for one value. Longer searches occur only for values chosen to collide. The table then counts
 * as full.
 */
const MAX_PROBES: u32 = 64;

let values: u32 = 0;

export function clearValues(): void {
  memory.fill(CELL_SLOTS, 0, 2 * CELL_SLOTS_COUNT);
  store<u32>(CELL_STARTS, 0);
  values = 0;
}

export function cellValueCount(): u32 {
  return values;
}

// @inline
export function valueStart(value: u32): usize {
  return CELL_BYTES + usize(load<u32>(CELL_STARTS + (usize(value) << 2)));
}

/** Returns the number of a value, FULL or BROKEN. */
export function findValue(start: usize, length: usize): u32 {
  const hash = hashOf(start, length);
  let slot = usize(hash) & (CELL_SLOTS_COUNT - 1);
  for (let probe: u32 = 0; probe < MAX_PROBES; probe++) {
    const known = u32(load<u16>(CELL_SLOTS + (slot << 1)));
    if (known === 0) return addValue(slot, hash, start, length);
    const value = known - 1;
    if (load<u32>(CELL_HASHES + (usize(value) << 2)) === hash) {
      const own = valueStart(value);
      if (valueStart(known) - own === length && areEqual(own, start, length)) return value;
    }
    slot = (slot + 1) & (CELL_SLOTS_COUNT - 1);
  }
  return FULL;
}

function addValue(slot: usize, hash: u32, start: usize, length: usize): u32 {
  if (!isCleanUtf8(start, length)) return BROKEN;
  const from = load<u32>(CELL_STARTS + (usize(values) << 2));
  if (values === MAX_CELL_VALUES || u32(length) > MAX_CELL_BYTES - from) return FULL;
  memory.copy(CELL_BYTES + usize(from), start, length);
  store<u32>(CELL_HASHES + (usize(values) << 2), hash);
  store<u32>(CELL_STARTS + (usize(values) << 2), from + u32(length), 4);
  store<u16>(CELL_SLOTS + (slot << 1), u16(values + 1));
  return values++;
}
