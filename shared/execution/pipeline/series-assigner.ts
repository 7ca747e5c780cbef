/**
 * Assigns samples to series (docs/dev/logql-semantics.md#labels-of-a-series). Rows whose labels are as stored are assigned run by run.
 * One lookup covers the run, or each value of the metadata column that splits it.
 *
 * Pitfall: details may remain of an error that a stage dropped. Without a grouping, they are a label of the
 * series. A grouping cannot name them.
 */

import { compareUtf8 } from '../../base/model/bytes.ts';
import type { Label, Labels } from '../../base/model/labels.ts';
import type { SharedMemory } from '../../base/model/memory-budget.ts';
import { ERROR_DETAILS_LABEL } from '../../base/text/names.ts';
import { categoriesOf, mergedLabels } from './label-map.ts';
import type { Row } from './row.ts';
import { RowKeys } from './row-keys.ts';
import type { SeriesLabels } from './sample-plan.ts';
import { Series } from './series.ts';

const UNKNOWN = -1;
const FIRST_KEYS = 1024;

export class SeriesAssigner {
  readonly series: Series;
  readonly #row: Row;
  readonly #keys: RowKeys;
  readonly #labels: SeriesLabels;
  /** Numbers of the grouping labels, in name order, and of the labels excluded by `without`. */
  readonly #ids: readonly number[];
  readonly #excluded: ReadonlySet<number>;
  #seriesOfKey = new Int32Array(FIRST_KEYS).fill(UNKNOWN);
  #keysEpoch = 0;
  #none = UNKNOWN;
  /** For the one metadata column that splits a run: run serial and series of each dictionary entry. */
  #columnRuns = new Float64Array(0);
  #columnSeries = new Uint32Array(0);

  constructor(row: Row, labels: SeriesLabels, memory?: SharedMemory) {
    this.#row = row;
    this.#labels = labels;
    this.#keys = new RowKeys(row.labels);
    this.series = new Series(undefined, memory);
    const names = labels.kind === 'by' || labels.kind === 'without' ? [...new Set(labels.names)] : [];
    this.#ids = names.sort(compareUtf8).map(name => row.labels.intern(name));
    this.#excluded = new Set(labels.kind === 'without' ? this.#ids : []);
  }

  /** Numbers of the labels of the series; undefined for all labels except the excluded ones. */
  get groupingNames(): readonly number[] | undefined {
    switch (this.#labels.kind) {
      case 'none':
        return [];
      case 'by':
        return this.#ids;
      default:
        return undefined;
    }
  }

  /** Returns the series of the current row. */
  seriesOfRow(): number {
    const { error, errorDetails } = this.#row.labels;
    if (error !== '' || (errorDetails !== '' && this.#labels.kind === 'all')) {
      return this.series.numberOf(this.#allLabels());
    }
    switch (this.#labels.kind) {
      case 'none':
        if (this.#none === UNKNOWN) this.#none = this.series.numberOf([]);
        return this.#none;
      case 'by':
        return this.#seriesOf(this.#keys.ofNames(this.#ids));
      default:
        return this.#seriesOf(this.#keys.ofAllBut(this.#excluded));
    }
  }

  #seriesOf(key: number): number {
    if (this.#keysEpoch !== this.#keys.epoch) {
      this.#keysEpoch = this.#keys.epoch;
      this.#seriesOfKey.fill(UNKNOWN);
    }
    if (key >= this.#seriesOfKey.length) {
      const larger = new Int32Array(Math.max(key + 1, this.#seriesOfKey.length * 2)).fill(UNKNOWN);
      larger.set(this.#seriesOfKey);
      this.#seriesOfKey = larger;
    }
    let series = this.#seriesOfKey[key];
    if (series === UNKNOWN) {
      series = this.series.numberOf(this.#groupedLabels());
      this.#seriesOfKey[key] = series;
    }
    return series;
  }

  #allLabels(): Labels {
    return mergedLabels(categoriesOf(this.#row.labels));
  }

  #groupedLabels(): Labels {
    switch (this.#labels.kind) {
      case 'by':
        return this.#labelsOfIds();
      case 'without': {
        const { names } = this.#labels;
        return this.#allLabels().filter(({ name }) => name !== ERROR_DETAILS_LABEL && !names.includes(name));
      }
      default:
        return this.#allLabels();
    }
  }

  /** Returns the grouping labels of the current row, without its other labels. The row must have no error. */
  #labelsOfIds(): Labels {
    const { labels } = this.#row;
    const found: Label[] = [];
    for (const id of this.#ids) {
      const name = labels.names.texts[id];
      const value = name === ERROR_DETAILS_LABEL ? undefined : labels.get(id);
      if (value !== undefined) found.push({ name, value });
    }
    return found;
  }

  /**
   * Writes the series of the rows `selection[from..to)` of one run, whose labels are as stored, to `out` from
   * `at` on.
   */
  assignPlain(selection: Uint32Array, from: number, to: number, out: Uint32Array, at: number): void {
    const { labels } = this.#row;
    const columns = this.#splittingColumns();
    if (columns.length === 0) {
      labels.enterRow(selection[from]);
      out.fill(this.seriesOfRow(), at, at + to - from);
      return;
    }
    if (columns.length > 1) {
      for (let i = from; i < to; i++) {
        labels.enterRow(selection[i]);
        out[at + i - from] = this.seriesOfRow();
      }
      return;
    }
    const { ids, count } = labels.columns[columns[0]];
    if (this.#columnSeries.length <= count) {
      this.#columnRuns = new Float64Array(count + 1);
      this.#columnSeries = new Uint32Array(count + 1);
    }
    const runs = this.#columnRuns;
    const series = this.#columnSeries;
    const serial = labels.runSerial;
    for (let i = from; i < to; i++) {
      const id = ids[selection[i]];
      if (runs[id] !== serial) {
        labels.enterRow(selection[i]);
        series[id] = this.seriesOfRow();
        runs[id] = serial;
      }
      out[at + i - from] = series[id];
    }
  }

  /** Returns the metadata columns that affect the labels of the run's series. */
  #splittingColumns(): readonly number[] {
    const { labels } = this.#row;
    switch (this.#labels.kind) {
      case 'none':
        return [];
      case 'by':
        return this.#ids.flatMap(id => labels.columnsNamed(id));
      default:
        return labels.columns.map((_, i) => i).filter(i => !this.#excluded.has(labels.columnNames[i]));
    }
  }
}
