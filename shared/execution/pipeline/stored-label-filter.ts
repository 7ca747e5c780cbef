/**
 * Label filters on stored labels (without a parser or formatter before them). They are decided once for each
 * stream, or once for each value of the one metadata column that they read. They run row by row only if two
 * columns are involved.
 */
import type { LabelTest } from './label-filter.ts';
import type { RowLabels } from './row-labels.ts';

const REJECTED = 1;
const KEPT = 2;

export class StoredLabelFilter {
  readonly #test: LabelTest;
  readonly #ids: readonly number[];
  /** For each value of the current column: run serial * 4 + verdict. */
  #verdicts = new Float64Array(0);
  /**
   * Whether some row of the last `narrow` did not convert: the filter must then run again on each row to
   * report it.
   */
  failed = false;

  constructor(test: LabelTest, ids: readonly number[]) {
    this.#test = test;
    this.#ids = [...new Set(ids)];
  }

  /** Narrows the rows `selection[from..to)` of the current run in place. Returns the new end. */
  narrow(labels: RowLabels, selection: Uint32Array, from: number, to: number): number {
    this.failed = labels.hasErrorColumns;
    const columns = new Set(this.#ids.flatMap(id => labels.columnsNamed(id)));
    if (columns.size === 0) return this.#decide(labels, selection[from]) === KEPT ? to : from;
    if (columns.size === 1) {
      const [column] = columns;
      return this.#narrowByColumn(labels, column, selection, from, to);
    }
    let kept = from;
    for (let i = from; i < to; i++) {
      if (this.#decide(labels, selection[i]) === KEPT) selection[kept++] = selection[i];
    }
    return kept;
  }

  #narrowByColumn(
    labels: RowLabels,
    column: number,
    selection: Uint32Array,
    from: number,
    to: number,
  ): number {
    const { ids, count } = labels.columns[column];
    if (this.#verdicts.length <= count) this.#verdicts = new Float64Array(count + 1);
    const verdicts = this.#verdicts;
    const stamp = labels.runSerial * 4;
    let kept = from;
    for (let i = from; i < to; i++) {
      const row = selection[i];
      const id = ids[row];
      let verdict = verdicts[id] - stamp;
      if (verdict !== REJECTED && verdict !== KEPT) {
        verdict = this.#decide(labels, row);
        verdicts[id] = stamp + verdict;
      }
      if (verdict === KEPT) selection[kept++] = row;
    }
    return kept;
  }

  #decide(labels: RowLabels, row: number): number {
    labels.enterRow(row);
    const kept = this.#test(labels);
    if (kept && labels.error !== '') this.failed = true;
    return kept ? KEPT : REJECTED;
  }
}
