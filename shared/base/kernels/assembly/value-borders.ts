/** Adds values with what surrounds them in their lines, and the grams at their borders, if a column has no constant context. */
import { CONTEXT_BYTES } from './column-contexts';
import { gatherOnce, isSeenBorder } from './gathered-texts';
import { SPLIT_LINES, SPLIT_OFFSETS } from './split-layout';
import { isDigit } from './text-bytes';
import { bytesOf, startOf } from './value-spans';

const GRAM_BYTES: usize = 5;

let floor: usize = 0;
let ceiling: usize = 0;
let row: usize = 0;

/** Begins a column. */
export function clearLine(): void {
  row = 0;
}

/** Finds the line of a value. Values of a column are in the order of their rows. */
// @inline
function findLine(span: usize): void {
  const start = load<u32>(span);
  while (load<u32>(SPLIT_OFFSETS + (row << 2), 4) <= start) row++;
  floor = SPLIT_LINES + usize(load<u32>(SPLIT_OFFSETS + (row << 2)));
  ceiling = SPLIT_LINES + usize(load<u32>(SPLIT_OFFSETS + (row << 2), 4));
}

/** Adds the bytes from `from` to `to` with up to four bytes of the line before and after them, without digits. */
function gatherAround(from: usize, to: usize): void {
  const least = from - floor > CONTEXT_BYTES ? from - CONTEXT_BYTES : floor;
  const most = min(ceiling, to + CONTEXT_BYTES);
  let start = from;
  let end = to;
  while (start > least && !isDigit(load<u8>(start - 1))) start--;
  while (end < most && !isDigit(load<u8>(end))) end++;
  if (to > from || end - start >= GRAM_BYTES) gatherOnce(start, end - start);
}

/** Adds a value with what surrounds it. Call `clearLine` before the first one of a column. */
export function addInLine(span: usize): void {
  findLine(span);
  const at = startOf(span, 0);
  gatherAround(at, at + bytesOf(span, 0));
}

/** Adds the grams that have bytes on both sides of a start or end of a value. */
export function addBorders(spans: usize, end: usize): void {
  clearLine();
  for (let span = spans; span < end; span += 8) {
    findLine(span);
    const at = startOf(span, 0);
    addBorder(at);
    addBorder(at + bytesOf(span, 0));
  }
}

// @inline
function addBorder(at: usize): void {
  const isWhole = at - floor >= CONTEXT_BYTES && ceiling - at >= CONTEXT_BYTES;
  if (!isWhole || !isSeenBorder(load<u64>(at - CONTEXT_BYTES))) gatherAround(at, at);
}
