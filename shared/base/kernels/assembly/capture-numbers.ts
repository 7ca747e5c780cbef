/**
 * Numbers the captures of lines, after `splitLines` (shared/base/kernels/literal-finder.ts): equal texts have equal numbers.
 *
 *     count | bytes of texts | slots: number of a capture, by hash | address, length and hash of each text | texts
 *
 * The texts are copies, because the lines are overwritten.
 */
import { areEqual, hashOf } from './text-equality';

/** Maximum number of different captures. Others have no number. */
export const MAX_CAPTURE_NUMBERS: i32 = 4096;
/** Maximum length of a capture with a number, bytes. */
const MAX_TEXT: usize = 256;
/** Bytes of the texts, with a last one and the bytes that a comparison reads after it. */
const TEXT_BYTES: usize = 128 * 1024;
const SLACK: usize = 64;
const SLOTS: usize = 8192;
const ENTRY_BYTES: usize = 12;
/** Maximum slots that are looked at. Captures chosen to collide have no number. */
const MAX_PROBES = 16;

const SLOTS_AT: usize = 16;
const ENTRIES_AT: usize = SLOTS_AT + 4 * SLOTS;
const TEXTS_AT: usize = ENTRIES_AT + ENTRY_BYTES * (usize(MAX_CAPTURE_NUMBERS) + 1);
/** Offset in a table of the texts, in the order of their numbers. */
export const CAPTURE_TEXTS: i32 = i32(TEXTS_AT);
export const CAPTURE_TABLE_BYTES: i32 = i32(TEXTS_AT + TEXT_BYTES + MAX_TEXT + SLACK);

export function clearCaptures(table: usize): void {
  memory.fill(table, 0, ENTRIES_AT);
}

/** Writes the start of each text from CAPTURE_TEXTS on, and the end of the last one. Returns their number. */
export function captureStarts(table: usize, out: usize): i32 {
  const count = load<i32>(table);
  let at: u32 = 0;
  store<u32>(out, at);
  for (let number: i32 = 1; number <= count; number++) {
    at += load<u32>(table + ENTRIES_AT + ENTRY_BYTES * usize(number), 4);
    store<u32>(out + (usize(number) << 2), at);
  }
  return count;
}

/**
 * @param rows Words with the starts of the lines, then the end of the last line at `rowsEnd`
 * @param lead Number of bytes to skip at the start of each line
 * @param stops Output of `splitLines`, `steps` words for each row
 * @param capture Number of the capture in the pattern; literal i ends capture i
 * @param before Length of the literal before the capture; unused for the first one
 * @param table Table that `clearCaptures` cleared
 * @param out Output, a word for each row: number from 1, 0 if the row has no such capture, -1 if its text has no number
 */
export function numberCaptures(
  rows: usize,
  rowsEnd: usize,
  lead: usize,
  stops: usize,
  steps: usize,
  capture: usize,
  before: usize,
  table: usize,
  out: usize,
): void {
  let latest: i32 = 0;
  for (let at = rows; at < rowsEnd; at += 4, stops += 4 * steps, out += 4) {
    const line = usize(load<u32>(at));
    let end = usize(load<u32>(at, 4));
    let start = line + lead;
    let isSet = line !== end;
    if (capture > 0) {
      const stop = load<i32>(stops + 4 * (capture - 1));
      isSet = isSet && stop !== -1;
      start = usize(u32(stop)) + before;
    }
    if (capture < steps) {
      const stop = load<i32>(stops + 4 * capture);
      if (stop !== -1) end = usize(u32(stop));
    }
    if (!isSet || start > end) {
      store<i32>(out, 0);
      continue;
    }
    // Neighbors often have the same text, such as a status.
    if (latest <= 0 || !isText(latest, start, end - start, table))
      latest = numberOf(start, end - start, table);
    store<i32>(out, latest);
  }
}

// @inline
function isText(number: i32, start: usize, length: usize, table: usize): bool {
  const entry = table + ENTRIES_AT + ENTRY_BYTES * usize(number);
  return usize(load<u32>(entry, 4)) === length && areEqual(usize(load<u32>(entry)), start, length);
}

/** Returns the number of a text, or -1. */
// @inline
function numberOf(start: usize, length: usize, table: usize): i32 {
  if (length > MAX_TEXT) return -1;
  const hash = hashOf(start, length);
  let slot = usize(hash) & (SLOTS - 1);
  for (let probe = 0; probe < MAX_PROBES; probe++) {
    const number = load<i32>(table + SLOTS_AT + 4 * slot);
    if (number === 0) return add(start, length, hash, slot, table);
    const entry = table + ENTRIES_AT + ENTRY_BYTES * usize(number);
    if (load<u32>(entry, 8) === hash && isText(number, start, length, table)) return number;
    slot = (slot + 1) & (SLOTS - 1);
  }
  return -1;
}

/** Adds a text. Returns its number, or -1 if the table is full. */
function add(start: usize, length: usize, hash: u32, slot: usize, table: usize): i32 {
  const count = load<i32>(table);
  const used = usize(load<u32>(table, 4));
  if (count === MAX_CAPTURE_NUMBERS || used > TEXT_BYTES) return -1;
  const number = count + 1;
  const text = table + TEXTS_AT + used;
  memory.copy(text, start, length);
  const entry = table + ENTRIES_AT + ENTRY_BYTES * usize(number);
  store<u32>(entry, u32(text));
  store<u32>(entry, u32(length), 4);
  store<u32>(entry, hash, 8);
  store<u32>(table + SLOTS_AT + 4 * slot, u32(number));
  store<i32>(table, number);
  store<u32>(table, u32(used + length), 4);
  return number;
}
