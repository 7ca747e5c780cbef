/**
 * Selects the field columns of a stored page that a query requests, and decodes their values on first use. A
 * corrupt column counts as missing, because the lines contain the same data.
 */
import type {
  DecodedColumn,
  FieldColumn,
  FieldColumns,
  FieldColumnWants,
  KnownFields,
  ParserName,
} from '../../base/model/page-fields.ts';
import { fieldOfKey } from '../columns/column-field.ts';
import { ColumnKind, type ColumnMeta, type PageMeta } from './format.ts';
import type { PageColumns } from './page-columns.ts';
import { fieldMarksOf, PARSER_MARKS, RESIDUALS } from './stored-page.ts';

/** Returns whether `fieldColumnsOf` finds columns. Mostly without the columns of the page, which a footer decodes at each use. */
export function hasFieldColumns(page: PageMeta, wants: FieldColumnWants): boolean {
  const marks = fieldMarksOf(page);
  if (wants.names === 'all') return (marks & RESIDUALS) !== 0;
  if (wants.parser !== 'either') return (marks & PARSER_MARKS[wants.parser]) !== 0;
  return marks !== 0 && fieldColumnsOf(page, wants).length > 0;
}

/**
 * Returns the columns of the wanted names. If the page has none of them, returns the parser's smallest
 * column, which marks valid lines, if it has one. For either parser, returns only columns of the names. If
 * all fields are wanted and the page has residual fields, returns all columns and the residual fields.
 */
export function fieldColumnsOf(page: PageMeta, { parser, names }: FieldColumnWants): readonly ColumnMeta[] {
  if (names === 'all') {
    const hasResiduals = page.columns.some(({ kind }) => kind === ColumnKind.residuals);
    return hasResiduals ? page.columns.filter(({ kind }) => isOfFields(kind)) : [];
  }
  const named: ColumnMeta[] = [];
  let smallest: ColumnMeta | undefined;
  for (const column of page.columns) {
    if (column.kind !== ColumnKind.field && column.kind !== ColumnKind.splitField) continue;
    const field = fieldOfKey(column.name);
    if (field === undefined || (parser !== 'either' && field.parser !== parser)) continue;
    if (names.has(field.name)) named.push(column);
    if (parser === 'either') continue;
    if (smallest === undefined || column.block.storedBytes < smallest.block.storedBytes) smallest = column;
  }
  if (named.length === 0 && smallest !== undefined) named.push(smallest);
  if (named.some(({ kind }) => kind === ColumnKind.splitField))
    named.push(...page.columns.filter(({ kind }) => kind === ColumnKind.splitFrame));
  return named;
}

/**
 * Matches columns of fields. An unknown kind matches too: it cannot be decoded, so the page does not count as
 * complete.
 */
function isOfFields(kind: number): boolean {
  return (
    kind === ColumnKind.field ||
    kind === ColumnKind.residuals ||
    kind === ColumnKind.splitField ||
    kind === ColumnKind.splitFrame
  );
}

/** @param wanted Columns of the page, read */
export function storedFieldColumns(columns: PageColumns, wanted: readonly ColumnMeta[]): FieldColumns {
  return new StoredFieldColumns(columns, wanted);
}

class StoredFieldColumns implements FieldColumns {
  readonly #columns: PageColumns;
  readonly #wanted: readonly ColumnMeta[];

  constructor(columns: PageColumns, wanted: readonly ColumnMeta[]) {
    this.#columns = columns;
    this.#wanted = wanted;
  }

  column(parser: ParserName, name: string): FieldColumn | undefined {
    for (const meta of this.#wanted) {
      const field = fieldOfKey(meta.name);
      if (field?.parser !== parser || field.name !== name) continue;
      const column = this.#columns.field(meta);
      return column && { field, column };
    }
    return undefined;
  }

  get known(): KnownFields | undefined {
    const residuals = this.#wanted.find(({ kind }) => kind === ColumnKind.residuals);
    const decoded = residuals && this.#columns.field(residuals);
    if (decoded === undefined) return undefined;
    const columns: FieldColumn[] = [];
    for (const meta of this.#wanted) {
      if (meta === residuals || meta.kind === ColumnKind.splitFrame) continue;
      const field = fieldOfKey(meta.name);
      const column = field && this.#columns.field(meta);
      if (field === undefined || column === undefined) return undefined;
      columns.push({ field, column });
    }
    return { columns, residuals: decoded };
  }

  guard(parser: ParserName): DecodedColumn | undefined {
    let cheapest: ColumnMeta | undefined;
    for (const meta of this.#wanted) {
      if (fieldOfKey(meta.name)?.parser !== parser) continue;
      if (this.#columns.isFieldDecoded(meta)) return this.#columns.field(meta);
      if (cheapest === undefined || meta.block.storedBytes < cheapest.block.storedBytes) cheapest = meta;
    }
    return cheapest && this.#columns.field(cheapest);
  }
}
