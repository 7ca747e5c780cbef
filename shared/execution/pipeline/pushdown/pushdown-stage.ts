/**
 * Parser stage of a pipeline that uses columns: it sets the labels that the parser would set, and leaves rows
 * that columns do not cover to the parser. It replaces the parser in `CompiledStages.rowStages`.
 *
 * Pitfall: all columns of a row are checked before any label is set, because the parser must see the original
 * row.
 */
import type { PageRows, Run } from '../../../base/model/page.ts';
import { type DecodedColumn, FALLBACK_ID } from '../../../storage/columns/column-decoder.ts';
import type { Row, RowStage } from '../row.ts';
import { KIND_CLEAN, type RowLabels } from '../row-labels.ts';
import type { ParsedLabel, PushdownPlan } from './plan-pushdown.ts';
import { columnFor, type FieldColumns } from './pushdown-page.ts';

interface Bound {
  /** Number of the label, or -1 if the column only shows whether the line is valid. */
  readonly id: number;
  readonly column: DecodedColumn;
}

export class PushdownStage {
  readonly #plan: PushdownPlan;
  readonly #labels: RowLabels;
  readonly #parse: RowStage;
  readonly #sources: readonly ParsedLabel[];
  readonly #ids: readonly number[];
  #columns: (DecodedColumn | undefined)[] = [];
  #page: FieldColumns | undefined;
  /** Run to which `#bound` belongs; -1 after a page began. */
  #runSerial = -1;
  #bound: readonly Bound[] | undefined;

  /** @param parse Stage of the parser, on the same labels */
  constructor(plan: PushdownPlan, labels: RowLabels, parse: RowStage) {
    this.#plan = plan;
    this.#labels = labels;
    this.#parse = parse;
    this.#sources = plan.labels ?? [];
    this.#ids = this.#sources.map(({ label }) => labels.intern(label));
    for (const id of this.#ids) labels.suffixed(id);
  }

  /** Call it before the rows of a page; undefined if the page has no columns. */
  enterPage(fieldColumns: FieldColumns | undefined): void {
    this.#page = fieldColumns;
    this.#columns = this.#sources.map(source => columnFor(fieldColumns, this.#plan.parser, source));
    this.#runSerial = -1;
  }

  /**
   * Returns whether some row of `selection[0..count)` must be parsed, so that the page's lines must be read.
   */
  needsLines(
    { runs, metadata }: Pick<PageRows, 'runs' | 'metadata'>,
    selection: Uint32Array,
    count: number,
  ): boolean {
    const { isExpression, labels } = this.#plan;
    if (labels === undefined) return count > 0;
    if (isExpression && this.#sources.some(({ label }) => metadata.some(({ name }) => name === label)))
      return count > 0;
    let at = 0;
    for (const { stream, firstRow, rows } of runs) {
      const from = at;
      while (at < count && selection[at] < firstRow + rows) at++;
      if (at === from) continue;
      const bound = this.#bind(name => stream.labels.some(label => label.name === name));
      if (bound === undefined) return true;
      for (const { column } of bound) {
        if (column.fallbackRows === 0) continue;
        for (let i = from; i < at; i++) if (column.ids[selection[i]] === FALLBACK_ID) return true;
      }
    }
    return false;
  }

  /** Returns columns for a run, or undefined if its lines must be parsed. */
  #bind(streamHas: (label: string) => boolean): Bound[] | undefined {
    if (this.#plan.labels === undefined) return undefined;
    const bound: Bound[] = [];
    for (const [i, { label }] of this.#sources.entries()) {
      if (streamHas(label)) {
        // The parser's value would get the suffix. Expressions do that; for other parsers, the query does not
        // need the value.
        if (this.#plan.isExpression) return undefined;
        continue;
      }
      const column = this.#columns[i];
      if (column === undefined) return undefined;
      bound.push({ id: this.#ids[i], column });
    }
    if (bound.length > 0) return bound;
    // No label is set, but an invalid line must still fail.
    const column = this.#page?.guard(this.#plan.parser);
    return column && [{ id: -1, column }];
  }

  /**
   * Returns the columns of the labels that the stage sets in the current run, by label number. Returns
   * undefined if some row must be parsed, or if labels depend on the row.
   */
  columnsOfRun(run: Pick<Run, 'firstRow' | 'rows'>): ReadonlyMap<number, DecodedColumn> | undefined {
    const bound = this.#boundToRun();
    if (bound === undefined || this.#plan.isExpression) return undefined;
    if (bound.some(({ column }) => leavesRows(column, run))) return undefined;
    return new Map(bound.filter(({ id }) => id >= 0).map(({ id, column }) => [id, column]));
  }

  /** Whether columns replace the parser in the current run, except for some rows. */
  get answersRun(): boolean {
    return this.#boundToRun() !== undefined;
  }

  #boundToRun(): readonly Bound[] | undefined {
    const labels = this.#labels;
    if (this.#runSerial !== labels.runSerial) {
      this.#runSerial = labels.runSerial;
      this.#bound = this.#bind(name => labels.streamHas(labels.intern(name)));
    }
    return this.#bound;
  }

  readonly stage: RowStage = (row: Row) => {
    const labels = this.#labels;
    const bound = this.#boundToRun();
    if (bound === undefined) return this.#parse(row);
    const { isExpression, dropsEmpty } = this.#plan;
    const number = labels.row;
    for (let i = 0; i < bound.length; i++) {
      const { id, column } = bound[i];
      if (column.ids[number] === FALLBACK_ID || (isExpression && labels.collides(id)))
        return this.#parse(row);
    }
    for (let i = 0; i < bound.length; i++) {
      const { id, column } = bound[i];
      const value = column.ids[number];
      if (id < 0) break;
      if (value === 0) {
        if (isExpression) labels.setText(id, '');
        continue;
      }
      // Because of metadata with this name, the value gets a name that the query does not need.
      if (labels.collides(id)) continue;
      const { source, start, end } = column.bytesAt(value - 1);
      if (start < end || !dropsEmpty) labels.setBytes(id, KIND_CLEAN, source, start, end);
    }
    return true;
  };
}

/** Returns whether some row of the run is left to the parser. */
function leavesRows(
  { ids, fallbackRows }: DecodedColumn,
  { firstRow, rows }: Pick<Run, 'firstRow' | 'rows'>,
): boolean {
  if (fallbackRows === 0) return false;
  for (let row = firstRow; row < firstRow + rows; row++) if (ids[row] === FALLBACK_ID) return true;
  return false;
}
