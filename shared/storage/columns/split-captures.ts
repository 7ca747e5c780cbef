/**
 * Captures of a pattern from the columns of split lines. Only columns that have captures, or in which literals are searched, are unpacked
 * and read (capture-plan.ts). Lines are joined for the few rows that are not as planned.
 */
import { CaptureFinder, type PageLines } from '../../base/kernels/capture-finder.ts';
import type { CaptureWants } from '../../base/model/page-captures.ts';
import { type CapturePlace, type CapturePlan, planCaptures, type SearchedValue } from './capture-plan.ts';
import { type CaptureTable, tableOf } from './capture-table.ts';
import { type ColumnParts, partsOfColumn, TextList } from './column-captures.ts';
import type { SplitFrame } from './split-frame.ts';
import { type SplitValues, splitValuesOf } from './split-values.ts';

interface SplitColumns {
  readonly frame: SplitFrame;
  /** Returns the bytes of a column. */
  bytesOf(column: number): Buffer;
  /** `rows + 1` offsets of the whole lines. */
  readonly lineOffsets: Uint32Array;
  /** Joins the lines of ascending rows; others may be anything. The columns need not be valid afterwards. */
  linesOf(rows: Uint32Array): PageLines;
}

/** Maximum templates that get a plan, those with most rows. A plan takes as long as joining about a hundred lines. */
const MAX_PLANS = 64;
/** Maximum share of rows whose lines are joined. Joining some lines costs a third of joining all, whatever their number. */
const MAX_JOINED_SHARE = 1 / 8;

/**
 * Returns captures of all rows, or undefined if too many lines are needed. Overwrites the line space. Throws CorruptionError.
 */
export function capturesOfSplit(wants: CaptureWants, columns: SplitColumns): CaptureTable | undefined {
  let known = attempts.get(wants);
  if (known === undefined) attempts.set(wants, (known = { found: 0, failed: 0 }));
  if (known.failed >= Math.max(MIN_ATTEMPTS, known.found)) return undefined;
  const table = new SplitCaptures(wants, columns).find();
  if (table === undefined) known.failed++;
  else known.found++;
  return table;
}

/** Pages in which captures of these wants were found, and others. Pages of a query mostly have equal templates. */
const attempts = new WeakMap<CaptureWants, { found: number; failed: number }>();
/** Pages that are tried at least. An attempt in vain takes up to a third of the time of joining and searching the lines. */
const MIN_ATTEMPTS = 4;

class SplitCaptures {
  readonly #wants: CaptureWants;
  readonly #columns: SplitColumns;
  readonly #templateOf: Uint8Array | Uint16Array;
  /** Number of rows of each template. */
  readonly #rowsOf: Uint32Array;
  /** Plan of each template; undefined if its lines are joined. */
  readonly #plans: readonly (CapturePlan | undefined)[];
  readonly #texts = new TextList();
  /** Parts of columns by search. */
  readonly #parts = new Map<string, ColumnParts>();
  /** 1 for each row whose line is joined; undefined if there is none. */
  #isJoined: Uint16Array | undefined;

  constructor(wants: CaptureWants, columns: SplitColumns) {
    this.#wants = wants;
    this.#columns = columns;
    this.#templateOf = columns.frame.templateOf;
    this.#rowsOf = new Uint32Array(columns.frame.templates + 1);
    this.#plans = this.#planned();
  }

