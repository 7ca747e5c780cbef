/**
 * Decodes field columns of a stored page on first use (field-columns.ts selects them). A corrupt column counts as missing, because the
 * lines contain the same data.
 */
import type {
  DecodedColumn,
  FieldColumn,
  FieldColumns,
  KnownFields,
  ParserName,
} from '../../base/model/page-fields.ts';
import { fieldOfKey } from '../columns/column-field.ts';
import { ColumnKind, type ColumnMeta } from './format.ts';
import type { PageColumns } from './page-columns.ts';

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
