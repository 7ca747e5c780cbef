/**
 * Chooses the fields of a page that become columns. Fields used in filters and groups have few values, and
 * unwrapped fields are numbers: both are cheap compared to the lines. Values that differ in every line (IDs,
 * paths, times) are expensive and rarely queried.
 *
 *     const fieldWriter = new FieldColumnWriter({ compression });
 *     for each page: fieldWriter.blocksOf(lines, lineOffsets, rows, { times })
 *
 * Each page decides separately. One pass both analyzes and builds, and successive streams of an object get
 * suitable columns. In close decisions, the fields of the previous page are preferred, so that the choice
 * seldom changes from page to page.
 */
import type { SplitLines } from '../../base/kernels/split-lines.ts';
import type { Compression } from '../../storage/codec/compression.ts';
import { MAX_COMPLETING_COLUMNS, MAX_FIELD_COLUMNS, MIN_ROWS } from '../../storage/columns/bounds.ts';
import type { ColumnCells } from '../../storage/columns/column-cells.ts';
import { encodeColumn } from '../../storage/columns/column-encoder.ts';
import { type ColumnField, fieldKey } from '../../storage/columns/column-field.ts';
import {
  cellsOfName,
  commonest,
  countOf,
  entriesByName,
  type FieldCells,
} from '../../storage/columns/field-cells.ts';
import {
  FieldExtractor,
  type PageFields,
  type ParserFields,
  type ParserName,
} from '../../storage/columns/field-extractor.ts';
import { FieldsOfSplit } from '../../storage/columns/fields-of-split.ts';
import { textCount } from '../../storage/columns/text-list.ts';
import { containsTime, encodeResiduals } from './residuals.ts';

export interface FieldColumnBlock {
  readonly field: ColumnField;
  /**
   * Bytes for `decodeColumn`. They are already compressed; store them unchanged. Empty if the field is a column
   * of the split lines.
   */
  readonly bytes: Buffer;
  /** Number of the field's column in the split lines. */
  readonly splitColumn: number | undefined;
  /** Number of rows whose line must be parsed. */
  readonly fallbackRows: number;
}

interface FieldColumnBlocks {
  /** Columns, ordered by parser and name. */
  readonly columns: readonly FieldColumnBlock[];
  /** Residual fields (residuals.ts), as `decodeColumn` reads them; undefined if they are too large. */
  readonly residuals: Buffer | undefined;
  /** Parser mark of each template of the split lines, if one of the columns is there. */
  readonly templateParsers: Uint8Array | undefined;
}

export interface FieldColumnWriterOptions {
  readonly compression: Compression;
  /** Maximum size of all columns of a page, as a share of the stored bytes of their lines. */
  readonly maxShare?: number;
  /** Maximum size of all columns as bytes per line; the lower limit applies. */
  readonly maxRowBytes?: number;
  /** Minimum lines of a parser in a page with columns. */
  readonly minRows?: number;
  /** Maximum share of a parser's rows that may fall back to it in a column. */
  readonly maxFallbackShare?: number;
  /** Maximum size of data that makes a page complete, as a share of the stored bytes of its lines. */
  readonly maxResidualShare?: number;
  /** Maximum share of rows of a complete page that may be left to the parser. */
  readonly maxUnknownShare?: number;
  /** Minimum values of a field of texts that is read from a column of texts of the split lines. */
  readonly minSplitTexts?: number;
}

/** Minimum share of lines with the field. */
const MIN_PRESENCE = 1 / 20;
/** Maximum values of a field that counts as one for filters and groups. */
const FEW_VALUES = 64;
/** Maximum size of columns for levels, methods and statuses: 1 to 3 bits per line. */
const CHEAP_ROW_BYTES = 0.5;
/** Size of a column's record in the footer: kind, name, flags, position, checksum. */
const FOOTER_BYTES = 24;
/** Factor on the cost of a field that the previous page had. */
const KEPT_DISCOUNT = 0.85;
/**
 * Assumed compression ratio of lines if the caller does not know it. With 8, some pages of short logfmt lines
 * had no budget for their duration. 6 costs 0.25% of an object.
 */
const USUAL_RATIO = 6;

/**
 * Default limits. 3.5 bytes per line fit the fields of few values and one measure: 5.6% of the stored bytes
 * of all lines on the corpus of ../shared/bench. The share is relevant if lines compress better than there.
 */
const DEFAULT_SHARE = 0.12;
const DEFAULT_ROW_BYTES = 3.5;
/** Default: a page whose lines are read for a few rows gains little. */
const DEFAULT_FALLBACK_SHARE = 1 / 16;
/**
 * Default size for completing columns and residual fields. The benchmark corpora use less than 0.1% of the
 * stored bytes: their JSON and logfmt contain IDs, so those pages stay incomplete. Without IDs, it is 0.7 and
 * 2.4%.
 */
