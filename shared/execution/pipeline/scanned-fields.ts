/**
 * Finds the values that a parser stage must extract, for all rows of a run in one pass of the kernel that
 * reads fields (shared/base/kernels/field-scanner.ts). That costs less than half of parsing row by row. Rows
 * with invalid lines (shared/storage/columns/field-extractor.ts) are left to the parser.
 *
 *     const scanned = ScannedFields.for(stage, labels, early);
 *     rowStages.push(scanned.standIn(parse));
 *     scanned.enterPage(page);
 *     scanned.enterRows(selection, from, to);    // before the stage runs on them
 *
 * For a metric query, the values are sufficient. A log query shows all labels of the rows that pass. Its
 * values only drop rows by the following filters, and the parser reads the remaining rows.
 */
import { fieldScannerOfThread, type LineMembers } from '../../base/kernels/field-scanner.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { ParserName } from '../../base/model/page-fields.ts';
import { rowMarkOf } from '../../storage/columns/field-extractor.ts';
import { FieldTable } from '../../storage/columns/field-table.ts';
import { STRUCTURE, VALUE } from '../../storage/columns/line-members.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import type { EarlyTests } from './early-tests.ts';
import { DROPPED, SET, setParsedValue } from './parsed-value.ts';
import type { Row, RowStage } from './row.ts';
import { KIND_CLEAN, KIND_JSON, KIND_LOGFMT, type RowLabels } from './row-labels.ts';

/** Minimum rows of a scan: below it, starting the scan costs more than it saves. */
const MIN_ROWS = 64;
/** Maximum number of labels; each uses 9 bytes per row. */
const MAX_NAMES = 8;
/** Number of pages without a scan, after a scan that was useful for less than half of its rows. */
const PAUSE_PAGES = 7;

/** Value of `kinds` for a row without the value. */
const NO_VALUE = 0xff;
/** Value in `parserOf` for rows in which two members set one name, so that their order decides. */
const AMBIGUOUS = 0xff;

interface ScannedStage {
  readonly kind: ParserName;
  /** Whether an empty value sets a label. */
  readonly keepsEmpty: boolean;
}

export class ScannedFields {
  readonly #labels: RowLabels;
  readonly #early: EarlyTests;
  readonly #parser: ParserName;
  readonly #keepsEmpty: boolean;
  readonly #escapedKind: number;
  readonly #mark: number;
  readonly #names: readonly string[];
  readonly #ids: readonly number[];
  readonly #tables: Readonly<Record<ParserName, FieldTable>>;

  #page: PageRows | undefined;
  /** Rows before this one were scanned, or will not be. */
  #scannedTo = 0;
  #parserOf = new Uint8Array(0);
  /** Values by name, then row. */
  #starts = new Uint32Array(0);
  #ends = new Uint32Array(0);
  #kinds = new Uint8Array(0);
  #scannedRows = 0;
  #answeredRows = 0;
  #pause = 0;

  /** Returns `undefined` if the parser must extract no labels, or too many. */
  static for(stage: ScannedStage, labels: RowLabels, early: EarlyTests): ScannedFields | undefined {
    // Names that may drop the row come first.
    const needed = new Set(early.ids.map(id => labels.names.texts[id]));
    for (const name of labels.wantedNames ?? []) needed.add(name);
    const names = [...needed].filter(name => !isReservedName(name));
    if (names.length === 0 || names.length > MAX_NAMES || names.some(isSuffixedName)) return undefined;
    return new ScannedFields(stage, labels, early, names);
  }

  private constructor(
    { kind, keepsEmpty }: ScannedStage,
    labels: RowLabels,
    early: EarlyTests,
    names: readonly string[],
  ) {
    this.#labels = labels;
    this.#early = early;
    this.#parser = kind;
    this.#keepsEmpty = keepsEmpty;
    this.#escapedKind = kind === 'json' ? KIND_JSON : KIND_LOGFMT;
    this.#mark = rowMarkOf(kind);
    this.#names = names;
    this.#ids = names.map(name => labels.intern(name));
    const wanted = new Set(names);
    this.#tables = { json: new FieldTable(wanted), logfmt: new FieldTable(wanted) };
  }

