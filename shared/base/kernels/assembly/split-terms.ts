/**
 * Adds the terms of the lines of a split page (text-terms.ts) by its templates and columns, so that most values are not read:
 *
 *     literals  once for each template
 *     words     once for each entry of the dictionary
 *     number    the digits, if there are four or more before the decimals
 *     numbered  once for each affixes, and the digits of the others (numbered-terms.ts)
 *     clock     if a digit differs that is part of a term; patterns too
 *     others    each value, equal ones mostly once
 *
 * Values are added with what surrounds them (column-contexts.ts, value-borders.ts). What is added is copied to where terms of lines
 * are found, each text as a line (gathered-texts.ts). Digits are not copied.
 */
import {
  afterAt,
  beforeAt,
  bytesAfter,
  bytesBefore,
  endSpan,
  findContexts,
  firstSpan,
  hasDot,
  isOpen,
} from './column-contexts';
import { CLOCK, HEX, NUMBER, NUMBERED, PATTERN, WORDS } from './column-types';
import { beginText, clearGathered, endText, gather, gatherOnce, scanGathered } from './gathered-texts';
import { columnCount, templateCount } from './line-templates';
import { RECORD_BYTES, RECORD_DETAIL, RECORD_NUMBER, RECORD_TYPE, recordOf } from './number-pack';
import { addNumbered } from './numbered-terms';
import {
  copyOver,
  FIRST_PIECE_OF,
  LITERALS,
  MAX_PATTERN,
  PIECE_LENGTHS,
  SORTED_SPANS,
  SPLIT_OUT,
  TEMPLATE_RECORD,
  TEMPLATE_TEXT_OF,
  TEMPLATES,
  VARIABLES_OF,
} from './split-layout';
import { MAX_TERM_BYTES } from './term-layout';
import { settle } from './term-set';
import { DOT, isAlnum, isDigit } from './text-bytes';
import {
  addDigits,
  GRAM_BYTES,
  longestTermRun,
  MIN_TOKEN_BYTES,
  PREFIX_BYTES,
  SAMPLE_BYTES,
} from './text-terms';
import { addBorders, addInLine, clearLine } from './value-borders';
import { bytesOf, startOf } from './value-spans';

const MINUS: u8 = 0x2d;

/**
 * Adds the terms of the page that was split last. Returns false if the set may lack some, or if the longest run is not known, because
 * it has no token. Then the lines must be scanned.
 */
export function scanSplitTerms(): bool {
  if (!findContexts()) return false;
  clearGathered();
  if (!addPlainRows()) return false;
  addLiterals();
  let out = SPLIT_OUT + usize(load<u32>(recordOf(0), RECORD_BYTES));
  for (let column: usize = 1; column < columnCount(); column++) {
    addColumn(column, out);
    out += usize(load<u32>(recordOf(column), RECORD_BYTES));
  }
  scanGathered();
  settle();
  return longestTermRun() >= u32(MIN_TOKEN_BYTES);
}

/** Adds the lines with template 0. */
function addPlainRows(): bool {
  const end = SORTED_SPANS + (endSpan(0) << 3);
  for (let span = SORTED_SPANS; span < end; span += 8) {
    if (bytesOf(span, 0) > MAX_TERM_BYTES) return false;
    gather(startOf(span, 0), bytesOf(span, 0));
  }
  return true;
}

function addLiterals(): void {
  for (let template: usize = 1; template < templateCount(); template++) {
    const own = TEMPLATES + template * TEMPLATE_RECORD;
    const first = PIECE_LENGTHS + (usize(load<u32>(own, FIRST_PIECE_OF)) << 1);
    const end = first + (usize(load<u32>(own, VARIABLES_OF)) << 1);
    let text = usize(load<u32>(own, TEMPLATE_TEXT_OF));
    for (let piece = first; piece <= end; piece += 2) {
      const bytes = usize(load<u16>(piece));
      if (bytes >= GRAM_BYTES) gatherOnce(text, bytes);
      text += bytes;
    }
  }
}

