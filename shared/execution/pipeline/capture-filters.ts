/**
 * Drops rows of a page that a filter on a capture of a pattern rejects, before their lines are read. This is right whatever the other
 * stages do: no stage between pattern and filter changes labels, so the filter sees the capture.
 *
 *     const filters = CaptureFilters.of(stages, []);
 *     count = filters?.narrow(page, selection, count) ?? count;
 *     ... run the stages on the rows that are left ...
 *     filters?.note(rows, passed);
 *
 * The first page only shows how many rows pass. Most queries of lines end there.
 */
import type { PageRows } from '../../base/model/page.ts';
import { type CaptureWants, captureWants, type PageCaptures } from '../../base/model/page-captures.ts';
import { runsOfRows } from '../../base/model/runs-of-rows.ts';
import type { LabelFilter, Stage } from '../../language/logql/ast.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import { namesOfFilter } from './label-filter.ts';
import { parsePattern, patternParts } from './pattern-syntax.ts';
import { filtersBehind } from './pushdown/plan-pushdown.ts';
import { KIND_RAW } from './row-labels.ts';
import { type TestedColumn, ValueTest } from './value-test.ts';

/** Maximum share of rows that filters keep. With more, all lines of a page are joined, and finding captures first saves nothing. */
const MAX_KEPT_SHARE = 1 / 2;

interface CaptureFilter {
  readonly label: string;
  /** Index of the capture among those that are requested. */
  readonly capture: number;
  readonly filter: LabelFilter;
}

export class CaptureFilters {
  readonly #wants: CaptureWants;
  readonly #filters: readonly CaptureFilter[];
  #tests: readonly ValueTest[] | undefined;
  /** Rows so far, and those that were kept. */
  #seen = 0;
  #kept = 0;
  /** Whether rows of the current page were dropped. */
  #isNarrowed = false;

  private constructor(wants: CaptureWants, filters: readonly CaptureFilter[]) {
    this.#wants = wants;
    this.#filters = filters;
  }

  /**
   * Returns undefined if no filter reads a capture of the stages' first parser, or if a line filter comes before it, which rejects
   * lines for less. Never throws: compiling the stages reports invalid ones.
   *
   * @param filtersAfter Filters after an unwrap
   */
  static of(stages: readonly Stage[], filtersAfter: readonly LabelFilter[]): CaptureFilters | undefined {
    const index = stages.findIndex(({ kind }) => kind !== 'labelFilter');
    const stage = stages.at(index);
    if (index < 0 || stage?.kind !== 'pattern') return undefined;
    const { lead, names, literals } = patternParts(parsePattern(stage.pattern));
    const filters = filtersBehind(stages, index, filtersAfter).flatMap(filter => {
      const [label] = namesOfFilter(filter);
      const isCapture = label !== '_' && names.includes(label);
      return isCapture && !isReservedName(label) && !isSuffixedName(label) ? [{ label, filter }] : [];
    });
    if (filters.length === 0) return undefined;
    const captures = [...new Set(filters.map(({ label }) => names.indexOf(label)))];
    const tested = filters.map(({ label, filter }) => {
      return { label, filter, capture: captures.indexOf(names.indexOf(label)) };
    });
    return new CaptureFilters(captureWants({ lead, literals, captures }), tested);
  }

  /** Narrows `selection[0..count)` (ascending) in place. Returns the new count. Throws CorruptionError. */
  narrow(page: PageRows, selection: Uint32Array, count: number): number {
    this.#isNarrowed = false;
    if (this.#seen === 0 || this.#kept > this.#seen * MAX_KEPT_SHARE) return count;
    const captures = page.captures?.(this.#wants, runsOfRows(page.runs, selection, count), count);
    if (captures === undefined) return count;
    this.#tests ??= this.#filters.map(
      ({ label, filter }) =>
        new ValueTest(filter, { label, kind: KIND_RAW, isExpression: false, dropsEmpty: false }),
    );
    let left = count;
    for (const [i, test] of this.#tests.entries()) {
      if (left === 0) break;
      const column = columnOf(captures, this.#filters[i].capture, page.rows);
      left = test.narrow(page, column, selection, left);
    }
    this.#isNarrowed = true;
    this.#seen += count;
    this.#kept += left;
    return left;
  }

  /** Notes rows on which the stages ran, and those that passed. */
  note(rows: number, passed: number): void {
    if (this.#isNarrowed) return;
    this.#seen += rows;
    this.#kept += passed;
  }
}

/** Returns the capture of each row of a page as a column. */
function columnOf(captures: PageCaptures, i: number, rows: number): TestedColumn {
  const { numbers, stride, noted } = captures.numbersFrom(0);
  return {
    ids: numbers.subarray(i * stride, i * stride + rows),
    count: noted.length - 1,
    numbers: undefined,
    bytesAt: index => captures.bytesOf(i, 0, index + 1),
  };
}
