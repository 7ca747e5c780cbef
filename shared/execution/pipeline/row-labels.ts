/**
 * Labels of the current row (docs/dev/logql-semantics.md#labels-of-an-entry): those of its stream, its structured metadata, and labels
 * set by parsers and formatters. One object serves all rows. A row starts by incrementing a number, so that
 * nothing needs to be cleared. Parsed values stay byte ranges until their text is needed.
 *
 * Pitfall: a parser's name collides with the stream's original labels even after `drop`. Setting a parsed
 * label hides metadata of that name. An extracted name stays "extracted" after it was dropped.
 *
 * All of this is one file because it is one table: every method reads or writes the same stamps.
 */

import { textOfBytes } from '../../base/model/byte-text.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import type { Labels } from '../../base/model/labels.ts';
import type { MetadataColumn, PageRows, Stream } from '../../base/model/page.ts';
import {
  ERROR_DETAILS_LABEL,
  ERROR_LABEL,
  LabelNameTable,
  PRESERVE_ERROR_LABEL,
} from '../../base/text/names.ts';
import { cleaned, decodeClean, jsonStringValue, unquoteLogfmt } from '../../base/text/text.ts';

/** Origin of a name's value. */
export const ABSENT = 0;
export const STREAM = 1;
export const METADATA = 2;
export const PARSED = 3;

/** Encoding of a parsed value. KIND_TEXT: the value is already text. */
const KIND_TEXT = 0;
/** UTF-8, with invalid bytes as spaces. */
export const KIND_CLEAN = 1;
/** UTF-8, with invalid bytes preserved. */
export const KIND_RAW = 2;
/** Content of a JSON string with escapes. */
export const KIND_JSON = 3;
/** Content of a quoted logfmt value with escapes. */
export const KIND_LOGFMT = 4;

const NO_SOURCE = Buffer.alloc(0);
const FIRST_NAMES = 64;
const FIRST_VALUES = 32;

/** Names that a metric query extracts; a query without such a restriction extracts everything. */
export interface WantedNames {
  readonly names: readonly string[];
  /** Whether `__error__` is among the needed names: parser errors are then results, not failures (docs/dev/logql-semantics.md#errors-of-entries). */
  readonly preserveErrors: boolean;
}

export class RowLabels {
  readonly names = new LabelNameTable();
  readonly #wanted: WantedNames | undefined;
  #capacity = 0;

  /** Incremented for every row; a stamp equal to it means "in this row". */
  #epoch = 0;
  #runSerial = 0;

  // State of the run: its stream, and the name that each metadata column provides.
  #stream: Stream | undefined;
  #streamStamp = new Int32Array(0);
  #streamIndex = new Int32Array(0);
  #columns: readonly MetadataColumn[] = [];
  #metaStamp = new Int32Array(0);
  #metaColumn = new Int32Array(0);
  /** Next column of the same name for each column, or -1. */
  #chain: number[] = [];
  /** Name that each column provides in the run, -1 for those of the error slots. */
  readonly columnNames: number[] = [];
  #errorColumn = -1;
  #detailsColumn = -1;

  /** Names of the stream's labels, in their order. */
  readonly baseIds: number[] = [];

  // State of the row.
  /** Number of the row in the page. */
  row = 0;
  #metaHidden = new Int32Array(0);
  #deleted = new Int32Array(0);
  #extracted = new Int32Array(0);
  #parsed = new Int32Array(0);
  #valueIndex = new Int32Array(0);
  /** Number of names deleted in this row, present or not. */
  deletions = 0;
  error = '';
  errorDetails = '';

  /** Parsed values in the order in which they were set; a deleted value has the name -1. */
  valueCount = 0;
  valueNames = new Int32Array(FIRST_VALUES);
  valueKinds = new Uint8Array(FIRST_VALUES);
  valueStarts = new Int32Array(FIRST_VALUES);
  valueEnds = new Int32Array(FIRST_VALUES);
  #valueHid = new Uint8Array(FIRST_VALUES);
  readonly valueSources: Buffer[] = [];
  readonly #valueTexts: string[] = [];

  /** False if everything is extracted. */
  readonly restricted: boolean;
  #wantedFlags = new Uint8Array(0);
  readonly #wantedCount: number;
  #found = 0;

