/** Stored size of a split page: its sections, in each form that the study compares. */
import { type ColumnType, packColumn, TYPES, type TypedColumn } from './column-types.ts';
import { END, type SplitPage } from './split.ts';

/** Templates, IDs and plain rows, which do not depend on the form of the columns. */
export function frameOf(page: SplitPage): Buffer {
  const ids = Buffer.alloc(2 * page.rows);
  // Low bytes first, then the high ones, which are nearly all zero.
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

interface ColumnsOfType {
  readonly type: ColumnType;
  /** Columns as text, and in their types. */
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

/**
 * Columns of at least this size get separate blocks, so that a query decompresses only those that it needs.
 * Smaller ones share a block.
 */
const OWN_BLOCK_BYTES = 8 * 1024;

/** Columns as blocks that can be read independently. */
export function blocksOf(columns: readonly Buffer[]): Buffer[] {
  const large = columns.filter(column => column.length >= OWN_BLOCK_BYTES);
  return [...large, Buffer.concat(columns.filter(column => column.length < OWN_BLOCK_BYTES))];
}
