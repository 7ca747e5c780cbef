/**
 * Groups the rows of a split page by what pattern mining sees of them. Rows of a class have the same level, gaps and words of text;
 * only words with digits differ. So mining reads the first row of each class instead of all
 * (shared/upkeep/pattern-mining/page-clusters.ts), and asks which of its words differ in others.
 *
 * In JSON and logfmt lines with a message, mining sees only that value. The host says which one it is (CLASS_RULES). Of lines of
 * several lines of text, it sees the first one. Of other lines, it sees all values, and rows of a class have one template. Rows have no
 * class if their line is longer than mining reads, or if mining might find another message in it.
 *
 * Pitfall: two rows of a class must be the same to line-words.ts, byte for byte of every gap and word of text. The reverse does not
 * matter, because mining joins classes.
 */
import { classCount, classOf, clearClasses, IS_READ, layValue } from './class-table';
import {
  CODE_MARKS,
  CODE_NUMBER,
  CODE_TRAITS,
  CODE_WORDS,
  clearColumns,
  formOfColumn,
  ONE_VALUE,
  recordOfValue,
} from './column-forms';
import { NO_SIGNS, signsIn, signsOfColumn } from './column-signs';
import { NUMBER } from './column-types';
import { classOfLine, clearCombined } from './line-classes';
import { clearPlans, NO_PLAN, planOf } from './line-plans';
import { FIRST_LINE, kindOfLines, NO_LINE, quotedValues } from './line-rules';
import { columnCount } from './line-templates';
import { beginMined, endMined, meetClass } from './mined-classes';
import {
  CLASS_LEVELS,
  CLASS_RULE,
  CLASS_RULES,
  COLUMN_RECORD,
  COLUMN_RECORDS,
  FIRST_PIECE_OF,
  PIECE_COLUMNS,
  PLAN_OF,
  ROW_CLASSES,
  ROW_TEMPLATES,
  SPANS,
  SPLIT_LINES,
  SPLIT_OFFSETS,
  TEMPLATE_RECORD,
  TEMPLATES,
  VALUE_RECORDS,
  VARIABLES_OF,
} from './split-layout';
import { EQUALS, OPEN_BRACE } from './text-bytes';
import { clearForms, findForm, formOf, NO_FORM, setForm, setWordForm, VALUE } from './value-forms';
import { firstWordEnd } from './value-words';
import { MAX_LINE_WORDS, MAX_READ_BYTES } from './word-layout';

/** Value of a rule without a message, and bytes that may begin another message. */
const NONE: u32 = 0xffffffff;
/** Key of the first line of a text, and whether nothing follows it. */
const FIRST_LINE_KEY: u32 = 0;
const IS_ALONE: u32 = 0x80000000;
/** Classes of whole lines from which on they must be few: less than half of the rows. */
const MANY_CLASSES: u32 = 512;

/** What PLAN_OF has for a template with a message: whether the values before it need no look. */
const PLAIN_VALUES: u32 = 1;
const OTHER_VALUES: u32 = 2;

const LINE_FEED: u8 = 0x0a;

// Layout of a rule: the value that is the message, and the words of the literals before it.
const RULE_WORDS: usize = 4;

/** Writes the class of each row to ROW_CLASSES: its number from 1 on, or 0, and IS_READ. Returns the number of classes. */
export function classRows(rows: u32): u32 {
  clearClasses();
  clearForms();
  clearColumns(columnCount());
  clearPlans();
  clearCombined();
  beginMined();
  let span: usize = 0;
  for (let row: usize = 0; row < usize(rows); row++) {
    const template = usize(load<u16>(ROW_TEMPLATES + (row << 1)));
    const level = u32(load<u8>(CLASS_LEVELS + row)) << 16;
    let found: u32 = IS_READ;
    if (template === 0) {
      if (areFew(row)) found = classOfFirstLine(row, level);
      span++;
    } else {
      const own = TEMPLATES + template * TEMPLATE_RECORD;
      const rule = CLASS_RULES + template * CLASS_RULE;
      const message = load<u32>(rule);
      if (message !== NONE) {
        const piece = usize(load<u32>(own, FIRST_PIECE_OF));
        if (isMessage(row, rule, span, piece, template))
          found = classOfMessage(span + usize(message), piece + usize(message), u32(template) | level);
      } else if (areFew(row)) {
        const kind = kindOfLines(rule, own);
        if (kind === FIRST_LINE) found = classOfFirstLine(row, level);
        else if (kind !== NO_LINE) found = classOfValues(row, rule, own, span, template, level);
      }
      span += usize(load<u32>(own, VARIABLES_OF));
    }
    if (found > IS_READ) meetClass(found - IS_READ);
    store<u32>(ROW_CLASSES + (row << 2), found);
  }
  endMined(classCount());
  return classCount();
}

/** Returns whether few rows are the first of a class, so that classes of lines are worth it. */
// @inline
function areFew(row: usize): bool {
  return classCount() < MANY_CLASSES || usize(classCount()) < row >>> 1;
}

/**
 * @param span number of the message's span
 * @param piece number of the piece before it
 */
