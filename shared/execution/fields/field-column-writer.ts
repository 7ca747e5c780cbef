/**
 * Which fields of a page become columns. What queries filter and group by has few values, what they unwrap are numbers:
 * both are cheap beside the lines. What is different in every line (ids, paths, times) is dear and asked for rarely.
 *
 *     const promoter = new FieldColumnWriter({ compression });
 *     for each page: promoter.blocksOf(lines, lineOffsets, rows, { times })
 *
 * Each page decides for itself, so one pass serves to look and to build, and streams that follow in an object get
 * the columns that suit them. Fields that the page before had are preferred where the choice is close, so that
 * it seldom flips from page to page.
 */
import type { Compression } from '../../storage/codec/compression.ts';
import { MAX_COLUMNS, MAX_COMPLETING_COLUMNS, MIN_ROWS } from '../../storage/columns/bounds.ts';
import type { ColumnCells } from '../../storage/columns/column-cells.ts';
import { encodeColumn } from '../../storage/columns/column-encoder.ts';
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
import { fieldKey, type PromotedField } from '../../storage/columns/promoted-field.ts';
import { encodeResiduals, tellsTime } from './residuals.ts';

export interface PromotedBlock {
  readonly field: PromotedField;
  /** What `decodeColumn` reads. Compressed already: to be stored as it is. */
  readonly bytes: Buffer;
  /** Rows whose answer is in their line. */
  readonly fallbackRows: number;
}

export interface PromotedBlocks {
  /** Ordered by parser and name. */
  readonly columns: readonly PromotedBlock[];
  /** What the lines say beside the columns (rests.ts), as `decodeColumn` reads it; undefined where they say too much. */
  readonly rests: Buffer | undefined;
}

export interface PromoterOptions {
  readonly compression: Compression;
  /** What all columns of a page may take, as a share of the stored bytes of the lines that they are made of. */
  readonly maxShare?: number;
  /** The same as bytes a line, whichever is less. */
  readonly maxRowBytes?: number;
  /** A page with fewer lines of a parser has no columns of it. */
  readonly minRows?: number;
  /** Of the rows of a parser, how many may be left to it where a field has a column. */
  readonly maxFallbackShare?: number;
  /** What may be stored to make a page complete, as a share of the stored bytes of its lines. */
  readonly maxRestShare?: number;
  /** Of the rows of a complete page, how many may be left to the parser. */
  readonly maxUnknownShare?: number;
}

/** A field of fewer lines is not worth a column. */
const MIN_PRESENCE = 1 / 20;
/** Few values: what is filtered and grouped by. */
const FEW_VALUES = 64;
/** Levels, methods, statuses: 1 to 3 bits a line. */
const CHEAP_ROW_BYTES = 0.5;
/** What a column takes in the footer: kind, name, flags, place, checksum. */
const FOOTER_BYTES = 24;
/** A field that the page before had counts as so much cheaper. */
const KEPT_DISCOUNT = 0.85;
/**
 * A page's lines are stored at about this ratio where the caller does not know it yet. With 8 some pages of short logfmt lines
 * had no room for their duration; 6 costs 0.25% of an object.
 */
const USUAL_RATIO = 6;

/**
 * 3.5 bytes a line hold what has few values and one measure: on the corpus of ../shared/bench 5.6% of the stored bytes of all
 * lines. The share matters where lines compress better than there.
 */
const DEFAULT_SHARE = 0.12;
const DEFAULT_ROW_BYTES = 3.5;
/** A page whose lines are read for a few rows gains little. */
const DEFAULT_FALLBACK_SHARE = 1 / 16;
/**
 * Columns that only complete a page, and rests: less than 0.1% of the stored bytes of the benchmarks' corpora, whose JSON and logfmt
 * have ids and stay as they are; 0.7 and 2.4% of the same without ids.
 */
const DEFAULT_REST_SHARE = 1 / 8;
/** A request looks at 100 lines, which may be of one page: of a page with more such rows the lines would be read most often. */
const DEFAULT_UNKNOWN_SHARE = 1 / 256;

interface Candidate {
  /** Of the field's key in its parser's table. */
  readonly entry: number;
  readonly field: PromotedField;
  readonly key: string;
  readonly cells: ColumnCells;
  readonly bytes: Buffer;
  /** Lower is chosen first. */
  readonly rank: number;
  /** Bytes, less the discount. */
  readonly cost: number;
}

/** Columns of one parser. */
interface Choice {
  readonly fields: ParserFields;
  readonly chosen: readonly Candidate[];
  /** What was not. */
  readonly left: readonly Candidate[];
}

/** What else is known of a page. */
export interface PageContext {
  /** What the lines take when they are stored, where that is known, bytes. */
  readonly storedLineBytes?: number;
  /** Of each row, ns since the start of the day. */
  readonly times?: ArrayLike<number>;
}

