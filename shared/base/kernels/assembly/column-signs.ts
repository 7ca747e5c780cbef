/**
 * Signs of the values of columns before a message, for row-classes.ts: bytes that are not letters or digits. A column has the most of any
 * of its values, which few of them show, because a number does not change the signs of a text.
 */
import { NUMBER, NUMBERED, TEXT, WORDS } from './column-types';
import { RECORD_DETAIL, RECORD_MODE, RECORD_NUMBER, RECORD_TYPE, recordOf } from './number-pack';
import { AFFIX_HEAD, NO_INDEXES, OWN_TEXT } from './numbered-pack';
import { COLUMN_ENDS, COLUMN_OUTPUTS, COLUMN_SIGNS, SORTED_SPANS } from './split-layout';
import { EQUALS, QUOTE } from './text-bytes';
import { bytesOf, startOf } from './value-spans';

/** Values whose signs may begin or end a message, or are not known for the whole column. */
export const NO_SIGNS: u32 = 0xffffffff;
const MOST_SIGNS: u32 = 0xf0;

/** Returns at least the signs of any value of a column, or NO_SIGNS. */
export function signsOfColumn(column: usize): u32 {
  const known = u32(load<u8>(COLUMN_SIGNS + column));
  if (known !== 0) return known > MOST_SIGNS ? NO_SIGNS : known - 1;
  const signs = mostSigns(column);
  store<u8>(COLUMN_SIGNS + column, signs < MOST_SIGNS ? u8(signs + 1) : 0xff);
  return signs < MOST_SIGNS ? signs : NO_SIGNS;
}

function mostSigns(column: usize): u32 {
  const record = recordOf(column);
  const type = u32(load<u8>(record, RECORD_TYPE));
  if (type === NUMBER) return 0;
  if (type === TEXT) return NO_SIGNS;
  const out = usize(load<u32>(COLUMN_OUTPUTS + (column << 2)));
  if (type === WORDS) return signsOfEntries(out, usize(load<u32>(record, RECORD_NUMBER)));
  const first: usize = column === 0 ? 0 : usize(load<u32>(COLUMN_ENDS + ((column - 1) << 2)));
  const end = usize(load<u32>(COLUMN_ENDS + (column << 2)));
  if (type === NUMBERED) {
    const isIndexed = (u32(load<u8>(record, RECORD_MODE)) & NO_INDEXES) === 0;
    const count = isIndexed ? end - first : 0;
    return hasOwnTexts(out, count)
      ? NO_SIGNS
      : signsOfAffixes(out + count, usize(load<u8>(record, RECORD_DETAIL)));
  }
  // Values of the other types have the same bytes but digits, or hexadecimal ones.
  const start = startOf(SORTED_SPANS, first);
  return first === end ? NO_SIGNS : signsIn(start, start + bytesOf(SORTED_SPANS, first));
}

function signsOfEntries(out: usize, entries: usize): u32 {
  let most: u32 = 0;
  let at = out + (entries << 1);
  for (let i: usize = 0; i < entries; i++) {
    const end = at + usize(load<u16>(out + (i << 1)));
    const signs = signsIn(at, end);
    if (signs === NO_SIGNS) return NO_SIGNS;
    most = max(most, signs);
    at = end;
  }
  return most;
}

function hasOwnTexts(codes: usize, count: usize): bool {
  for (let i: usize = 0; i < count; i++) if (u32(load<u8>(codes + i)) === OWN_TEXT) return true;
  return false;
}

function signsOfAffixes(heads: usize, affixes: usize): u32 {
  let most: u32 = 0;
  let at = heads + affixes * AFFIX_HEAD;
  for (let i: usize = 0; i < affixes; i++) {
    const head = heads + i * AFFIX_HEAD;
    const end = at + usize(load<u16>(head)) + usize(load<u16>(head, 2));
    const signs = signsIn(at, end);
    if (signs === NO_SIGNS) return NO_SIGNS;
    // A number may have a decimal point.
    most = max(most, signs + 1);
    at = end;
  }
  return most;
}

/**
 * Returns the number of bytes that are not letters or digits, at least as many as words but one. Returns NO_SIGNS if one of them may begin
 * or end a message: a quote, an equals sign, a line feed.
 */
export function signsIn(from: usize, end: usize): u32 {
  let signs: u32 = 0;
  for (let at = from; at < end; at += 16) {
    const text = v128.load(at);
    const letter = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61));
    const digit = i8x16.sub(text, i8x16.splat(0x30));
    const plain = v128.or(i8x16.lt_u(letter, i8x16.splat(26)), i8x16.lt_u(digit, i8x16.splat(10)));
    const quote = i8x16.eq(text, i8x16.splat(u8(QUOTE)));
    const equals = i8x16.eq(text, i8x16.splat(u8(EQUALS)));
    const feed = i8x16.eq(text, i8x16.splat(0x0a));
    const inside: u32 = end - at < 16 ? (1 << u32(end - at)) - 1 : 0xffff;
    if ((i8x16.bitmask(v128.or(v128.or(quote, equals), feed)) & inside) !== 0) return NO_SIGNS;
    signs += popcnt(~i8x16.bitmask(plain) & inside);
  }
  return signs;
}
