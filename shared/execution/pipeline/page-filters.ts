/**
 * Line filters on the lines as stored: each narrows the selection of a whole page, the cheapest first. They
 * may run before everything else because no row stage changes what they read (see `compile.ts`).
 */
import type { BytePattern } from '../../base/model/byte-pattern.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { LineFilterStage } from '../../language/logql/ast.ts';
import { BytePatternSearch } from '../../language/regex/byte-pattern-search.ts';
import { patternOfNeedle } from '../../language/regex/byte-patterns.ts';
import { selectAny, selectContaining, selectMatching } from '../../language/regex/search.ts';
import type { SoughtFilter } from '../../storage/columns/filtered-rows.ts';
import { compileLineFilter, type LineFilter, type LineTest, testLine } from './line-filter.ts';

/** Orders filters by cost. All must accept a row, so the order does not change the result. */
export function cheapestFirst(filters: readonly LineFilter[]): LineFilter[] {
  const cost = ({ tests, negate }: LineFilter) =>
    Math.max(...tests.map(costOf)) + tests.length / 1000 + (negate ? 0.5 : 0);
  return [...filters].sort((a, b) => cost(a) - cost(b));
}

function costOf(test: LineTest): number {
  switch (test.kind) {
    case 'needle':
      return 0;
    case 'regex':
      return test.regex.pageScan === undefined ? 3 : 1;
    case 'pattern':
      return 2;
    case 'ip':
      return 4;
  }
}

/**
 * Returns byte patterns of which a line that passes the filters contains at least one: those of the first filter that has such
 * patterns. Empty if none has.
 */
export function requiredPatterns(filters: readonly LineFilter[]): readonly BytePattern[] {
  for (const filter of filters) {
    const patterns = patternsOfFilter(filter);
    if (patterns.length > 0) return patterns;
  }
  return [];
}

/** Works as `requiredPatterns`, for one filter. */
function patternsOfFilter({ tests, negate }: LineFilter): readonly BytePattern[] {
  const patterns = negate ? [] : tests.map(patternsOf);
  return patterns.every(areSelective) ? patterns.flat() : [];
}

/**
 * Returns a filter for searches of whole pages (columns/filtered-rows.ts). Throws an Error with the reference's text if the stage
 * is invalid.
 */
export function soughtFilter(stage: LineFilterStage): SoughtFilter {
  const filter = compileLineFilter(stage);
  const patterns = patternsOfFilter(filter);
  return { text: filter.text, search: patterns.length > 0 ? new BytePatternSearch(patterns) : undefined };
}

/** A single byte is in too many lines. */
function areSelective(patterns: readonly BytePattern[]): boolean {
  return patterns.length > 0 && patterns.every(({ bytes }) => bytes.length > 1);
}

function patternsOf(test: LineTest): readonly BytePattern[] {
  switch (test.kind) {
    case 'needle':
      return [patternOfNeedle(test.needle)];
    case 'regex':
      return test.regex.pageScan?.patterns ?? [];
    case 'pattern':
      return [patternOfNeedle(test.pattern.needle)];
    case 'ip':
      return [];
  }
}

/** Returns whether a page may take far longer than its size suggests: tens of seconds. */
export function isSlowFilter({ tests }: LineFilter): boolean {
  return tests.some(test => test.kind === 'regex' && test.regex.isSlow);
}

/** Works as `selectLines`, but searches no line if the cached page knows which rows the filter accepts. */
export function selectKnownLines(
  page: PageRows,
  selection: Uint32Array,
  count: number,
  filter: LineFilter,
): number {
  const { knownFilters } = page;
  if (knownFilters === undefined) return selectLines(page, selection, count, filter);
  return knownFilters.narrow(filter.text, selection, count, (rows, left) =>
    selectLines(page, rows, left, filter),
  );
}

/** Narrows `selection[0..count)` in place to the rows whose line passes. Returns the new count. */
export function selectLines(
  page: PageRows,
  selection: Uint32Array,
  count: number,
  { tests, negate }: LineFilter,
): number {
  const { lines, lineOffsets } = page;
  if (tests.length === 1) {
    const test = tests[0];
    if (test.kind === 'needle') {
      return selectContaining(lines, lineOffsets, selection, count, test.needle, negate);
    }
    if (test.kind === 'regex') {
      return selectMatching(lines, lineOffsets, selection, count, test.regex, negate);
    }
    if (test.kind === 'pattern' && !negate && test.pattern.needle.length > 0) {
      const candidates = selectContaining(lines, lineOffsets, selection, count, test.pattern.needle, false);
      return selectOneByOne(page, selection, candidates, tests, false);
    }
  }
  const plain: (Buffer | (LineTest & { kind: 'regex' })['regex'])[] = [];
  for (const test of tests) {
    if (test.kind === 'needle') plain.push(test.needle);
    else if (test.kind === 'regex') plain.push(test.regex);
    else return selectOneByOne(page, selection, count, tests, negate);
  }
  return selectAny(lines, lineOffsets, selection, count, plain, negate);
}

function selectOneByOne(
  { lines, lineOffsets }: PageRows,
  selection: Uint32Array,
  count: number,
  tests: readonly LineTest[],
  negate: boolean,
): number {
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    let accepted = false;
    for (let t = 0; t < tests.length && !accepted; t++) {
      accepted = testLine(tests[t], lines, lineOffsets[row], lineOffsets[row + 1]);
    }
    if (accepted !== negate) selection[kept++] = row;
  }
  return kept;
}
