/**
 * Texts whose terms are added: they are copied one after the other to where terms of lines are found, each as a line. Equal texts
 * are mostly copied once.
 */
import { quickHashOf } from './recent-spans';
import {
  copyOver,
  SEEN_BORDERS,
  SEEN_BORDERS_BITS,
  SEEN_BORDERS_COUNT,
  SEEN_TEXTS,
  SEEN_TEXTS_COUNT,
} from './split-layout';
import { MAX_TERM_BYTES, MAX_TERM_ROWS, TERM_LINES, TERM_OFFSETS } from './term-layout';
import { areEqual } from './text-equality';
import { scanTerms } from './text-terms';

let texts: usize = 0;
let bytesOfTexts: usize = 0;

export function clearGathered(): void {
  memory.fill(SEEN_TEXTS, 0, 8 * SEEN_TEXTS_COUNT);
  memory.fill(SEEN_BORDERS, 0, 8 * SEEN_BORDERS_COUNT);
  texts = 0;
  bytesOfTexts = 0;
  store<u32>(TERM_OFFSETS, 0);
}

/** Adds the terms of the texts. */
export function scanGathered(): void {
  if (texts > 0) scanTerms(u32(texts), true, true);
  texts = 0;
  bytesOfTexts = 0;
}

/** Returns the address for a text of up to `bytes` bytes, which `endText` ends. */
// @inline
export function beginText(bytes: usize): usize {
  if (texts === MAX_TERM_ROWS || bytesOfTexts + bytes > MAX_TERM_BYTES) scanGathered();
  return TERM_LINES + bytesOfTexts;
}

// @inline
export function endText(bytes: usize): void {
  bytesOfTexts += bytes;
  store<u32>(TERM_OFFSETS + (++texts << 2), u32(bytesOfTexts));
}

/** Gathers a text of up to MAX_TERM_BYTES. */
// @inline
export function gather(from: usize, bytes: usize): void {
  copyOver(beginText(bytes), from, bytes);
  endText(bytes);
}

/** Gathers a text if it did not occur recently. It must remain at its address. */
export function gatherOnce(from: usize, bytes: usize): void {
  if (bytes >= 4) {
    const slot = usize(quickHashOf(from, bytes) >>> 16) & (SEEN_TEXTS_COUNT - 1);
    const entry = SEEN_TEXTS + (slot << 3);
    const known = usize(load<u32>(entry));
    if (known !== 0 && usize(load<u32>(entry, 4)) === bytes && areEqual(known, from, bytes)) return;
    store<u32>(entry, u32(from));
    store<u32>(entry, u32(bytes), 4);
  }
  gather(from, bytes);
}

/** Returns whether the eight bytes around a border occurred recently; records them if not. Zeros, as in unused entries, never did. */
// @inline
export function isSeenBorder(bytes: u64): bool {
  const entry = SEEN_BORDERS + (usize((bytes * 0x9e3779b97f4a7c15) >>> (64 - SEEN_BORDERS_BITS)) << 3);
  const isSeen = load<u64>(entry) === bytes && bytes !== 0;
  store<u64>(entry, bytes);
  return isSeen;
}
