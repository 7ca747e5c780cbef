/**
 * Reads a column of texts with a number (numbered-pack.ts): writes all of its texts, so that joins and searches read it like a column
 * of texts.
 */
import {
  DELTA,
  RECORD_BASE,
  RECORD_COUNT,
  RECORD_DETAIL,
  RECORD_MODE,
  RECORD_NUMBER,
  RECORD_WIDTH,
} from './number-pack';
import { joinNumber } from './number-text';
import { AFFIX_HEAD, NO_INDEXES, OWN_TEXT } from './numbered-pack';
import { copyOver, MAX_SPLIT_BYTES } from './split-layout';

const MAX_WIDTH: u64 = 7;
const MAX_FORM: u32 = 10;
const TEN_15: i64 = 1_000_000_000_000_000;
/** Padding after the texts, because copies run past their end. */
const PADDING: usize = 64;

// @inline
function align(bytes: usize): usize {
  return (bytes + 7) & ~7;
}

/** Returns the memory for the texts of a column, or -1 if its record is invalid. */
export function numberedBytes(record: usize, bytes: u64): i64 {
  const count = u64(load<u32>(record, RECORD_COUNT));
  const affixes = u64(load<u8>(record, RECORD_DETAIL));
  const mode = u32(load<u8>(record, RECORD_MODE));
  const text = u64(load<u32>(record, RECORD_NUMBER));
  if (affixes === 0 || affixes > count) return -1;
  if (u64(load<u8>(record, RECORD_WIDTH)) > MAX_WIDTH || text > u64(MAX_SPLIT_BYTES) || mode > 3) return -1;
  const least = u64(AFFIX_HEAD) * affixes + ((mode & NO_INDEXES) === 0 ? count : 0);
  if (least > bytes) return -1;
  return i64(align(4 * usize(count + 1)) + 16 * usize(affixes) + align(usize(text)) + PADDING);
}

/** Writes the texts to `room`: their starts and the end of the last one, then starts of affixes, then texts. */
export function layNumbered(record: usize, bytes: usize, end: usize, room: usize): bool {
  const count = usize(load<u32>(record, RECORD_COUNT));
  const affixes = usize(load<u8>(record, RECORD_DETAIL));
  const width = usize(load<u8>(record, RECORD_WIDTH));
  const mode = u32(load<u8>(record, RECORD_MODE));
  const indexes = (mode & NO_INDEXES) === 0 ? bytes : 0;
  const heads = indexes === 0 ? bytes : bytes + count;
  const startsAt = room + align(4 * (count + 1));
  let own = layAffixes(heads, affixes, end, startsAt);
  if (own === 0) return false;
  let numbers: usize = 0;
  let owns: usize = 0;
  if (indexes === 0) numbers = load<u8>(heads, 4) === 0 ? 0 : count;
  else {
    for (let i: usize = 0; i < count; i++) {
      const index = u32(load<u8>(indexes + i));
      if (index === OWN_TEXT) owns++;
      else if (usize(index) >= affixes) return false;
      else numbers += usize(load<u8>(heads + usize(index) * AFFIX_HEAD, 4) !== 0);
    }
  }
  let length = own;
  own += 2 * owns;
  if (own + width * numbers > end) return false;
  const planes = end - width * numbers;
  const isDelta = (mode & 1) === DELTA;
  const base = load<i64>(record, RECORD_BASE);
  let last = base;
  let next: usize = 0;
  let to = startsAt + 16 * affixes;
  const limit = to + usize(load<u32>(record, RECORD_NUMBER));
  for (let i: usize = 0; i < count; i++) {
    store<u32>(room + (i << 2), u32(to));
    const index = indexes === 0 ? 0 : u32(load<u8>(indexes + i));
    if (index === OWN_TEXT) {
      const text = usize(load<u16>(length));
      length += 2;
      if (own + text > planes || to + text > limit) return false;
      copyOver(to, own, text);
      own += text;
      to += text;
      continue;
    }
    const affix = startsAt + (usize(index) << 4);
    const start = usize(load<u32>(affix));
    const before = usize(load<u32>(affix, 4));
    const after = usize(load<u32>(affix, 8));
    const form = load<u32>(affix, 12);
    if (to + before + after > limit) return false;
    copyOver(to, start, before);
    to += before;
    if (form !== 0) {
      let rest: u64 = 0;
      let at = planes + next++;
      for (let plane: usize = 0; plane < width; plane++) {
        rest |= u64(load<u8>(at)) << (u64(plane) << 3);
        at += numbers;
      }
      if (isDelta) last += i64(rest >>> 1) ^ -i64(rest & 1);
      else last = base + i64(rest);
      if (last < 0 || last >= TEN_15) return false;
      const digits = joinNumber(last, form - 1, to, limit - after);
      if (digits > limit - after - to) return false;
      to += digits;
    }
    copyOver(to, start + before, after);
    to += after;
  }
  store<u32>(room + (count << 2), u32(to));
  return to === limit && own === planes;
}

/** Writes start, bytes before and after the number, and form of the affixes. Returns the end of their texts, or 0 if they are invalid. */
function layAffixes(heads: usize, affixes: usize, end: usize, startsAt: usize): usize {
  let text = heads + affixes * AFFIX_HEAD;
  if (text > end) return 0;
  for (let i: usize = 0; i < affixes; i++) {
    const head = heads + i * AFFIX_HEAD;
    if (u32(load<u8>(head, 4)) > MAX_FORM) return 0;
    const affix = startsAt + (i << 4);
    const before = u32(load<u16>(head));
    const after = u32(load<u16>(head, 2));
    store<u32>(affix, u32(text));
    store<u32>(affix, before, 4);
    store<u32>(affix, after, 8);
    store<u32>(affix, u32(load<u8>(head, 4)), 12);
    text += usize(before + after);
    if (text > end) return 0;
  }
  return text;
}
