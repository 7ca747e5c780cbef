/**
 * Which fields of a page become columns. What queries filter and group by has few values, what they unwrap are numbers:
 * both are cheap beside the lines. What is different in every line (ids, paths, times) is dear and asked for rarely.
 *
 *     const promoter = new Promoter({ compression });
 *     for each page: promoter.columnsOf(lines, lineOffsets, rows, storedLineBytes)
 *
 * Each page decides for itself, so one pass serves to look and to build, and streams that follow in an object get
 * the columns that suit them. Fields that the page before had are preferred where the choice is close, so that
 * it seldom flips from page to page.
 */
import type { Compression } from '../chunk/compression.ts';
import { MAX_COLUMNS, MIN_ROWS } from './bounds.ts';
import { type ColumnCells, cellsOf } from './column-cells.ts';
import { encodeColumn } from './column-encoder.ts';
import { FieldExtractor, type PageFields, type ParserFields } from './field-extractor.ts';
import { fieldKey, type PromotedField } from './promoted-field.ts';

export interface PromotedBlock {
  readonly field: PromotedField;
  /** What `decodeColumn` reads. Compressed already: to be stored as it is. */
  readonly bytes: Buffer;
  /** Rows whose answer is in their line. */
  readonly fallbackRows: number;
}

/** A field that might have a column, whether it got one or not. */
export interface FieldCells {
  readonly field: PromotedField;
  readonly cells: ColumnCells;
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

interface Candidate {
  readonly field: PromotedField;
  readonly key: string;
  readonly cells: ColumnCells;
  readonly bytes: Buffer;
  /** Lower is chosen first. */
  readonly rank: number;
  /** Bytes, less the discount. */
  readonly cost: number;
}

export class Promoter {
  readonly #extractor = new FieldExtractor();
  readonly #compression: Compression;
  readonly #maxShare: number;
  readonly #maxRowBytes: number;
  readonly #minRows: number;
  readonly #maxFallbackShare: number;
  #kept: ReadonlySet<string> = new Set();
  #page: PageFields | undefined;
  #cells: FieldCells[] = [];

  constructor({
    compression,
    maxShare = DEFAULT_SHARE,
    maxRowBytes = DEFAULT_ROW_BYTES,
    minRows = MIN_ROWS,
    maxFallbackShare = DEFAULT_FALLBACK_SHARE,
  }: PromoterOptions) {
    this.#compression = compression;
    this.#maxShare = maxShare;
    this.#maxRowBytes = maxRowBytes;
    this.#minRows = minRows;
    this.#maxFallbackShare = maxFallbackShare;
  }

  /**
   * Columns of a page, ordered by parser and name.
   *
   * @param lineOffsets `rows + 1` offsets into `lines`, bytes
   * @param storedLineBytes what the lines take when they are stored, where that is known
   */
  columnsOf(
    lines: Buffer,
    lineOffsets: Uint32Array,
    rows: number,
    storedLineBytes?: number,
  ): PromotedBlock[] {
    const page = this.#extractor.extract(lines, lineOffsets, rows);
    this.#page = page;
    this.#cells = [];
    const ratio = storedLineBytes === undefined ? USUAL_RATIO : lines.length / Math.max(1, storedLineBytes);
    const chosen = [...this.#chosenOf(page, page.json, ratio), ...this.#chosenOf(page, page.logfmt, ratio)];
    // A page of other streams in between does not make the choice forgotten.
    if (chosen.length > 0) this.#kept = new Set(chosen.map(({ key }) => key));
    return chosen.map(({ field, bytes, cells }) => ({ field, bytes, fallbackRows: cells.fallbackRows }));
  }

  /** Every member of every sound line of the page that `columnsOf` looked at last; text filters count on all being there. */
  get fields(): PageFields | undefined {
    return this.#page;
  }

  /** Cells of that page's fields, of columns or not: page summaries are made of them. */
  get cells(): readonly FieldCells[] {
    return this.#cells;
  }

  #chosenOf(page: PageFields, fields: ParserFields, ratio: number): Candidate[] {
    if (fields.rows < this.#minRows) return [];
    const share = (fields.lineBytes / ratio) * this.#maxShare;
    let budget = Math.min(share, fields.rows * this.#maxRowBytes);
    const candidates = this.#candidatesOf(page, fields).sort((a, b) => a.rank - b.rank || a.cost - b.cost);
    const chosen: Candidate[] = [];
    for (const candidate of candidates) {
      if (candidate.cost > budget || chosen.length === MAX_COLUMNS) continue;
      budget -= candidate.cost;
      chosen.push(candidate);
    }
    return chosen.sort((a, b) => (a.key < b.key ? -1 : 1));
  }

  #candidatesOf(page: PageFields, fields: ParserFields): Candidate[] {
    const { table, first, parser } = fields;
    const byName = new Map<string, number[]>();
    for (let entry = 0; entry < table.count; entry++) {
      const name = table.names[entry];
      if (name === '' || first[entry + 1] === first[entry]) continue;
      const known = byName.get(name);
      if (known === undefined) byName.set(name, [entry]);
      else known.push(entry);
    }
    const candidates: Candidate[] = [];
    const least = Math.max(this.#minRows, fields.rows * MIN_PRESENCE);
    for (const [name, entries] of byName) {
      const entry = entries.reduce((a, b) => (first[b + 1] - first[b] > first[a + 1] - first[a] ? b : a));
      if (first[entry + 1] - first[entry] < least) continue;
      const path = table.paths[entry];
      if (path.some(part => part.includes('\0') || part.includes('\ufffd'))) continue;
      const others = entries.filter(other => other !== entry);
      const cells = cellsOf(page, fields, entry, { others, maxFallbackShare: this.#maxFallbackShare });
      if (cells === undefined) continue;
      const field: PromotedField = { parser, name, path };
      this.#cells.push({ field, cells });
      const bytes = encodeColumn(cells, this.#compression);
      const key = fieldKey(field);
      const size = bytes.length + Buffer.byteLength(key) + FOOTER_BYTES;
      const cost = this.#kept.has(key) ? size * KEPT_DISCOUNT : size;
      candidates.push({ field, key, cells, bytes, cost, rank: rankOf(cells, cost / fields.rows) });
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