export class FieldColumnWriter {
  readonly #extractor = new FieldExtractor();
  readonly #compression: Compression;
  readonly #maxShare: number;
  readonly #maxRowBytes: number;
  readonly #minRows: number;
  readonly #maxFallbackShare: number;
  readonly #maxRestShare: number;
  readonly #maxUnknownShare: number;
  #kept: ReadonlySet<string> = new Set();
  #page: PageFields | undefined;
  #cells: FieldCells[] = [];

  constructor({
    compression,
    maxShare = DEFAULT_SHARE,
    maxRowBytes = DEFAULT_ROW_BYTES,
    minRows = MIN_ROWS,
    maxFallbackShare = DEFAULT_FALLBACK_SHARE,
    maxRestShare = DEFAULT_REST_SHARE,
    maxUnknownShare = DEFAULT_UNKNOWN_SHARE,
  }: PromoterOptions) {
    this.#compression = compression;
    this.#maxShare = maxShare;
    this.#maxRowBytes = maxRowBytes;
    this.#minRows = minRows;
    this.#maxFallbackShare = maxFallbackShare;
    this.#maxRestShare = maxRestShare;
    this.#maxUnknownShare = maxUnknownShare;
  }

  /**
   * Columns of a page, and what makes it complete where that takes little.
   *
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   */
  blocksOf(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    { storedLineBytes, times }: PageContext = {},
  ): PromotedBlocks {
    const page = this.#extractor.extract(lines, lineOffsets, rows);
    this.#page = page;
    this.#cells = [];
    const ratio = storedLineBytes === undefined ? USUAL_RATIO : lines.length / Math.max(1, storedLineBytes);
    const choices = [this.#choose(page, page.json, ratio), this.#choose(page, page.logfmt, ratio)];
    const chosen = choices.flatMap(choice => choice.chosen);
    // A page of other streams in between does not make the choice forgotten.
    if (chosen.length > 0) this.#kept = new Set(chosen.map(({ key }) => key));
    const complete = this.#complete(page, lineOffsets, choices, {
      budget: (lines.length / ratio) * this.#maxRestShare,
      times,
    });
    const all = choices.flatMap(({ fields: { parser }, chosen: best }) => {
      const added = complete?.added.filter(({ field }) => field.parser === parser) ?? [];
      return [...best, ...added].sort((a, b) => (a.key < b.key ? -1 : 1));
    });
    return {
      columns: all.map(({ field, bytes, cells }) => ({ field, bytes, fallbackRows: cells.fallbackRows })),
      rests: complete?.rests,
    };
  }

  /** The columns of `blocksOf`. */
  columnsOf(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    context?: PageContext,
  ): readonly PromotedBlock[] {
    return this.blocksOf(lines, lineOffsets, rows, context).columns;
  }

  /** Every member of every sound line of the page that `columnsOf` looked at last; text filters count on all being there. */
  get fields(): PageFields | undefined {
    return this.#page;
  }

  /** Cells of that page's fields, of columns or not: page summaries are made of them. */
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
      if (candidate.cost > budget || chosen.length === MAX_COLUMNS) {
        left.push(candidate);
        continue;
      }
      budget -= candidate.cost;
      chosen.push(candidate);
    }
    return { fields, chosen, left };
  }

  /**
   * What the page lacks to know all fields of all lines: columns that were not worth it for themselves, and rests. Undefined
   * where it takes more than the budget, bytes.
   */
  #complete(
    page: PageFields,
    lineOffsets: Uint32Array,
    choices: readonly Choice[],
    { budget, times }: { readonly budget: number; readonly times: ArrayLike<number> | undefined },
  ): { readonly added: readonly Candidate[]; readonly rests: Buffer } | undefined {
    const added = choices.flatMap(({ fields, left }) =>
      times === undefined ? left : left.filter(({ entry }) => !tellsTime(page.lines, fields, entry, times)),
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
    const rests = encodeColumn(cells, this.#compression);
    return cost + rests.length > budget ? undefined : { added, rests };
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
      const bytes = encodeColumn(cells, this.#compression);
      const key = fieldKey(field);
      const size = bytes.length + Buffer.byteLength(key) + FOOTER_BYTES;
      const cost = this.#kept.has(key) ? size * KEPT_DISCOUNT : size;
      candidates.push({ entry, field, key, cells, bytes, cost, rank: rankOf(cells, cost / fields.rows) });
    }
    return candidates;
  }
}

/**
 * Few values that cost next to nothing, then measures (they have a unit or a fraction), then other columns of few values,
 * then whole numbers (they may be ids), then texts.
 */
function rankOf(cells: ColumnCells, rowBytes: number): number {
  if (cells.kind === 'dictionary') {
    if (cells.values.length > FEW_VALUES) return 4;
    return rowBytes <= CHEAP_ROW_BYTES ? 0 : 2;
  }
  return cells.shapes.some(({ places, unit }) => places > 0 || unit.length > 0) ? 1 : 3;
}
