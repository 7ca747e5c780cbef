/**
 * Line filters over the rows of a page. They narrow a selection of rows to those whose line contains a
 * needle, matches a regular expression, or matches any of several.
 *
 * The lines of a page are concatenated in one buffer, without separators. Filters are fast because they
 * search that buffer as a whole: one native call covers hundreds of lines. One call per line would cost more
 * than its search.
 *
 * Pitfall: a hit may extend across the end of a line and then counts for no line. Rows outside the selection
 * are searched only if that is cheaper than a new call.
 *
 * All functions narrow `selection[0..count)`, ascending row numbers, in place and return the new count.
 */

import { isInLineSpace } from '../../base/kernels/line-memory.ts';
import { firstRowAfter } from '../../base/model/binary-search.ts';
import { searchOfNeedle } from './byte-pattern-search.ts';
import type { LineMemorySearch, PageScan } from './page-scan.ts';
import type { Regex } from './regex.ts';

/**
 * Maximum gap between two selected rows that is searched along: a new native call costs as much as about 500
 * bytes.
 */
const MAX_GAP_BYTES = 512;

/**
 * Maximum string size for one call of a byte pattern, bytes. Large strings cost three times as much per byte
 * to create.
 */
const MAX_SPAN_TEXT_BYTES = 32_768;

/**
 * Selects rows whose line contains the needle, or with `negate` the other rows. Every line contains the empty
 * needle.
 */
export function selectContaining(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  needle: Buffer,
  negate: boolean,
): number {
  if (needle.length === 0) return negate ? 0 : count;
  if (needle.length > 1 && isInLineSpace(lines)) {
    const search = searchOfNeedle(needle);
    return selectByKernel(lines, lineOffsets, selection, count, search, undefined, negate);
  }
  return selectByNeedle(lines, lineOffsets, selection, count, needle, undefined, negate);
}

/** Selects rows whose line the expression matches anywhere, or with `negate` the other rows. */
export function selectMatching(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  regex: Regex,
  negate: boolean,
): number {
  const scan = regex.pageScan;
  if (scan?.needle !== undefined) {
    if (scan.exact) return selectContaining(lines, lineOffsets, selection, count, scan.needle, negate);
    if (scan.needle.length > 1 && isInLineSpace(lines)) {
      const search = searchOfNeedle(scan.needle);
      return selectByKernel(lines, lineOffsets, selection, count, search, regex, negate);
    }
    return selectByNeedle(lines, lineOffsets, selection, count, scan.needle, regex, negate);
  }
  if (scan?.lineMemorySearch !== undefined && isInLineSpace(lines)) {
    const { search, exact } = scan.lineMemorySearch;
    return selectByKernel(lines, lineOffsets, selection, count, search, exact ? undefined : regex, negate);
  }
  if (scan?.bytePattern !== undefined) {
    return selectByBytePattern(lines, lineOffsets, selection, count, scan, regex, negate);
  }
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    if (regex.testBytes(lines, lineOffsets[row], lineOffsets[row + 1]) !== negate) selection[kept++] = row;
  }
  return kept;
}

/** Selects rows whose line any of the tests accepts, or with `negate` the other rows. */
export function selectAny(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  tests: readonly (Buffer | Regex)[],
  negate: boolean,
): number {
  // Each test reads only the rows that no earlier test accepted.
  const refused = negate ? selection : selection.slice(0, count);
  let refusedCount = count;
  for (const test of tests) {
    if (refusedCount === 0) break;
    refusedCount = Buffer.isBuffer(test)
      ? selectContaining(lines, lineOffsets, refused, refusedCount, test, true)
      : selectMatching(lines, lineOffsets, refused, refusedCount, test, true);
  }
  return negate ? refusedCount : removeRows(selection, count, refused, refusedCount);
}

/** Removes from an ascending selection the rows of a second one, which is a subset. */
function removeRows(selection: Uint32Array, count: number, rows: Uint32Array, rowCount: number): number {
  let kept = 0;
  let next = 0;
  for (let i = 0; i < count; i++) {
    if (next < rowCount && rows[next] === selection[i]) next++;
    else selection[kept++] = selection[i];
  }
  return kept;
}

/** Selects rows with the needle that also pass the regex, if one is passed. */
function selectByNeedle(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  needle: Buffer,
  regex: Regex | undefined,
  negate: boolean,
): number {
  let kept = 0;
  for (let i = 0; i < count; ) {
    const spanEnd = endOfSpan(lineOffsets, selection, i, count);
    const span = lines.subarray(0, lineOffsets[selection[spanEnd - 1] + 1]);
    while (i < spanEnd) {
      const from = lineOffsets[selection[i]];
      const hit = span.indexOf(needle, from);
      const reached = hit < 0 ? spanEnd : firstRowEndingAfter(lineOffsets, selection, i, spanEnd, hit);
      if (negate) {
        selection.copyWithin(kept, i, reached);
        kept += reached - i;
      }
      i = reached;
      if (i === spanEnd) break;
      const row = selection[i];
      const start = lineOffsets[row];
      const end = lineOffsets[row + 1];
      // The hit is in a row that is not selected: continue from the next selected row.
      if (hit < start) continue;
      // A later hit in this row would extend even farther past its end.
      const isInside = hit + needle.length <= end;
      const accepted = isInside && (regex === undefined || regex.testBytes(lines, start, end));
      if (accepted !== negate) selection[kept++] = row;
      i++;
    }
  }
  return kept;
}

