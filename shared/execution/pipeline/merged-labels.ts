/**
 * Labels of rows on which stages work, all categories merged (label-map.ts). Rows of a run that set the same names in the
 * same order share the order of their labels, and the text between values. So a row costs its values, and neither
 * compares names nor builds lists by category.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { formatLabels, type Label, type Labels } from '../../base/model/labels.ts';
import { escapedContent } from '../../base/model/quote.ts';
import { categoriesOf, mergedLabels } from './label-map.ts';
import { METADATA, PARSED, type RowLabels, STREAM } from './row-labels.ts';

/** Origin of a label in each row of an order. */
interface OrderedLabel {
  readonly name: string;
  readonly from: typeof STREAM | typeof METADATA | typeof PARSED;
  /** Index of the stream's label, of the metadata column, or of the parsed value. */
  readonly index: number;
  /** Text before the value in the canonical text. */
  readonly before: string;
}

export class MergedLabels {
  readonly #labels: RowLabels;
  // Rows to which the order applies: run, columns that provide a label, names of parsed values.
  #runSerial = -1;
  readonly #isShown: boolean[] = [];
  readonly #names: number[] = [];
  #order: readonly OrderedLabel[] = [];
  /** Labels that the order returned last. */
  #latest: Labels | undefined;

  constructor(labels: RowLabels) {
    this.#labels = labels;
  }

  /** Returns all labels of the current row, sorted. */
  ofRow(): Labels {
    const labels = this.#labels;
    this.#latest = undefined;
    // Rare. Errors are labels without a name in the table.
    if (labels.deletions > 0 || labels.error !== '' || labels.errorDetails !== '')
      return mergedLabels(categoriesOf(labels));
    if (!this.#isKnown()) this.#learn();
    const order = this.#order;
    const { base, columns, row } = labels;
    const merged = new Array<Label>(order.length);
    for (let i = 0; i < order.length; i++) {
      const { name, from, index } = order[i];
      if (from === STREAM) merged[i] = base[index];
      else if (from === PARSED) merged[i] = { name, value: labels.valueText(index) };
      else {
        const column = columns[index];
        merged[i] = { name, value: column.valueAt(column.ids[row] - 1) };
      }
    }
    this.#latest = merged;
    return merged;
  }

  /** Returns the canonical text of labels that `ofRow` returned. */
  textOf(merged: Labels): string {
    const order = this.#order;
    if (merged !== this.#latest || order.length === 0) return formatLabels(merged);
    const parts = new Array<string>(2 * order.length + 1);
    for (let i = 0; i < order.length; i++) {
      parts[2 * i] = order[i].before;
      parts[2 * i + 1] = escapedContent(merged[i].value);
    }
    parts[2 * order.length] = '"}';
    return parts.join('');
  }

  #isKnown(): boolean {
    const labels = this.#labels;
    const { valueCount, valueNames, columns } = labels;
    const names = this.#names;
    if (this.#runSerial !== labels.runSerial || names.length !== valueCount) return false;
    for (let i = 0; i < valueCount; i++) if (names[i] !== valueNames[i]) return false;
    for (let i = 0; i < columns.length; i++) if (this.#isShown[i] !== this.#shows(i)) return false;
    return true;
  }

  #learn(): void {
    const labels = this.#labels;
    const { base, baseIds, columns, columnNames, valueCount, valueNames } = labels;
    const { texts } = labels.names;
    this.#runSerial = labels.runSerial;
    this.#names.length = 0;
    const found: Omit<OrderedLabel, 'before'>[] = [];
    for (const [index, { name }] of base.entries())
      if (labels.lookup(baseIds[index]) === STREAM) found.push({ name, from: STREAM, index });
    for (let index = 0; index < columns.length; index++) {
      this.#isShown[index] = this.#shows(index);
      if (this.#isShown[index]) found.push({ name: texts[columnNames[index]], from: METADATA, index });
    }
    for (let index = 0; index < valueCount; index++) {
      this.#names.push(valueNames[index]);
      found.push({ name: texts[valueNames[index]], from: PARSED, index });
    }
    found.sort((a, b) => compareUtf8(a.name, b.name));
    this.#order = found.map((one, i) => ({ ...one, before: `${i === 0 ? '{' : '", '}${one.name}="` }));
  }

  /** Whether a metadata column provides a label of the row. */
  #shows(column: number): boolean {
    const labels = this.#labels;
    const id = labels.columnNames[column];
    return id >= 0 && labels.lookup(id) === METADATA && labels.columnOf(id) === column;
  }
}
