/**
 * The promoted columns of a stored page that a query asks for: which they are, and their values, decoded when they are
 * first looked at. A column that is damaged counts as none: the lines say the same.
 */
import { CorruptionError } from '../model/errors.ts';
import type {
  FieldColumn,
  ParserName,
  PromotedColumn,
  PromotedField,
  PromotedPage,
  PromotedWants,
} from '../model/promoted.ts';
import { decodeColumn } from '../promoted/column-decoder.ts';
import { fieldOfKey } from '../promoted/promoted-field.ts';
import { loadBlock } from './compression.ts';
import { ColumnKind, type ColumnMeta, type PageMeta } from './format.ts';

/** Names of columns whose fields are remembered: 24 a page at most, mostly the same ones in every page. */
const MAX_KNOWN_FIELDS = 4096;
const FIELDS = new Map<string, PromotedField | undefined>();

function fieldOf({ name }: ColumnMeta): PromotedField | undefined {
  if (FIELDS.has(name)) return FIELDS.get(name);
  if (FIELDS.size === MAX_KNOWN_FIELDS) FIELDS.clear();
  const field = fieldOfKey(name);
  FIELDS.set(name, field);
  return field;
}

/**
 * Columns of the names that are wanted, else the parser's smallest one, which tells which lines are sound; none where
 * the page has none of the parser.
 */
export function promotedColumns(page: PageMeta, { parser, names }: PromotedWants): readonly ColumnMeta[] {
  const named: ColumnMeta[] = [];
  let smallest: ColumnMeta | undefined;
  for (const column of page.columns) {
    if (column.kind !== ColumnKind.promoted) continue;
    const field = fieldOf(column);
    if (field?.parser !== parser) continue;
    if (names.has(field.name)) named.push(column);
    if (smallest === undefined || column.place.storedBytes < smallest.place.storedBytes) smallest = column;
  }
  return named.length > 0 || smallest === undefined ? named : [smallest];
}

export interface StoredColumn {
  readonly meta: ColumnMeta;
  readonly stored: Buffer;
}

/** @param what names the page's chunk in errors */
export function promotedPageOf(columns: readonly StoredColumn[], rows: number, what: string): PromotedPage {
  return new StoredPromoted(columns, rows, what);
}

class StoredPromoted implements PromotedPage {
  private readonly columns: readonly StoredColumn[];
  private readonly rows: number;
  private readonly what: string;
  private readonly decoded = new Map<ColumnMeta, PromotedColumn | undefined>();

  constructor(columns: readonly StoredColumn[], rows: number, what: string) {
    this.columns = columns;
    this.rows = rows;
    this.what = what;
  }

  column(parser: ParserName, name: string): FieldColumn | undefined {
    for (const stored of this.columns) {
      const field = fieldOf(stored.meta);
      if (field?.parser !== parser || field.name !== name) continue;
      const column = this.decode(stored);
      return column && { field, column };
    }
    return undefined;
  }

  guard(parser: ParserName): PromotedColumn | undefined {
    let cheapest: StoredColumn | undefined;
    for (const stored of this.columns) {
      if (fieldOf(stored.meta)?.parser !== parser) continue;
      if (this.decoded.get(stored.meta) !== undefined) return this.decoded.get(stored.meta);
      if (cheapest === undefined || stored.stored.length < cheapest.stored.length) cheapest = stored;
    }
    return cheapest && this.decode(cheapest);
  }

  private decode(stored: StoredColumn): PromotedColumn | undefined {
    if (!this.decoded.has(stored.meta)) this.decoded.set(stored.meta, this.tryDecode(stored));
    return this.decoded.get(stored.meta);
  }

  private tryDecode({ meta, stored }: StoredColumn): PromotedColumn | undefined {
    const what = `${this.what}: promoted column ${JSON.stringify(meta.name)}`;
    try {
      return decodeColumn(loadBlock(stored, meta.place, what), this.rows, what);
    } catch (error) {
      if (error instanceof CorruptionError) return undefined;
      throw error;
    }
  }
}
