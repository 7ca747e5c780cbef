/**
 * Finds out what pattern mining sees of the lines of a template without a message, for row-classes.ts: their first line of text, or all
 * values. A text in quotes with many words is one word to mining, whatever it is.
 */
import {
  FIRST_PIECE_OF,
  MAX_ROW_VALUES,
  PIECE_LENGTHS,
  TEMPLATE_BYTES_OF,
  TEMPLATE_TEXT_OF,
  VARIABLES_OF,
} from './split-layout';
import { CLOSE_BRACKET, EQUALS, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './text-bytes';
import { inWord } from './word-bytes';

/** What mining sees of the lines of a template. */
export const WHOLE_LINE: u32 = 1;
export const FIRST_LINE: u32 = 2;
/** Too many values. */
export const NO_LINE: u32 = 3;

// Layout of a rule: two numbers of the host, or the kind after them, and a bit for each value that is in quotes.
const KIND: usize = 4;
const QUOTED: usize = 8;

const LINE_FEED: u32 = 0x0a;
const OPEN_PARENTHESIS: u32 = 0x28;
const CLOSE_PARENTHESIS: u32 = 0x29;

/** Returns what mining sees of the lines of a template. */
// @inline
export function kindOfLines(rule: usize, template: usize): u32 {
  const known = load<u32>(rule, KIND);
  return known === 0 ? learn(rule, template) : known;
}

/**
 * Returns a bit for each value that is in quotes, if no value before it has signs (value-forms.ts). If the line begins with a value,
 * it must be a word with a digit.
 */
// @inline
export function quotedValues(rule: usize): u64 {
  return load<u64>(rule, QUOTED);
}

function learn(rule: usize, template: usize): u32 {
  const text = usize(load<u32>(template, TEMPLATE_TEXT_OF));
  const end = text + usize(load<u32>(template, TEMPLATE_BYTES_OF));
  let kind = usize(load<u32>(template, VARIABLES_OF)) > MAX_ROW_VALUES ? NO_LINE : WHOLE_LINE;
  if (hasLineFeed(text, end)) kind = FIRST_LINE;
  store<u32>(rule, kind, KIND);
  store<u64>(rule, kind === WHOLE_LINE && beginsPlain(template, text) ? quotedIn(template, text) : 0, QUOTED);
  return kind;
}

function hasLineFeed(from: usize, end: usize): bool {
  for (let at = from; at < end; at += 16) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(u8(LINE_FEED))));
    if (bits !== 0) return at + usize(ctz(bits)) < end;
  }
  return false;
}

// @inline
function isInWord(byte: u32): bool {
  return (inWord(i8x16.splat(u8(byte))) & 1) !== 0;
}

/** Returns whether lines are neither JSON nor logfmt: mining looks for a message in those. */
function beginsPlain(template: usize, text: usize): bool {
  const piece = usize(load<u32>(template, FIRST_PIECE_OF));
  const first = usize(load<u16>(PIECE_LENGTHS + (piece << 1)));
  if (load<u32>(template, VARIABLES_OF) === 0) return false;
  if (first === 0) {
    // The first value is a word with a digit, and this literal ends it.
    if (load<u16>(PIECE_LENGTHS + ((piece + 1) << 1)) === 0) return false;
    const byte = u32(load<u8>(text));
    return byte !== EQUALS && !isInWord(byte);
  }
  if (u32(load<u8>(text)) === OPEN_BRACE) return false;
  let at: usize = 0;
  while (at < first && isInWord(load<u8>(text + at))) at++;
  return at < first && u32(load<u8>(text + at)) !== EQUALS;
}

function quotedIn(template: usize, text: usize): u64 {
  const piece = usize(load<u32>(template, FIRST_PIECE_OF));
  const count = usize(load<u32>(template, VARIABLES_OF));
  let quoted: u64 = 0;
  let isQuoted = false;
  let closing: u32 = 0;
  let at = text;
  for (let i: usize = 0; i < count; i++) {
    const end = at + usize(load<u16>(PIECE_LENGTHS + ((piece + i) << 1)));
    const from = at;
    for (; at < end; at++) {
      const byte = u32(load<u8>(at));
      if (byte === QUOTE) {
        // A bracket that ends behind the quote may end the quote, too.
        if (closing !== 0) return quoted;
        isQuoted = !isQuoted;
      } else if (byte === OPEN_BRACKET) closing = CLOSE_BRACKET;
      else if (byte === OPEN_PARENTHESIS) closing = CLOSE_PARENTHESIS;
      else if (byte === closing) closing = 0;
    }
    if (!isQuoted || closing !== 0 || end === from || u32(load<u8>(end - 1)) !== QUOTE) continue;
    const next = load<u16>(PIECE_LENGTHS + ((piece + i + 1) << 1));
    if (next > 0 && u32(load<u8>(end)) === QUOTE) quoted |= u64(1) << u64(i);
  }
  return quoted;
}