  #planned(): readonly (CapturePlan | undefined)[] {
    const { frame, bytesOf } = this.#columns;
    const known = new Map<number, SplitValues>();
    const valuesOf = (column: number) => {
      let values = known.get(column);
      if (values === undefined)
        known.set(column, (values = splitValuesOf(frame.recordOf(column), bytesOf(column))));
      return values;
    };
    const rowsOf = this.#rowsOf;
    const templateOf = this.#templateOf;
    for (let row = 0; row < templateOf.length; row++) rowsOf[templateOf[row]]++;
    const most = [...rowsOf.keys()].filter(template => rowsOf[template] > 0);
    if (most.length > MAX_PLANS) most.sort((a, b) => rowsOf[b] - rowsOf[a]).splice(MAX_PLANS);
    const wanted = new Set(most);
    return frame
      .layouts(template => wanted.has(template))
      .map(layout => layout && planCaptures(this.#wants, layout, valuesOf));
  }

  find(): CaptureTable | undefined {
    if (!this.#joinUnplanned() || !this.#searchColumns() || !this.#joinUnexpected()) return undefined;
    const { rows } = this.#columns.frame;
    const { captures } = this.#wants;
    const numbers = new Uint16Array(captures.length * rows);
    for (let i = 0; i < captures.length; i++)
      if (!this.#fill(i, numbers.subarray(i * rows, (i + 1) * rows))) return undefined;
    this.#clearEmptyLines(numbers);
    return this.#fillJoined(numbers) ? { numbers, ...this.#texts.joined() } : undefined;
  }

  /** Notes rows of templates without a plan. Returns false if they are too many, or if templates are missing. */
  #joinUnplanned(): boolean {
    if (this.#rowsOf.reduce((sum, rows) => sum + rows, 0) !== this.#templateOf.length) return false;
    if (this.#plans.every((plan, template) => plan !== undefined || this.#rowsOf[template] === 0))
      return true;
    const isJoined = new Uint16Array(this.#templateOf.length);
    for (let row = 0; row < isJoined.length; row++)
      if (this.#plans[this.#templateOf[row]] === undefined) isJoined[row] = 1;
    this.#isJoined = isJoined;
    return this.#joinsFew;
  }

  /** Whether so few lines are joined that captures need less time than from whole lines. */
  get #joinsFew(): boolean {
    const isJoined = this.#isJoined;
    let count = 0;
    if (isJoined !== undefined) for (let row = 0; row < isJoined.length; row++) count += isJoined[row];
    return count <= this.#templateOf.length * MAX_JOINED_SHARE;
  }

  /** Does each search once. Returns false if a capture has no number, or if a column has several values in a row. */
  #searchColumns(): boolean {
    const { frame, bytesOf, lineOffsets } = this.#columns;
    const searches = new Map<string, { readonly value: SearchedValue; readonly parts: Set<number> }>();
    const partsOf = (value: SearchedValue) => {
      const key = keyOf(value);
      let search = searches.get(key);
      if (search === undefined) searches.set(key, (search = { value, parts: new Set() }));
      return search.parts;
    };
    for (const plan of this.#plans) {
      for (const value of plan?.searched ?? []) partsOf(value);
      for (const place of plan?.places ?? [])
        if (place?.kind === 'part') partsOf(place.value).add(place.part);
    }
    for (const [key, { value, parts }] of searches) {
      const { column, first, sought, found } = value;
      // Values belong to rows in their order.
      if (frame.usesOf(column).some(uses => uses > 1)) return false;
      const values = { frame, column, bytes: bytesOf(column), maxBytes: lineOffsets[frame.rows] };
      const literals = this.#wants.literals.slice(first, first + sought);
      const ofColumn = partsOfColumn(values, { literals, found, parts }, this.#texts);
      if (ofColumn === undefined) return false;
      this.#parts.set(key, ofColumn);
    }
    return true;
  }

  /** Notes rows with a value that has other literals than expected. Returns false if they are too many, or if a column is damaged. */
  #joinUnexpected(): boolean {
    for (const [template, plan] of this.#plans.entries()) {
      for (const value of plan?.searched ?? []) {
        const { others, indexOf } = this.#parts.get(keyOf(value))!;
        if (others === undefined) continue;
        const isOther = new Uint16Array(this.#templateOf.length);
        if (!this.#list(value.column, [template], { indexOf, list: others }, isOther)) return false;
        const isJoined = (this.#isJoined ??= isOther);
        for (let row = 0; row < isOther.length; row++) isJoined[row] |= isOther[row];
      }
    }
    return this.#joinsFew;
  }

  /** Writes the number of a capture in each row. Returns false if there are too many texts, or if a column is damaged. */
  #fill(capture: number, numbers: Uint16Array): boolean {
    const places = this.#plans.map(plan => plan?.places[capture]);
    const constants = new Uint16Array(places.length);
    const templatesOf = new Map<string, number[]>();
    for (const [template, place] of places.entries()) {
      if (place?.kind === 'text') {
        const number = this.#texts.addText(place.text);
        if (number === undefined) return false;
        constants[template] = number;
      } else if (place !== undefined) {
        const key = `${place.part} ${keyOf(place.value)}`;
        templatesOf.set(key, [...(templatesOf.get(key) ?? []), template]);
      }
    }
    if (constants.some(number => number > 0))
      for (let row = 0; row < numbers.length; row++) numbers[row] = constants[this.#templateOf[row]];
    for (const templates of templatesOf.values()) {
      const { value, part } = places[templates[0]] as Extract<CapturePlace, { kind: 'part' }>;
      const { indexOf, numbers: lists } = this.#parts.get(keyOf(value))!;
      const list = lists.get(part)!;
      if (!this.#list(value.column, templates, { indexOf, list }, numbers)) return false;
    }
    return true;
  }

  /** Writes what a list has for the value of a column in each row of some templates. Returns false if the column is damaged. */
  #list(
    column: number,
    templates: readonly number[],
    { indexOf, list }: { readonly indexOf: Uint8Array | undefined; readonly list: Uint8Array | Uint16Array },
    out: Uint16Array,
  ): boolean {
    const { frame } = this.#columns;
    const uses = frame.usesOf(column);
    const isWanted = uses.map((_, template) => (templates.includes(template) ? 1 : 0));
    const templateOf = this.#templateOf;
    let value = 0;
    for (let row = 0; row < out.length; row++) {
      const template = templateOf[row];
      if (isWanted[template] === 1) out[row] = list[indexOf === undefined ? value : indexOf[value]];
      value += uses[template];
    }
    return value === frame.recordOf(column).count;
  }

  /** An empty line has no captures, though its values are empty texts. */
  #clearEmptyLines(numbers: Uint16Array): void {
    const { lineOffsets, frame } = this.#columns;
    for (let row = 0; row < frame.rows; row++) {
      if (lineOffsets[row] !== lineOffsets[row + 1]) continue;
      for (let at = row; at < numbers.length; at += frame.rows) numbers[at] = 0;
    }
  }

  /** Writes the numbers of rows whose lines are joined. Returns false if a capture has none. */
  #fillJoined(numbers: Uint16Array): boolean {
    const isJoined = this.#isJoined;
    if (isJoined === undefined) return true;
    const rows = Uint32Array.from(isJoined, (_, row) => row).filter(row => isJoined[row] === 1);
    if (rows.length === 0) return true;
    const { captures } = this.#wants;
    const spans = [...rows].flatMap(row => [row, row + 1]);
    const finder = CaptureFinder.of(this.#wants);
    if (finder?.restart(this.#columns.linesOf(rows)) !== true) return false;
    const table = tableOf(finder, captures.length, spans, isJoined.length);
    const base = table && this.#texts.add(table);
    if (table === undefined || base === undefined) return false;
    for (let from = 0; from < numbers.length; from += isJoined.length)
      for (const row of rows) {
        const number = table.numbers[from + row];
        numbers[from + row] = number === 0 ? 0 : base + number;
      }
    return true;
  }
}

function keyOf({ column, first, sought, found }: SearchedValue): string {
  return `${column} ${first} ${sought} ${found}`;
}
