/**
 * Texts that are remembered from page to page, for mined-classes.ts. Each has a number from 1 on, and the address of further
 * data. When the memory is full, no text is added.
 */
import {
  MAX_MINED_TEXT_BYTES,
  MAX_MINED_TEXTS,
  MINED_BYTES,
  MINED_BYTES_SIZE,
  MINED_SLOTS,
  MINED_SLOTS_COUNT,
  MINED_TEXT,
  MINED_TEXTS,
} from './split-layout';
import { areEqual, hashOf } from './text-equality';

/** Number of a text that is not remembered. */
export const NO_TEXT: u32 = 0x7fffffff;

/** Whether the latest text was added. */
export let isNewText = false;

// Layout of a record: hash, address, size, address of data or 0.
const ADDRESS: usize = 4;
const BYTES: usize = 8;
const DATA: usize = 12;

let texts: usize = 0;
let used: usize = 0;

export function clearTexts(): void {
  memory.fill(MINED_SLOTS, 0, 2 * MINED_SLOTS_COUNT);
  texts = 0;
  used = 0;
}

/** Returns the address at which a text of this size can be written, or 0. It is there until `keepBytes` or `numberOfText` is called. */
export function textSpace(bytes: usize): usize {
  return bytes > MAX_MINED_TEXT_BYTES ? 0 : MINED_BYTES + used;
}

/** Returns the address at which this many bytes can be kept, or 0. */
export function freeBytes(bytes: usize): usize {
  return used + bytes > MINED_BYTES_SIZE ? 0 : MINED_BYTES + used;
}

/** Keeps what was written up to an address. */
export function keepBytes(end: usize): void {
  used = (end - MINED_BYTES + 7) & ~7;
}

/** Returns the number of the text that was written up to `end`, or NO_TEXT if there are too many. */
export function numberOfText(end: usize): u32 {
  const start = MINED_BYTES + used;
  const hash = hashOf(start, end - start);
  let slot = usize(hash) & (MINED_SLOTS_COUNT - 1);
  for (;;) {
    const known = u32(load<u16>(MINED_SLOTS + (slot << 1)));
    if (known === 0) break;
    const own = MINED_TEXTS + usize(known) * MINED_TEXT;
    if (
      load<u32>(own) === hash &&
      usize(load<u32>(own, BYTES)) === end - start &&
      areEqual(usize(load<u32>(own, ADDRESS)), start, end - start)
    ) {
      isNewText = false;
      return known;
    }
    slot = (slot + 1) & (MINED_SLOTS_COUNT - 1);
  }
  if (texts === MAX_MINED_TEXTS || end > MINED_BYTES + MINED_BYTES_SIZE) return NO_TEXT;
  const own = MINED_TEXTS + ++texts * MINED_TEXT;
  store<u32>(own, hash);
  store<u32>(own, u32(start), ADDRESS);
  store<u32>(own, u32(end - start), BYTES);
  store<u32>(own, 0, DATA);
  store<u16>(MINED_SLOTS + (slot << 1), u16(texts));
  keepBytes(end);
  isNewText = true;
  return u32(texts);
}

// @inline
export function dataOfText(number: u32): usize {
  return usize(load<u32>(MINED_TEXTS + usize(number) * MINED_TEXT, DATA));
}

// @inline
export function setDataOfText(number: u32, data: usize): void {
  store<u32>(MINED_TEXTS + usize(number) * MINED_TEXT, u32(data), DATA);
}