  standIn(parse: RowStage): RowStage {
    return row => {
      const labels = this.#labels;
      if (labels.allFound) return true;
      if (row.changed || this.#parserOf[labels.row] !== this.#mark) return parse(row);
      const mark = labels.valueCount;
      const outcome = this.#setValues(row);
      if (outcome === DROPPED || labels.restricted) this.#answeredRows++;
      if (outcome === DROPPED) return false;
      if (labels.restricted) return true;
      labels.rollback(mark);
      return parse(row);
    };
  }

  #setValues(row: Row): number {
    const labels = this.#labels;
    const { rows } = this.#page!;
    const number = labels.row;
    let outcome = SET;
    for (let i = 0; i < this.#ids.length && outcome === SET; i++) {
      const id = this.#ids[i];
      const at = i * rows + number;
      const kind = this.#kinds[at];
      // If the row already has the name, the value gets another name, which is not needed.
      if (kind === NO_VALUE || labels.collides(id)) continue;
      outcome = setParsedValue(labels, this.#early, id, kind, row.source, this.#starts[at], this.#ends[at]);
    }
    return outcome;
  }

  /** Begins a pass over a page. */
  enterPage(page: PageRows): void {
    const { rows } = page;
    if (this.#pause > 0) this.#pause--;
    else if (2 * this.#answeredRows < this.#scannedRows) this.#pause = PAUSE_PAGES;
    this.#scannedRows = 0;
    this.#answeredRows = 0;
    this.#scannedTo = this.#pause > 0 ? rows : 0;
    this.#page = page;
    if (this.#parserOf.length < rows) {
      this.#parserOf = new Uint8Array(rows);
      this.#starts = new Uint32Array(rows * this.#names.length);
      this.#ends = new Uint32Array(rows * this.#names.length);
      this.#kinds = new Uint8Array(rows * this.#names.length);
    }
    this.#parserOf.fill(0, 0, rows);
    this.#kinds.fill(NO_VALUE, 0, rows * this.#names.length);
  }

  /**
   * Scans the rows `selection[from..to)` of one run if that is worthwhile. Runs arrive in order, perhaps
   * again after a pause.
   */
  enterRows(selection: Uint32Array, from: number, to: number): void {
    const page = this.#page!;
    const first = selection[from];
    const end = selection[to - 1] + 1;
    const count = to - from;
    if (first < this.#scannedTo || count < MIN_ROWS || 2 * count < end - first) return;
    this.#scannedTo = end;
    this.#scannedRows += end - first;
    const tables = this.#tables;
    tables.json.prepare();
    tables.logfmt.prepare();
    const scanner = fieldScannerOfThread();
    scanner.begin(page.lines, tables, this.#parser);
    scanner.read(page.lineOffsets, first, end, this.#parserOf);
    this.#take(scanner.end()[this.#parser]);
  }

  /** Copies the results, because the next caller overwrites the scanner's memory. */
  #take(members: LineMembers): void {
    const { rows } = this.#page!;
    const parserOf = this.#parserOf;
    const { names, count } = this.#tables[this.#parser];
    for (let entry = 0; entry < count; entry++) {
      const place = this.#names.indexOf(names[entry]);
      if (place < 0) continue;
      for (let i = members.first[entry]; i < members.first[entry + 1]; i++) {
        const member = members.order[i];
        const kind = members.kinds[member];
        const start = members.starts[member];
        const end = members.ends[member];
        if (kind >= STRUCTURE || (start === end && !this.#keepsEmpty)) continue;
        const row = members.rows[member];
        const at = place * rows + row;
        if (this.#kinds[at] !== NO_VALUE) parserOf[row] = AMBIGUOUS;
        this.#kinds[at] = kind === VALUE ? KIND_CLEAN : this.#escapedKind;
        this.#starts[at] = start;
        this.#ends[at] = end;
      }
    }
  }
}
