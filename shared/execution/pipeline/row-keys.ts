/**
 * Computes a number for the labels of the current row, so that rows of one series or label set are recognized
 * without building their labels. Equal numbers mean equal labels. The reverse does not hold: two lines may
 * set the same labels in a different order. The owner therefore compares texts for each new number.
 */
import { LabelTrie, MAX_TRIE_NODES } from './label-trie.ts';
import { KIND_CLEAN, KIND_RAW, METADATA, PARSED, type RowLabels, STREAM } from './row-labels.ts';
import { ValueIds } from './value-ids.ts';

/** Step label for a hidden label of the stream; names are 0 and up. */
const HIDDEN = -1;

export class RowKeys {
  readonly #labels: RowLabels;
  readonly #trie = new LabelTrie();
  readonly #values = new ValueIds();
  #streams = new Map<string, number>();
  #generation: number;
  /** Incremented when numbers start over, which invalidates stored numbers. */
  epoch = 0;

  // State of the current run and page.
  #runSerial = -1;
  #streamNode = 0;
  #columns: readonly unknown[] | undefined;
  /** For each column, the value number of each dictionary entry; 0 if unknown. */
  #columnValues: (Int32Array | undefined)[] = [];
  #streamValues: { runSerial: number; id: number }[] = [];

  constructor(labels: RowLabels) {
    this.#labels = labels;
    this.#generation = labels.names.generation;
  }

  /** Upper bound of all assigned numbers. */
  get count(): number {
    return this.#trie.count;
  }

  /** Called before a row's number is computed. */
  #prepare(): void {
    const labels = this.#labels;
    if (
      this.#trie.count > MAX_TRIE_NODES ||
      this.#values.isFull ||
      this.#generation !== labels.names.generation
    ) {
      this.#trie.clear();
      this.#values.clear();
      this.#streams = new Map();
      this.#generation = labels.names.generation;
      this.#runSerial = -1;
      this.#columns = undefined;
      this.#streamValues = [];
      this.epoch++;
    }
    if (this.#columns !== labels.columns) {
      this.#columns = labels.columns;
      this.#columnValues = new Array(labels.columns.length).fill(undefined);
    }
  }

  /** Returns the number for the values of some names, in this order. */
  ofNames(ids: readonly number[]): number {
    this.#prepare();
    const labels = this.#labels;
    let node = 0;
    for (let i = 0; i < ids.length; i++) {
      const id = ids[i];
      let value = 0;
      switch (labels.lookup(id)) {
        case PARSED:
          value = this.#parsedValue(labels.valueIndexOf(id));
          break;
        case METADATA:
          value = this.#metadataValue(labels.columnOf(id));
          break;
        case STREAM:
          value = this.#streamValue(i, id);
          break;
      }
      // If it is the only one, the value's number is sufficient, which saves one lookup per row.
      if (ids.length === 1) return value;
      node = this.#trie.next(node, i, value);
    }
    return node;
  }

  /** Returns the number for all labels except some names. The row must have no error. */
  ofAllBut(excluded: ReadonlySet<number>): number {
    this.#prepare();
    const labels = this.#labels;
    if (this.#runSerial !== labels.runSerial) {
      this.#runSerial = labels.runSerial;
      this.#streamNode = this.#nodeOfStream(labels.stream.text);
    }
    let node = this.#streamNode;
    labels.forEachMetadata((id, column) => {
      if (labels.lookup(id) !== PARSED && !excluded.has(id)) {
        node = this.#trie.next(node, id, this.#metadataValue(column));
      }
    });
    const { valueCount } = labels;
    for (let index = 0; index < valueCount; index++) {
      const id = labels.valueNames[index];
      if (id < 0 || excluded.has(id)) continue;
      node = this.#trie.next(node, id, this.#parsedValue(index));
    }
    // A label of the stream is hidden if it was deleted, or by a parsed or metadata label of the same name.
    const { base } = labels;
    for (let i = 0; i < base.length; i++) {
      const id = labels.baseIds[i];
      if (labels.lookup(id) !== STREAM) node = this.#trie.next(node, HIDDEN, i);
    }
    return node;
  }

  #nodeOfStream(text: string): number {
    let number = this.#streams.get(text);
    if (number === undefined) {
      number = this.#streams.size + 1;
      this.#streams.set(text, number);
    }
    return this.#trie.next(0, HIDDEN, number);
  }

  #parsedValue(index: number): number {
    const labels = this.#labels;
    const kind = labels.valueKinds[index];
    if (kind === KIND_CLEAN || kind === KIND_RAW) {
      const source = labels.valueSources[index];
      return this.#values.idOfBytes(
        source,
        labels.valueStarts[index],
        labels.valueEnds[index],
        kind === KIND_CLEAN,
      );
    }
    return this.#values.idOfText(labels.valueText(index));
  }

  #metadataValue(column: number): number {
    const { ids, count } = this.#labels.columns[column];
    const dictionaryId = ids[this.#labels.row];
    let values = this.#columnValues[column];
    if (values === undefined) {
      values = new Int32Array(count + 1);
      this.#columnValues[column] = values;
    }
    let value = values[dictionaryId];
    if (value === 0) {
      value = this.#values.idOfText(this.#labels.columns[column].valueAt(dictionaryId - 1));
      values[dictionaryId] = value;
    }
    return value;
  }

  #streamValue(index: number, id: number): number {
    const known = this.#streamValues[index];
    if (known !== undefined && known.runSerial === this.#labels.runSerial) return known.id;
    const value = this.#values.idOfText(this.#labels.streamText(id));
    this.#streamValues[index] = { runSerial: this.#labels.runSerial, id: value };
    return value;
  }
}
