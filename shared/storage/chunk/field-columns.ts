/**
 * The promoted columns of a stored page that a query asks for: which they are, and their values, decoded when they are
 * first looked at. A column that is damaged counts as none: the lines say the same.
 */
import type {
  FieldColumn,
  KnownFields,
  ParserName,
  PromotedColumn,
  PromotedField,
  PromotedPage,
  PromotedWants,
} from '../../base/model/page-fields.ts';
import { fieldOfKey } from '../columns/promoted-field.ts';
import { ColumnKind, type ColumnMeta, type PageMeta } from './format.ts';
import type { PageColumns } from './page-columns.ts';

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
 * the page has none of the parser. Of either parser those of the names alone. All columns and the rests, where all are wanted
 * and the page has rests.
 */
export function promotedColumns(page: PageMeta, { parser, names }: PromotedWants): readonly ColumnMeta[] {
  if (names === 'all') {
    const hasRests = page.columns.some(({ kind }) => kind === ColumnKind.rests);
    return hasRests ? page.columns.filter(isOfFields) : [];
  }
  const named: ColumnMeta[] = [];
  let smallest: ColumnMeta | undefined;
  for (const column of page.columns) {
    if (column.kind !== ColumnKind.promoted) continue;
    const field = fieldOf(column);
    if (field === undefined || (parser !== 'either' && field.parser !== parser)) continue;
    if (names.has(field.name)) named.push(column);
    if (parser === 'either') continue;
    if (smallest === undefined || column.place.storedBytes < smallest.place.storedBytes) smallest = column;
  }
  return named.length > 0 || smallest === undefined ? named : [smallest];
}

/** Of a kind that is not known here, too: then it cannot be decoded, and not all is known. */
function isOfFields({ kind }: ColumnMeta): boolean {
  return kind === ColumnKind.promoted || kind === ColumnKind.rests;
}

/** @param wanted of the page, read */
export function promotedPageOf(columns: PageColumns, wanted: readonly ColumnMeta[]): PromotedPage {
  return new StoredPromoted(columns, wanted);
}

class StoredPromoted implements PromotedPage {
  readonly #columns: PageColumns;
  readonly #wanted: readonly ColumnMeta[];

  constructor(columns: PageColumns, wanted: readonly ColumnMeta[]) {
    this.#columns = columns;
    this.#wanted = wanted;
  }

  column(parser: ParserName, name: string): FieldColumn | undefined {
    for (const meta of this.#wanted) {
      const field = fieldOf(meta);
      if (field?.parser !== parser || field.name !== name) continue;
      const column = this.#columns.promoted(meta);
      return column && { field, column };
    }
    return undefined;
  }

  get known(): KnownFields | undefined {
    const rests = this.#wanted.find(({ kind }) => kind === ColumnKind.rests);
    const decoded = rests && this.#columns.promoted(rests);
    if (decoded === undefined) return undefined;
    const columns: FieldColumn[] = [];
    for (const meta of this.#wanted) {
      if (meta === rests) continue;
      const field = fieldOf(meta);
      const column = field && this.#columns.promoted(meta);
      if (field === undefined || column === undefined) return undefined;
      columns.push({ field, column });
    }
    return { columns, rests: decoded };
  }

  guard(parser: ParserName): PromotedColumn | undefined {
    let cheapest: ColumnMeta | undefined;
    for (const meta of this.#wanted) {
      if (fieldOf(meta)?.parser !== parser) continue;
      if (this.#columns.isPromotedDecoded(meta)) return this.#columns.promoted(meta);
      if (cheapest === undefined || meta.place.storedBytes < cheapest.place.storedBytes) cheapest = meta;
    }
    return cheapest && this.#columns.promoted(cheapest);
  }
}
