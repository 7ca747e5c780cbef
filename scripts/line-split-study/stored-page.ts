/** What a split page takes as stored: its sections, in each of the forms that the study compares. */
import { type ColumnType, packColumn, TYPES, type TypedColumn } from './column-types.ts';
import { END, type SplitPage } from './split.ts';

/** Templates, ids and plain rows: the same whatever form the columns have. */
export function frameOf(page: SplitPage): Buffer {
  const ids = Buffer.alloc(2 * page.rows);
  // Low bytes first, then high ones, which are nearly all zero.
  page.ids.forEach((id, row) => {
    ids[row] = id & 255;
    ids[page.rows + row] = id >> 8;
  });
  const templates = page.templates.map(({ text, columns }) =>
    Buffer.concat([text, Buffer.from([END]), Buffer.from(Uint16Array.from(columns).buffer)]),
  );
  const lengths = Buffer.from(Uint32Array.from(page.plainLengths).buffer);
  return Buffer.concat([...templates, ids, lengths, page.plainLines]);
}

export interface ColumnsOfType {
  readonly type: ColumnType;
  /** The columns as text, and as their type has them. */
  readonly text: Buffer;
  readonly typed: Buffer;
  readonly values: number;
}

export function typedColumns(page: SplitPage): TypedColumn[] {
  return page.columns.map(packColumn);
}

export function byType(page: SplitPage, columns: readonly TypedColumn[]): ColumnsOfType[] {
  return TYPES.map(type => {
    const mine = columns
      .map((column, i) => ({ column, text: page.columns[i] }))
      .filter(one => one.column.type === type);
    return {
      type,
      text: Buffer.concat(mine.map(one => one.text)),
      typed: Buffer.concat(mine.map(one => one.column.bytes)),
      values: mine.reduce((sum, one) => sum + one.column.count, 0),
    };
  }).filter(one => one.values > 0);
}

/** Columns so large are blocks of their own, so that a query unpacks those it needs; the small ones share a block. */
const OWN_BLOCK_BYTES = 8 * 1024;

/** The columns as blocks that can be read one by one. */
export function blocksOf(columns: readonly Buffer[]): Buffer[] {
  const large = columns.filter(column => column.length >= OWN_BLOCK_BYTES);
  return [...large, Buffer.concat(columns.filter(column => column.length < OWN_BLOCK_BYTES))];
}