  constructor(wanted?: WantedNames) {
    this.#wanted = wanted;
    this.restricted = wanted !== undefined;
    const ids = new Set<number>();
    for (const name of wanted?.names ?? []) ids.add(this.intern(name));
    for (const id of ids) this.#wantedFlags[id] = 1;
    this.#wantedCount = ids.size;
  }

  // Methods for names.

  intern(name: string): number {
    const id = this.names.idOf(name);
    if (this.names.count > this.#capacity) this.#growNames();
    return id;
  }

  /** Returns the number of a name's `_extracted` form. */
  suffixed(id: number): number {
    const suffixed = this.names.suffixedIdOf(id);
    if (this.names.count > this.#capacity) this.#growNames();
    return suffixed;
  }

  /** Needed names; undefined if everything is extracted. */
  get wantedNames(): readonly string[] | undefined {
    return this.#wanted?.names;
  }

  wants(id: number): boolean {
    return !this.restricted || this.#wantedFlags[id] === 1;
  }

  /** Returns whether some needed name starts with a path: only then is an object of JSON entered (docs/dev/logql-semantics.md#parsers-that-are-skipped). */
  wantsPrefix(path: string): boolean {
    return this.#wanted === undefined || this.#wanted.names.some(name => name.startsWith(path));
  }

  /** True if every needed name has been extracted from this row: parsers then stop. */
  get allFound(): boolean {
    return this.restricted && this.#found === this.#wantedCount;
  }

  // Methods to enter a page, run or row.

  enterPage(page: PageRows): void {
    // Entries store their metadata sorted by name; if two columns end up with one name, the later wins.
    this.#columns = [...page.metadata].sort((a, b) => compareUtf8(a.name, b.name));
    this.#stream = undefined;
  }

  get columns(): readonly MetadataColumn[] {
    return this.#columns;
  }

  get stream(): Stream {
    return this.#stream!;
  }

  /** Labels of the run's stream. */
  get base(): Labels {
    return this.#stream!.labels;
  }

  /** Number that changes with every run that is entered. */
  get runSerial(): number {
    return this.#runSerial;
  }

  enterRun(stream: Stream): void {
    this.#stream = stream;
    this.#runSerial++;
    const serial = this.#runSerial;
    for (let i = 0; i < stream.labels.length; i++) {
      const id = this.intern(stream.labels[i].name);
      this.#streamStamp[id] = serial;
      this.#streamIndex[id] = i;
      this.baseIds[i] = id;
    }
    this.#errorColumn = -1;
    this.#detailsColumn = -1;
    for (let i = 0; i < this.#columns.length; i++) {
      const name = this.#columns[i].name;
      let id = this.intern(name);
      this.#chain[i] = -1;
      this.columnNames[i] = -1;
      if (this.#streamStamp[id] === serial) id = this.suffixed(id);
      else if (name === ERROR_LABEL) {
        this.#errorColumn = i;
        continue;
      } else if (name === ERROR_DETAILS_LABEL) {
        this.#detailsColumn = i;
        continue;
      }
      if (this.#metaStamp[id] === serial) this.#chain[i] = this.#metaColumn[id];
      this.#metaStamp[id] = serial;
      this.#metaColumn[id] = i;
      this.columnNames[i] = id;
    }
  }

  /** Whether an entry's metadata may fill the error slots. */
  get hasErrorColumns(): boolean {
    return this.#errorColumn >= 0 || this.#detailsColumn >= 0;
  }

  enterRow(row: number): void {
    if (this.names.trim()) this.enterRun(this.#stream!);
    if (this.#epoch === 0x7fff_fff0) this.#restartEpochs();
    this.#epoch++;
    this.row = row;
    this.valueCount = 0;
    this.deletions = 0;
    this.#found = 0;
    this.error = '';
    this.errorDetails = '';
    if (this.#errorColumn >= 0) this.error = this.#columnText(this.#errorColumn);
    if (this.#detailsColumn >= 0) this.errorDetails = this.#columnText(this.#detailsColumn);
  }

  #columnText(column: number): string {
    const { ids } = this.#columns[column];
    return ids[this.row] === 0 ? '' : this.#columns[column].valueAt(ids[this.row] - 1);
  }

  // Methods to read labels.

  /** Returns ABSENT, STREAM, METADATA or PARSED. */
  lookup(id: number): number {
    if (this.#parsed[id] === this.#epoch) return PARSED;
    if (this.columnOf(id) >= 0) return METADATA;
    if (this.#streamStamp[id] === this.#runSerial && this.#deleted[id] !== this.#epoch) return STREAM;
    return ABSENT;
  }

  /** Returns the index of a name's parsed value. Valid only if `lookup` returns PARSED. */
  valueIndexOf(id: number): number {
    return this.#valueIndex[id];
  }

  /** Returns the metadata column (an index of `columns`) that provides a name in this row, or -1. */
  columnOf(id: number): number {
    if (this.#metaStamp[id] !== this.#runSerial || this.#metaHidden[id] === this.#epoch) return -1;
    let column = this.#metaColumn[id];
    while (column >= 0 && this.#columns[column].ids[this.row] === 0) column = this.#chain[column];
    return column;
  }

  /** Returns whether some metadata column of the page has this name, regardless of the row. */
  hasColumn(id: number): boolean {
    return this.#metaStamp[id] === this.#runSerial;
  }

  /** Returns the columns that provide a name in the run, in lookup order. */
  columnsNamed(id: number): number[] {
    const out: number[] = [];
    if (this.#metaStamp[id] !== this.#runSerial) return out;
    for (let column = this.#metaColumn[id]; column >= 0; column = this.#chain[column]) out.push(column);
    return out;
  }

  /** Calls `visit` for every structured metadata name of the row that is not hidden. */
  forEachMetadata(visit: (id: number, column: number) => void): void {
    for (let i = 0; i < this.#columns.length; i++) {
      const id = this.columnNames[i];
      if (id >= 0 && this.columnOf(id) === i) visit(id, i);
    }
  }

  /** Returns whether the stream has this name, deleted or not. */
  streamHas(id: number): boolean {
    return this.#streamStamp[id] === this.#runSerial;
  }

  isDeleted(id: number): boolean {
    return this.#deleted[id] === this.#epoch;
  }

  streamText(id: number): string {
    return this.#stream!.labels[this.#streamIndex[id]].value;
  }

  /** Returns the value of a name, or undefined if it is absent. */
  get(id: number): string | undefined {
    switch (this.lookup(id)) {
      case PARSED:
        return this.valueText(this.#valueIndex[id]);
      case METADATA:
        return this.#columnText(this.columnOf(id));
      case STREAM:
        return this.streamText(id);
      default:
        return undefined;
    }
  }

  /** Returns the text of a parsed value, decoded once. */
  valueText(index: number): string {
    const kind = this.valueKinds[index];
    if (kind === KIND_TEXT) return this.#valueTexts[index];
    const source = this.valueSources[index];
    const text = textOf(kind, source, this.valueStarts[index], this.valueEnds[index]);
    this.#valueTexts[index] = text;
    this.valueKinds[index] = KIND_TEXT;
    return text;
  }

  isValueEmpty(index: number): boolean {
    if (this.valueKinds[index] === KIND_TEXT) return this.#valueTexts[index] === '';
    // Among escaped values, only a broken JSON string reads as empty.
    if (this.valueKinds[index] === KIND_JSON) return this.valueText(index) === '';
    return this.valueStarts[index] === this.valueEnds[index];
  }

  // Methods to write labels.

  /** Returns whether a parser's name needs the suffix, because the stream or the row's metadata has it. */
  collides(id: number): boolean {
    return this.#streamStamp[id] === this.#runSerial || this.columnOf(id) >= 0;
  }

  isExtracted(id: number): boolean {
    return this.#extracted[id] === this.#epoch;
  }

  /** Sets a parsed label to bytes of `source`, which must not change while the row is in use. */
  setBytes(id: number, kind: number, source: Buffer, start: number, end: number): void {
    const index = this.#valueIndexFor(id);
    this.valueKinds[index] = kind;
    this.valueSources[index] = source;
    this.valueStarts[index] = start;
    this.valueEnds[index] = end;
  }

  setText(id: number, text: string): void {
    const index = this.#valueIndexFor(id);
    this.valueKinds[index] = KIND_TEXT;
    this.valueSources[index] = NO_SOURCE;
    this.#valueTexts[index] = text;
  }

  #valueIndexFor(id: number): number {
    const epoch = this.#epoch;
    if (this.#parsed[id] === epoch) return this.#valueIndex[id];
    const index = this.valueCount;
    if (index === this.valueNames.length) this.#growValues();
    this.valueCount = index + 1;
    this.valueNames[index] = id;
    this.#parsed[id] = epoch;
    this.#valueIndex[id] = index;
    if (this.#extracted[id] !== epoch) {
      this.#extracted[id] = epoch;
      if (this.restricted && this.#wantedFlags[id] === 1) this.#found++;
    }
    const hides = this.#metaStamp[id] === this.#runSerial && this.#metaHidden[id] !== epoch;
    this.#valueHid[index] = hides ? 1 : 0;
    if (hides) this.#metaHidden[id] = epoch;
    return index;
  }

  /**
   * Removes labels that a parser set since `valueCount` was `mark`; only for names that were new to the row.
   */
  rollback(mark: number): void {
    for (let index = mark; index < this.valueCount; index++) {
      const id = this.valueNames[index];
      this.#parsed[id] = 0;
      this.#extracted[id] = 0;
      if (this.#valueHid[index] === 1) this.#metaHidden[id] = 0;
      if (this.restricted && this.#wantedFlags[id] === 1) this.#found--;
    }
    this.valueCount = mark;
  }

  /** Removes a name from all categories. */
  delete(id: number): void {
    if (this.#parsed[id] === this.#epoch) {
      this.valueNames[this.#valueIndex[id]] = -1;
      this.#parsed[id] = 0;
    }
    this.#metaHidden[id] = this.#epoch;
    this.#deleted[id] = this.#epoch;
    this.deletions++;
  }

  /** Records a parser failure; the error replaces an earlier one. */
  failParsing(kind: string, details: string | undefined): void {
    this.error = kind;
    if (details !== undefined) this.errorDetails = details;
    if (this.#wanted?.preserveErrors) this.setText(this.intern(PRESERVE_ERROR_LABEL), 'true');
  }

  // Methods to enlarge the tables.

  #growNames(): void {
    const size = Math.max(FIRST_NAMES, this.#capacity * 2, this.names.count);
    const grow = (array: Int32Array<ArrayBuffer>) => enlarged(array, new Int32Array(size));
    this.#streamStamp = grow(this.#streamStamp);
    this.#streamIndex = grow(this.#streamIndex);
    this.#metaStamp = grow(this.#metaStamp);
    this.#metaColumn = grow(this.#metaColumn);
    this.#metaHidden = grow(this.#metaHidden);
    this.#deleted = grow(this.#deleted);
    this.#extracted = grow(this.#extracted);
    this.#parsed = grow(this.#parsed);
    this.#valueIndex = grow(this.#valueIndex);
    this.#wantedFlags = enlarged(this.#wantedFlags, new Uint8Array(size));
    this.#capacity = size;
  }

  #growValues(): void {
    const size = this.valueNames.length * 2;
    const names = new Int32Array(size);
    names.set(this.valueNames);
    this.valueNames = names;
    const starts = new Int32Array(size);
    starts.set(this.valueStarts);
    this.valueStarts = starts;
    const ends = new Int32Array(size);
    ends.set(this.valueEnds);
    this.valueEnds = ends;
    const kinds = new Uint8Array(size);
    kinds.set(this.valueKinds);
    this.valueKinds = kinds;
    const hid = new Uint8Array(size);
    hid.set(this.#valueHid);
    this.#valueHid = hid;
  }

  #restartEpochs(): void {
    for (const stamps of [this.#metaHidden, this.#deleted, this.#extracted, this.#parsed]) stamps.fill(0);
    this.#epoch = 0;
  }
}

function textOf(kind: number, source: Buffer, start: number, end: number): string {
  switch (kind) {
    case KIND_CLEAN:
      return decodeClean(source, start, end);
    case KIND_JSON:
      return jsonStringValue(source, start, end);
    case KIND_LOGFMT:
      return cleaned(unquoteLogfmt(source, start, end) ?? '');
    default:
      return textOfBytes(source, start, end);
  }
}
