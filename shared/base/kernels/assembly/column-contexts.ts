/**
 * What surrounds the values of each column of a split page: up to four bytes of the literals before and after them, because a term
 * with a byte of a value has up to four other bytes. Literals have no digits, and no run of letters and digits leaves a value.
 *
 * The context of a column is *open* if its values have different ones, or if the literal before them is so short that grams have bytes
 * of two values. No gram has a digit, so that does not apply if all values on one side have a digit there.
 */
import { templateCount } from './line-templates';
import {
  COLUMN_ENDS,
  CONTEXT_RECORD,
  CONTEXTS,
  FIRST_PIECE_OF,
  MAX_COLUMNS,
  PIECE_COLUMNS,
  PIECE_LENGTHS,
  SORTED_SPANS,
  TEMPLATE_RECORD,
  TEMPLATE_TEXT_OF,
  TEMPLATES,
  VARIABLES_OF,
} from './split-layout';
import { DOT, isAlnum, isDigit } from './text-bytes';
import { bytesOf, startOf } from './value-spans';

/** Maximum bytes of a term next to one of its bytes. */
export const CONTEXT_BYTES: usize = 4;

// Layout of a record: addresses and bytes of what is before and after the values; flags.
const BEFORE_AT: usize = 0;
const AFTER_AT: usize = 4;
const BEFORE: usize = 8;
const AFTER: usize = 9;
const FLAGS: usize = 10;
const STARTS: usize = 11;
const ENDS: usize = 12;

const IS_USED: u8 = 1;
const IS_OPEN: u8 = 2;
const HAS_DOT: u8 = 4;

const YES: u8 = 1;
const NO: u8 = 2;

// @inline
function recordOf(column: usize): usize {
  return CONTEXTS + column * CONTEXT_RECORD;
}

// @inline
export function isOpen(column: usize): bool {
  return (load<u8>(recordOf(column), FLAGS) & IS_OPEN) !== 0;
}

/** Whether a dot is next to values. */
// @inline
export function hasDot(column: usize): bool {
  return (load<u8>(recordOf(column), FLAGS) & HAS_DOT) !== 0;
}

/** Address of `bytesBefore` bytes. */
// @inline
export function beforeAt(column: usize): usize {
  return usize(load<u32>(recordOf(column), BEFORE_AT));
}

/** Bytes before each value that belong to its context, 0 if it is open. */
// @inline
export function bytesBefore(column: usize): usize {
  return isOpen(column) ? 0 : usize(load<u8>(recordOf(column), BEFORE));
}

// @inline
export function afterAt(column: usize): usize {
  return usize(load<u32>(recordOf(column), AFTER_AT));
}

// @inline
export function bytesAfter(column: usize): usize {
  return isOpen(column) ? 0 : usize(load<u8>(recordOf(column), AFTER));
}

// @inline
export function firstSpan(column: usize): usize {
  return column === 0 ? 0 : usize(load<u32>(COLUMN_ENDS + ((column - 1) << 2)));
}

// @inline
export function endSpan(column: usize): usize {
  return usize(load<u32>(COLUMN_ENDS + (column << 2)));
}

/**
 * Returns whether all values of a column begin, or end, with a digit.
 * @param flag Where the record holds the result
 */
function haveDigits(column: usize, flag: usize, isEnd: bool): bool {
  const known = load<u8>(recordOf(column) + flag);
  if (known !== 0) return known === YES;
  let result = YES;
  const end = SORTED_SPANS + (endSpan(column) << 3);
  for (let span = SORTED_SPANS + (firstSpan(column) << 3); span < end; span += 8) {
    const at = startOf(span, 0) + (isEnd ? bytesOf(span, 0) - 1 : 0);
    if (isDigit(load<u8>(at))) continue;
    result = NO;
    break;
  }
  store<u8>(recordOf(column) + flag, result);
  return result === YES;
}

/** Computes the contexts of all columns. Returns false if a run of letters and digits may leave a value. */
export function findContexts(): bool {
  memory.fill(CONTEXTS, 0, CONTEXT_RECORD * MAX_COLUMNS);
  for (let template: usize = 1; template < templateCount(); template++) {
    const own = TEMPLATES + template * TEMPLATE_RECORD;
    const variables = usize(load<u32>(own, VARIABLES_OF));
    const first = usize(load<u32>(own, FIRST_PIECE_OF));
    let text = usize(load<u32>(own, TEMPLATE_TEXT_OF));
    for (let i: usize = 0; i < variables; i++) {
      const piece = first + i;
      const before = usize(load<u16>(PIECE_LENGTHS + (piece << 1)));
      const after = usize(load<u16>(PIECE_LENGTHS + (piece << 1), 2));
      const isFirst = i === 0;
      const isLast = i + 1 === variables;
      text += before;
      if (before > 0 ? isAlnum(load<u8>(text - 1)) : !isFirst) return false;
      if (after > 0 ? isAlnum(load<u8>(text)) : !isLast) return false;
      // Only the value behind a short literal counts: the grams at its start are those at the end of the value before it.
      const open =
        !isFirst &&
        before < CONTEXT_BYTES &&
        !haveDigits(columnOf(piece), STARTS, false) &&
        !haveDigits(columnOf(piece - 1), ENDS, true);
      addContext(columnOf(piece), text, before, after, open);
    }
  }
  return true;
}

// @inline
function columnOf(piece: usize): usize {
  return usize(load<u16>(PIECE_COLUMNS + (piece << 1)));
}

/**
 * Records what surrounds a value of a template.
 * @param text Address behind the literal before the value, where the one after it begins
 */
function addContext(column: usize, text: usize, before: usize, after: usize, open: bool): void {
  const record = recordOf(column);
  const used = min(before, CONTEXT_BYTES);
  const usedAfter = min(after, CONTEXT_BYTES);
  let flags = load<u8>(record, FLAGS);
  if (open) flags |= IS_OPEN;
  if (before > 0 && load<u8>(text - 1) === DOT) flags |= HAS_DOT;
  if (after > 0 && load<u8>(text) === DOT) flags |= HAS_DOT;
  if ((flags & IS_USED) === 0) {
    store<u32>(record, u32(text - used), BEFORE_AT);
    store<u32>(record, u32(text), AFTER_AT);
    store<u8>(record, u8(used), BEFORE);
    store<u8>(record, u8(usedAfter), AFTER);
  } else if (
    usize(load<u8>(record, BEFORE)) !== used ||
    usize(load<u8>(record, AFTER)) !== usedAfter ||
    !isSame(usize(load<u32>(record, BEFORE_AT)), text - used, used) ||
    !isSame(usize(load<u32>(record, AFTER_AT)), text, usedAfter)
  ) {
    flags |= IS_OPEN;
  }
  store<u8>(record, flags | IS_USED, FLAGS);
}

/** Compares up to four bytes. */
// @inline
function isSame(a: usize, b: usize, bytes: usize): bool {
  return bytes === 0 || (load<u32>(a) ^ load<u32>(b)) << (32 - 8 * u32(bytes)) === 0;
}
