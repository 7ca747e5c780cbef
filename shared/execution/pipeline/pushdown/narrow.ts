/**
 * Drops rows of a page that a filter after the parser rejects, by field columns. Each distinct value is
 * tested once, and no line is parsed or read. Rows that a column does not cover remain, and the pipeline
 * processes all remaining rows.
 *
 *     const narrower = compileNarrower(plan);
 *     count = narrower.narrow(page, fieldColumns, selection, count);
 */

import type { PageRows, Run } from '../../../base/model/page.ts';
import type { LabelFilter } from '../../../language/logql/ast.ts';
import { type DecodedColumn, FALLBACK_ID } from '../../../storage/columns/column-decoder.ts';
import { compareNumbers, compileLabelFilter, type LabelTest } from '../label-filter.ts';
import { KIND_CLEAN, RowLabels } from '../row-labels.ts';
import type { ParsedLabel, PushdownPlan } from './plan-pushdown.ts';
import { columnFor, type FieldColumns } from './pushdown-page.ts';

/**
 * Parts of a page that are read: names of labels and metadata decide whether a filter reads the parsed label.
 */
type NarrowedPage = Pick<PageRows, 'runs' | 'metadata'>;

export interface Narrower {
  /** Narrows `selection[0..count)` (ascending) in place. Returns the new count. */
  narrow(page: NarrowedPage, fieldColumns: FieldColumns, selection: Uint32Array, count: number): number;
}

/**
 * Throws an Error with the reference's text for an invalid filter; compiling the stages reports the same
 * error.
 */
export function compileNarrower(plan: PushdownPlan): Narrower {
  const tests = plan.drops.map(({ source, filter }) => new ValueTest(plan, source, filter));
  return {
    narrow(page, fieldColumns, selection, count) {
      let left = count;
      for (const test of tests) {
        if (left === 0) break;
        const column = columnFor(fieldColumns, plan.parser, test.source);
        if (column !== undefined) left = test.narrow(page, column, selection, left);
      }
      return left;
    },
  };
}

const UNKNOWN = 0;
const KEPT = 1;
const REJECTED = 2;

const NO_ROWS = { rows: 1, metadata: [], runs: [], baseNs: 0n, times: new Float64Array(1) };
const NO_PAGE: PageRows = { ...NO_ROWS, lines: Buffer.alloc(0), lineOffsets: new Uint32Array(2) };

class ValueTest {
  readonly source: ParsedLabel;
  readonly #plan: PushdownPlan;
  readonly #labels = new RowLabels();
  readonly #id: number;
  readonly #test: LabelTest;
  /** Filter, if it compares plain numbers. */
  readonly #comparison: Extract<LabelFilter, { kind: 'number' }> | undefined;
  #verdicts = new Uint8Array(0);

  constructor(plan: PushdownPlan, source: ParsedLabel, filter: LabelFilter) {
    this.#plan = plan;
    this.source = source;
    this.#id = this.#labels.intern(source.label);
    this.#test = compileLabelFilter(filter, this.#labels);
    this.#comparison = filter.kind === 'number' ? filter : undefined;
    this.#labels.names.pin();
    this.#labels.enterPage(NO_PAGE);
    this.#labels.enterRun({ labels: [], text: '{}' });
  }

  narrow(page: NarrowedPage, column: DecodedColumn, selection: Uint32Array, count: number): number {
    const { label } = this.source;
    // Rows with metadata of this name have the parsed value under another name; a suffixed column may also
    // have the name.
    if (page.metadata.some(({ name }) => name === label)) return count;
    if (this.#verdicts.length <= column.count) this.#verdicts = new Uint8Array(column.count + 1);
    const verdicts = this.#verdicts.fill(UNKNOWN, 0, column.count + 1);
    const { ids } = column;
    const comparison = this.#comparison;
    const numbers = comparison === undefined ? undefined : column.numbers;
    const limit = comparison?.value ?? 0;
    // Results for a number below, at and above the limit, so that the loop does not evaluate the operator.
    const [below, equal, above] = [-1, 0, 1].map(
      order => comparison !== undefined && compareNumbers(order, comparison.op, 0),
    );
    let kept = 0;
    let at = 0;
    for (const run of page.runs) {
      const end = run.firstRow + run.rows;
      const isRead = !hasLabel(run, label);
      for (; at < count && selection[at] < end; at++) {
        const row = selection[at];
        const id = ids[row];
        if (!isRead || id === FALLBACK_ID) {
          selection[kept++] = row;
          continue;
        }
        // The texts of numbers are not created.
        if (numbers !== undefined && id > 0) {
          const number = numbers[id - 1];
          if (number < limit ? below : number > limit ? above : number === limit ? equal : false) {
            selection[kept++] = row;
            continue;
          }
          if (!Number.isNaN(number)) continue;
        }
        if (verdicts[id] === UNKNOWN) verdicts[id] = this.#accepts(column, id) ? KEPT : REJECTED;
        if (verdicts[id] === KEPT) selection[kept++] = row;
      }
    }
    return kept;
  }

  #accepts(column: DecodedColumn, id: number): boolean {
    const labels = this.#labels;
    labels.enterRow(0);
    const { isExpression, dropsEmpty } = this.#plan;
    if (id === 0) {
      if (isExpression) labels.setText(this.#id, '');
    } else {
      const { source, start, end } = column.bytesAt(id - 1);
      if (start < end || !dropsEmpty) labels.setBytes(this.#id, KIND_CLEAN, source, start, end);
    }
    return this.#test(labels);
  }
}

function hasLabel({ stream }: Run, name: string): boolean {
  return stream.labels.some(label => label.name === name);
}