const DEFAULT_RESIDUAL_SHARE = 1 / 8;
/**
 * Default: a request reads 100 lines, possibly of one page. With more such rows, most requests would read the
 * page's lines.
 */
const DEFAULT_UNKNOWN_SHARE = 1 / 256;

/**
 * Default: more than a column of words holds. Queries test a value of words once, and each row of a column of
 * texts.
 */
const DEFAULT_SPLIT_TEXTS = 257;
const NO_BYTES = Buffer.alloc(0);

interface Candidate {
  /** Number of the field's key in its parser's table. */
  readonly entry: number;
  readonly field: ColumnField;
  readonly key: string;
  readonly cells: ColumnCells;
  readonly bytes: Buffer;
  readonly splitColumn: number | undefined;
  /** Priority; lower ranks are chosen first. */
  readonly rank: number;
  /** Cost in bytes, after the discount. */
  readonly cost: number;
}

/** Columns of one parser. */
interface Choice {
  readonly fields: ParserFields;
  readonly chosen: readonly Candidate[];
  /** Candidates that were not chosen. */
  readonly left: readonly Candidate[];
}

/** Additional information about a page. */
interface PageContext {
  /** Stored bytes of the lines, if known. */
  readonly storedLineBytes?: number;
  /** Time of each row, ns since the start of the day. */
  readonly times?: ArrayLike<number>;
  /** Split lines of the page, if it will have them. */
  readonly split?: SplitLines | undefined;
}

export class FieldColumnWriter {
  readonly #extractor = new FieldExtractor();
  readonly #compression: Compression;
  readonly #maxShare: number;
  readonly #maxRowBytes: number;
  readonly #minRows: number;
  readonly #maxFallbackShare: number;
  readonly #maxResidualShare: number;
  readonly #maxUnknownShare: number;
  readonly #minSplitTexts: number;
  #kept: ReadonlySet<string> = new Set();
  #page: PageFields | undefined;
  #cells: FieldCells[] = [];
  #split: FieldsOfSplit | undefined;

  constructor({
    compression,
    maxShare = DEFAULT_SHARE,
    maxRowBytes = DEFAULT_ROW_BYTES,
    minRows = MIN_ROWS,
    maxFallbackShare = DEFAULT_FALLBACK_SHARE,
    maxResidualShare = DEFAULT_RESIDUAL_SHARE,
    maxUnknownShare = DEFAULT_UNKNOWN_SHARE,
    minSplitTexts = DEFAULT_SPLIT_TEXTS,
  }: FieldColumnWriterOptions) {
    this.#compression = compression;
    this.#maxShare = maxShare;
    this.#maxRowBytes = maxRowBytes;
    this.#minRows = minRows;
    this.#maxFallbackShare = maxFallbackShare;
    this.#maxResidualShare = maxResidualShare;
    this.#maxUnknownShare = maxUnknownShare;
    this.#minSplitTexts = minSplitTexts;
  }