/** Works as `selectByNeedle`, but with a search of line memory. */
function selectByKernel(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  search: LineMemorySearch,
  regex: Regex | undefined,
  negate: boolean,
): number {
  let kept = 0;
  for (let i = 0; i < count; ) {
    const spanEnd = endOfSpan(lineOffsets, selection, i, count);
    const to = lineOffsets[selection[spanEnd - 1] + 1];
    while (i < spanEnd) {
      const hit = search.find(lines, lineOffsets[selection[i]], to);
      const reached = hit < 0 ? spanEnd : firstRowEndingAfter(lineOffsets, selection, i, spanEnd, hit);
      if (negate) {
        selection.copyWithin(kept, i, reached);
        kept += reached - i;
      }
      i = reached;
      if (i === spanEnd) break;
      const row = selection[i];
      const start = lineOffsets[row];
      const end = lineOffsets[row + 1];
      if (hit < start) continue;
      const accepted =
        regex === undefined ? isInside(search, lines, hit, end) : regex.testBytes(lines, start, end);
      if (accepted !== negate) selection[kept++] = row;
      i++;
    }
  }
  return kept;
}

/** Returns whether a pattern ends at or before `end`: the one found at `hit`, or a shorter one after it. */
function isInside(search: LineMemorySearch, lines: Buffer, hit: number, end: number): boolean {
  return hit + search.length <= end || search.find(lines, hit, end) >= 0;
}

/**
 * Returns the index after the last row of the span that starts at index `from`: rows with only small gaps
 * between them.
 */
function endOfSpan(lineOffsets: Uint32Array, selection: Uint32Array, from: number, count: number): number {
  // Usually all rows of a page or of a stream are selected.
  if (selection[count - 1] - selection[from] === count - 1 - from) return count;
  let i = from + 1;
  while (i < count && lineOffsets[selection[i]] - lineOffsets[selection[i - 1] + 1] <= MAX_GAP_BYTES) i++;
  return i;
}

/**
 * Returns the index of the first selected row whose line ends after `position`, or `end` if there is none.
 * Uses a galloping search.
 */
function firstRowEndingAfter(
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  from: number,
  end: number,
  position: number,
): number {
  let step = 1;
  let low = from;
  while (low + step < end && lineOffsets[selection[low + step - 1] + 1] <= position) {
    low += step;
    step *= 2;
  }
  return firstRowAfter(lineOffsets, selection, low, Math.min(end, low + step), position);
}

/**
 * Works as `selectByNeedle`, but for a pattern over the bytes as latin1 text, one part of the page at a time.
 */
function selectByBytePattern(
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  scan: PageScan,
  regex: Regex,
  negate: boolean,
): number {
  const pattern = scan.bytePattern!;
  let kept = 0;
  for (let i = 0; i < count; ) {
    const base = lineOffsets[selection[i]];
    const spanEnd = endOfTextSpan(lineOffsets, selection, i, count, base);
    const text = lines.latin1Slice(base, lineOffsets[selection[spanEnd - 1] + 1]);
    while (i < spanEnd) {
      pattern.lastIndex = lineOffsets[selection[i]] - base;
      const match = pattern.exec(text);
      const hit = match === null ? -1 : base + match.index;
      const reached = hit < 0 ? spanEnd : firstRowEndingAfter(lineOffsets, selection, i, spanEnd, hit);
      if (negate) {
        selection.copyWithin(kept, i, reached);
        kept += reached - i;
      }
      i = reached;
      if (i === spanEnd) break;
      const row = selection[i];
      const start = lineOffsets[row];
      const end = lineOffsets[row + 1];
      if (hit < start) continue;
      // If the match extends past the end of the line, a shorter match may exist inside the line.
      const isAnswer = scan.exact && hit + match![0].length <= end;
      if ((isAnswer || regex.testBytes(lines, start, end)) !== negate) selection[kept++] = row;
      i++;
    }
  }
  return kept;
}

/**
 * Works as `endOfSpan`, but covers at least one row, and otherwise at most `MAX_SPAN_TEXT_BYTES` from `base`.
 */
function endOfTextSpan(
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  from: number,
  count: number,
  base: number,
): number {
  let i = from + 1;
  while (
    i < count &&
    lineOffsets[selection[i]] - lineOffsets[selection[i - 1] + 1] <= MAX_GAP_BYTES &&
    lineOffsets[selection[i] + 1] - base <= MAX_SPAN_TEXT_BYTES
  ) {
    i++;
  }
  return i;
}
