/**
 * Reads the needed members of all lines of a run in one pass of the kernel (shared/base/kernels/field-scanner.ts).
 * That costs less than half of parsing row by row. Rows with invalid lines (shared/storage/columns/field-extractor.ts)
 * are left to the parser.
 *
 *     const scan = new RunScan({ parser, tables, values, keepsEmpty, keepsAll });
 *     scan.enterPage(page);
 *     scan.enterRows(selection, from, to);    // before the stage runs on them
 *     if (scan.has(row)) scan.kinds[scan.at(index, row)]
 */
import { fieldScannerOfThread, type KeyList, type LineMembers } from '../../base/kernels/field-scanner.ts';
import type { PageRows } from '../../base/model/page.ts';
import type { ParserName } from '../../base/model/page-fields.ts';
import { rowMarkOf } from '../../storage/columns/field-extractor.ts';
import { NOTHING, STRUCTURE, VALUE } from '../../storage/columns/line-members.ts';
import { KIND_CLEAN, KIND_JSON, KIND_LOGFMT } from './row-labels.ts';

/** Minimum rows of a scan: below it, starting the scan costs more than it saves. */
const MIN_ROWS = 64;
/** Maximum number of values per row; each uses 9 bytes. */
export const MAX_SCANNED = 8;
/** Number of pages without a scan, after a scan that was useful for less than half of its rows. */
const PAUSE_PAGES = 7;

/** Value of `kinds` for a row without the value. */
export const NO_VALUE = 0xff;
/** Value in `#parserOf` for rows that are left to the parser, although their line is valid. */
const LEFT_TO_PARSER = 0xfe;

/** Keys of a page for the kernel, and the indexes of the needed values. */
export interface ScannedKeys extends KeyList {
  /** Index of each key among the needed values; -1 if they are not needed. */
  readonly wantedIndexes: readonly number[];
  /** Clears the table if it has too many keys. Called before each scan. */
  prepare(): void;
}

interface FieldScanOptions {
  readonly parser: ParserName;
  readonly tables: Readonly<Record<ParserName, ScannedKeys>>;
  /** Number of needed values per row. */
  readonly values: number;
  /** Whether an empty value counts. */
  readonly keepsEmpty: boolean;
  /** Whether a null is an empty value, and an object or a list is left to the parser. Otherwise both are skipped. */
  readonly keepsAll: boolean;
}

export class RunScan {
  readonly #options: FieldScanOptions;
  readonly #mark: number;
  readonly #escapedKind: number;
  #page: PageRows | undefined;
  /** Rows before this one were scanned, or will not be. */
  #scannedTo = 0;
  #parserOf = new Uint8Array(0);
  /** Values by index, then row. */
  starts = new Uint32Array(0);
  ends = new Uint32Array(0);
  kinds = new Uint8Array(0);
  #scannedRows = 0;
  #answeredRows = 0;
  #pause = 0;

  constructor(options: FieldScanOptions) {
    this.#options = options;
    this.#mark = rowMarkOf(options.parser);
    this.#escapedKind = options.parser === 'json' ? KIND_JSON : KIND_LOGFMT;
  }

  /** Whether the values of a row are known. */
  has(row: number): boolean {
    return this.#parserOf[row] === this.#mark;
  }

  /** Counts a row that needs no parser. */
  count(): void {
    this.#answeredRows++;
  }

  /** Returns the position of a needed value of a row in these arrays. */
  at(index: number, row: number): number {
    return index * this.#page!.rows + row;
  }

  /** Begins a pass over a page. */
  enterPage(page: PageRows): void {
    const { rows } = page;
    const { values } = this.#options;
    if (this.#pause > 0) this.#pause--;
    else if (2 * this.#answeredRows < this.#scannedRows) this.#pause = PAUSE_PAGES;
    this.#scannedRows = 0;
    this.#answeredRows = 0;
    this.#scannedTo = this.#pause > 0 ? rows : 0;
    this.#page = page;
    if (this.#parserOf.length < rows) {
      this.#parserOf = new Uint8Array(rows);
      this.starts = new Uint32Array(rows * values);
      this.ends = new Uint32Array(rows * values);
      this.kinds = new Uint8Array(rows * values);
    }
    this.#parserOf.fill(0, 0, rows);
    this.kinds.fill(NO_VALUE, 0, rows * values);
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
    const { tables, parser } = this.#options;
    tables.json.prepare();
    tables.logfmt.prepare();
    const scanner = fieldScannerOfThread();
    scanner.begin(page.lines, tables, parser);
    scanner.read(page.lineOffsets, first, end, this.#parserOf);
    this.#take(scanner.end()[parser], tables[parser].wantedIndexes);
  }

  /** Copies the results, because the next caller overwrites the scanner's memory. */
  #take(members: LineMembers, wantedIndexes: readonly number[]): void {
    const { rows } = this.#page!;
    const { keepsEmpty, keepsAll } = this.#options;
    const parserOf = this.#parserOf;
    for (const [entry, index] of wantedIndexes.entries()) {
      if (index < 0) continue;
      for (let i = members.first[entry]; i < members.first[entry + 1]; i++) {
        const member = members.order[i];
        const kind = members.kinds[member];
        const start = members.starts[member];
        const end = kind === NOTHING ? start : members.ends[member];
        if (kind >= STRUCTURE ? !keepsAll : start === end && !keepsEmpty) continue;
        const row = members.rows[member];
        const at = index * rows + row;
        // If two members have one name, their order decides.
        if (this.kinds[at] !== NO_VALUE || kind === STRUCTURE) parserOf[row] = LEFT_TO_PARSER;
        this.kinds[at] = kind === VALUE || kind === NOTHING ? KIND_CLEAN : this.#escapedKind;
        this.starts[at] = start;
        this.ends[at] = end;
      }
    }
  }
}