  /**
   * Returns the columns of a page, and the data that makes it complete if that is small.
   *
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   */
  blocksOf(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    { storedLineBytes, times, split }: PageContext = {},
  ): FieldColumnBlocks {
    const page = this.#extractor.extract(lines, lineOffsets, rows);
    this.#split = split && FieldsOfSplit.of(split, page);
    this.#page = page;
    this.#cells = [];
    const ratio = storedLineBytes === undefined ? USUAL_RATIO : lines.length / Math.max(1, storedLineBytes);
    const choices = [this.#choose(page, page.json, ratio), this.#choose(page, page.logfmt, ratio)];
    const chosen = choices.flatMap(choice => choice.chosen);
    // A page without columns (of other streams) does not reset the preference.
    if (chosen.length > 0) this.#kept = new Set(chosen.map(({ key }) => key));
    const complete = this.#complete(page, lineOffsets, choices, {
      budget: (lines.length / ratio) * this.#maxResidualShare,
      times,
    });
    const all = choices.flatMap(({ fields: { parser }, chosen: best }) => {
      const added = complete?.added.filter(({ field }) => field.parser === parser) ?? [];
      return [...best, ...added].sort((a, b) => (a.key < b.key ? -1 : 1));
    });
    const isInSplit = all.some(({ splitColumn }) => splitColumn !== undefined);
    return {
      columns: all.map(({ field, bytes, splitColumn, cells: { fallbackRows } }) => {
        return { field, bytes, splitColumn, fallbackRows };
      }),
      residuals: complete?.residuals,
      templateParsers: isInSplit ? this.#split?.parsers : undefined,
    };
  }

  /** Returns only the columns of `blocksOf`. */
  columnsOf(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    context?: PageContext,
  ): readonly FieldColumnBlock[] {
    return this.blocksOf(lines, lineOffsets, rows, context).columns;
  }

  /** Every member of every valid line of the latest page; text filters rely on completeness. */
  get fields(): PageFields | undefined {
    return this.#page;
  }

  /** Cells of that page's fields, with or without columns; the source of page summaries. */
  get cells(): readonly FieldCells[] {
    return this.#cells;
  }

  #choose(page: PageFields, fields: ParserFields, ratio: number): Choice {
    if (fields.rows < this.#minRows) return { fields, chosen: [], left: [] };
    const share = (fields.lineBytes / ratio) * this.#maxShare;
    let budget = Math.min(share, fields.rows * this.#maxRowBytes);
    const candidates = this.#candidatesOf(page, fields).sort((a, b) => a.rank - b.rank || a.cost - b.cost);
    const chosen: Candidate[] = [];
    const left: Candidate[] = [];
    for (const candidate of candidates) {
      if (candidate.cost > budget || chosen.length === MAX_FIELD_COLUMNS) {
        left.push(candidate);
        continue;
      }
      budget -= candidate.cost;
      chosen.push(candidate);
    }
    return { fields, chosen, left };
  }

  /**
   * Returns the data that completes the page, so that all fields of all lines are stored: additional columns
   * and residual fields. Returns undefined if it exceeds the budget in bytes.
   */
  #complete(
    page: PageFields,
    lineOffsets: Uint32Array,
    choices: readonly Choice[],
    { budget, times }: { readonly budget: number; readonly times: ArrayLike<number> | undefined },
  ): { readonly added: readonly Candidate[]; readonly residuals: Buffer } | undefined {
    const added = choices.flatMap(({ fields, left }) =>
      times === undefined
        ? left
        : left.filter(({ entry }) => !containsTime(page.lines, fields, entry, times)),
    );
    let cost = FOOTER_BYTES;
    for (const { bytes, key } of added) cost += bytes.length + Buffer.byteLength(key) + FOOTER_BYTES;
    if (cost > budget || added.length > MAX_COMPLETING_COLUMNS) return undefined;
    const codes = { json: new Map<number, Uint32Array>(), logfmt: new Map<number, Uint32Array>() };
    for (const { entry, field, cells } of [...choices.flatMap(({ chosen }) => chosen), ...added])
      codes[field.parser].set(entry, cells.codes);
    const codesOf = (parser: ParserName, entry: number) => codes[parser].get(entry);
    const cells = encodeResiduals({
      page,
      lineOffsets,
      codesOf,
      times,
      maxUnknownShare: this.#maxUnknownShare,
    });
    if (cells === undefined) return undefined;
    const residuals = encodeColumn(cells, this.#compression);
    return cost + residuals.length > budget ? undefined : { added, residuals };
  }

  #candidatesOf(page: PageFields, fields: ParserFields): Candidate[] {
    const candidates: Candidate[] = [];
    const least = Math.max(this.#minRows, fields.rows * MIN_PRESENCE);
    for (const [name, entries] of entriesByName(fields)) {
      const entry = commonest(fields, entries);
      if (countOf(fields, entry) < least) continue;
      const found = cellsOfName(page, fields, name, entries, this.#maxFallbackShare);
      if (found === undefined) continue;
      const { field, cells } = found;
      this.#cells.push(found);
      const options = { rows: page.rows, minTexts: this.#minSplitTexts };
      const splitColumn = this.#split?.columnOf(fields, entry, cells, options);
      const bytes = splitColumn === undefined ? encodeColumn(cells, this.#compression) : NO_BYTES;
      const key = fieldKey(field);
      const size = bytes.length + Buffer.byteLength(key) + FOOTER_BYTES;
      const cost = this.#kept.has(key) ? size * KEPT_DISCOUNT : size;
      candidates.push({
        entry,
        field,
        key,
        cells,
        bytes,
        splitColumn,
        cost,
        rank: rankOf(cells, cost / fields.rows),
      });
    }
    return candidates;
  }
}

/**
 * Orders fields: few values at negligible cost, measures (with a unit or a fraction), other columns of few
 * values, whole numbers (possibly IDs), texts.
 */
function rankOf(cells: ColumnCells, rowBytes: number): number {
  if (cells.kind === 'dictionary') {
    if (textCount(cells.values) > FEW_VALUES) return 4;
    return rowBytes <= CHEAP_ROW_BYTES ? 0 : 2;
  }
  return cells.shapes.some(({ places, unit }) => places > 0 || unit.length > 0) ? 1 : 3;
}