function addColumn(column: usize, out: usize): void {
  const record = recordOf(column);
  const type = u32(load<u8>(record, RECORD_TYPE));
  const spans = SORTED_SPANS + (firstSpan(column) << 3);
  const end = SORTED_SPANS + (endSpan(column) << 3);
  if (type === NUMBER && !hasDot(column)) {
    addNumbers(spans, end, usize(load<u8>(record, RECORD_DETAIL)));
    return;
  }
  if (isOpen(column)) {
    if (hasDot(column)) {
      clearLine();
      for (let span = spans; span < end; span += 8) addInLine(span);
      return;
    }
    addBorders(spans, end);
  }
  if (type === WORDS) addWords(column, out, usize(load<u32>(record, RECORD_NUMBER)));
  else if (type === PATTERN || type === CLOCK) addPattern(column, spans, end, out);
  else if (type === NUMBERED) addNumbered(column, spans, end, out);
  else addTexts(column, spans, end, type === HEX);
}

/**
 * Adds values with the context of their column.
 * @param areUnique Whether hardly any are equal
 */
function addTexts(column: usize, spans: usize, end: usize, areUnique: bool): void {
  const before = bytesBefore(column);
  const around = before + bytesAfter(column);
  for (let span = spans; span < end; span += 8) {
    const from = startOf(span, 0) - before;
    const bytes = bytesOf(span, 0) + around;
    if (areUnique) gather(from, bytes);
    else gatherOnce(from, bytes);
  }
}

/** Adds numbers that do not follow a dot, all with the same number of decimals. The first shows how long their runs are. */
function addNumbers(spans: usize, end: usize, decimals: usize): void {
  const others: usize = decimals === 0 ? 0 : decimals + 1;
  const haveSamples = decimals >= SAMPLE_BYTES;
  clearLine();
  for (let span = spans; span < end; span += 8) {
    const at = startOf(span, 0);
    const digits = bytesOf(span, 0) - others;
    if (span === spans || haveSamples || digits >= SAMPLE_BYTES || load<u8>(at) === MINUS) addInLine(span);
    else addDigits(at, digits);
  }
}

function addWords(column: usize, out: usize, entries: usize): void {
  const before = bytesBefore(column);
  const after = bytesAfter(column);
  let text = out + (entries << 1);
  for (let entry: usize = 0; entry < entries; entry++) {
    const bytes = usize(load<u16>(out + (entry << 1)));
    const to = beginText(before + bytes + after);
    copyOver(to, beforeAt(column), before);
    copyOver(to + before, text, bytes);
    copyOver(to + before + bytes, afterAt(column), after);
    endText(before + bytes + after);
    text += bytes;
  }
}

/** Adds values that differ in digits at the same positions, except if all digits of terms equal those of the value added before. */
function addPattern(column: usize, spans: usize, end: usize, out: usize): void {
  const before = bytesBefore(column);
  const around = before + bytesAfter(column);
  const bytes = bytesOf(spans, 0);
  let last = startOf(spans, 0);
  layMask(last, bytes, before > 0 && load<u8>(last - 1) === DOT, hasDot(column), out);
  gather(last - before, bytes + around);
  for (let span = spans + 8; span < end; span += 8) {
    const at = startOf(span, 0);
    let isSame = true;
    for (let part: usize = 0; part < bytes; part += 16) {
      const different = v128.xor(v128.load(at + part), v128.load(last + part));
      if (v128.any_true(v128.and(different, v128.load(LITERALS + part)))) isSame = false;
    }
    if (!isSame) {
      gather(at - before, bytes + around);
      last = at;
    }
  }
}

/** Writes 255 for each position that may change a term of values like the one at `at`, and 0 for others, to LITERALS. */
function layMask(at: usize, bytes: usize, isBehindDot: bool, hasDotAround: bool, pattern: usize): void {
  memory.fill(LITERALS, 0, MAX_PATTERN + 16);
  let dots = hasDotAround ? 2 : 0;
  for (let i: usize = 0; i < bytes; i++) if (load<u8>(at + i) === DOT) dots++;
  let start: usize = 0;
  for (let i: usize = 0; i <= bytes; i++) {
    if (i < bytes && isAlnum(load<u8>(at + i))) continue;
    const run = i - start;
    const isFraction = start > 0 ? load<u8>(at + start - 1) === DOT : isBehindDot;
    let used: usize = 0;
    if (run >= SAMPLE_BYTES || dots > 2) used = run;
    else if (run >= MIN_TOKEN_BYTES && !(isFraction && isDigit(load<u8>(at + start))))
      used = min(run, PREFIX_BYTES);
    for (let j = start; j < start + used; j++) {
      if (load<u8>(pattern + bytes + j) !== 0) store<u8>(LITERALS + j, 0xff);
    }
    start = i + 1;
  }
}