function classOfMessage(span: usize, piece: usize, key: u32): u32 {
  const from = spanStart(span);
  const end = spanEnd(span);
  const column = usize(load<u16>(PIECE_COLUMNS + (piece << 1)));
  let form = formOfColumn(column);
  if (form <= ONE_VALUE) {
    setWordForm();
    if (form === ONE_VALUE) form = VALUE;
  } else {
    const record = recordOfValue(column, SPANS + (span << 3), VALUE_RECORDS);
    form = load<u32>(record) - 1;
    setForm(load<u32>(record, CODE_WORDS), load<u64>(record, CODE_MARKS), load<u32>(record, CODE_TRAITS));
    // Which words of the value differ depends on its number.
    if (load<u64>(record, CODE_NUMBER) !== 0) form = formOf(from, end);
  }
  if (form === NO_FORM) return IS_READ;
  layValue(0, form, from, end);
  return classOf(key, 1);
}

/** Returns the class of a line by its first line of text, with the line feed. Mining must see its end. */
function classOfFirstLine(row: usize, level: u32): u32 {
  const start = SPLIT_LINES + usize(load<u32>(SPLIT_OFFSETS + (row << 2)));
  const end = SPLIT_LINES + usize(load<u32>(SPLIT_OFFSETS + (row << 2), 4));
  const stop = behindLineFeed(start, min(end, start + MAX_READ_BYTES));
  if ((stop !== end && load<u8>(stop - 1) !== LINE_FEED) || load<u8>(start) === u8(OPEN_BRACE))
    return IS_READ;
  // Mining looks for a message in logfmt, and for another line if this one has no word.
  const first = firstWordEnd(start, stop);
  if (first === stop || load<u8>(first) === u8(EQUALS)) return IS_READ;
  const form = findForm(start, stop);
  if (form === NO_FORM) return IS_READ;
  layValue(0, form, start, stop);
  return classOf(FIRST_LINE_KEY | level | (stop === end ? IS_ALONE : 0), 1);
}

/** Returns what follows the first line feed, or the end. */
function behindLineFeed(from: usize, end: usize): usize {
  for (let at = from; at < end; at += 16) {
    const bits = i8x16.bitmask(i8x16.eq(v128.load(at), i8x16.splat(LINE_FEED)));
    if (bits !== 0) return min(at + usize(ctz(bits)) + 1, end);
  }
  return end;
}

/** Returns the class of a line by all of its values. */
function classOfValues(row: usize, rule: usize, own: usize, span: usize, template: usize, level: u32): u32 {
  const start = load<u32>(SPLIT_OFFSETS + (row << 2));
  if (usize(load<u32>(SPLIT_OFFSETS + (row << 2), 4) - start) > MAX_READ_BYTES) return IS_READ;
  const plan = planOf(template, own);
  if (plan === NO_PLAN) return IS_READ;
  const piece = usize(load<u32>(own, FIRST_PIECE_OF));
  return classOfLine(plan, u32(template) | level, quotedValues(rule), span, piece);
}

/** Returns whether no value before the message of a template may be one, whatever the row. */
// @inline
function hasPlainValues(template: usize, rule: usize, piece: usize): bool {
  let known = load<u32>(PLAN_OF + (template << 2));
  if (known === 0) {
    known = arePlain(usize(load<u32>(rule)), load<u32>(rule, RULE_WORDS), piece)
      ? PLAIN_VALUES
      : OTHER_VALUES;
    store<u32>(PLAN_OF + (template << 2), known);
  }
  return known === PLAIN_VALUES;
}

function arePlain(message: usize, words: u32, piece: usize): bool {
  let before = words;
  for (let i: usize = 0; i < message; i++) {
    const signs = signsOfColumn(usize(load<u16>(PIECE_COLUMNS + ((piece + i) << 1))));
    if (signs === NO_SIGNS) return false;
    before += signs;
  }
  return before < MAX_LINE_WORDS;
}

/** Returns whether mining reads the message, and all of it: nothing before it is one, and it is within the limits of mining. */
function isMessage(row: usize, rule: usize, span: usize, piece: usize, template: usize): bool {
  const message = usize(load<u32>(rule));
  const start = usize(load<u32>(SPLIT_OFFSETS + (row << 2)));
  // With the quote behind it.
  if (spanEnd(span + message) + 1 - SPLIT_LINES - start > MAX_READ_BYTES) return false;
  if (hasPlainValues(template, rule, piece)) return true;
  let before = load<u32>(rule, RULE_WORDS);
  for (let i: usize = 0; i < message; i++) {
    const column = usize(load<u16>(PIECE_COLUMNS + ((piece + i) << 1)));
    if (load<u8>(COLUMN_RECORDS + column * COLUMN_RECORD) === NUMBER) continue;
    const signs = signsIn(spanStart(span + i), spanEnd(span + i));
    if (signs === NO_SIGNS) return false;
    before += signs;
  }
  return before < MAX_LINE_WORDS;
}

// @inline
function spanStart(span: usize): usize {
  return SPLIT_LINES + usize(load<u32>(SPANS + (span << 3)));
}

// @inline
function spanEnd(span: usize): usize {
  return spanStart(span) + usize(load<u32>(SPANS + (span << 3), 4));
}
