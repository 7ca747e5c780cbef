/**
 * Writes a Parquet file of one row group. It uses no library, because entries share their labels. A library
 * that walks the map of each row took ten times as long as all other work.
 */
import { ByteSink } from './bytes.ts';
import type { ColumnChunk, ParquetType } from './columns.ts';
import { binary, bool, i32, i64, list, struct, type ThriftValue } from './thrift.ts';

const MAGIC = Buffer.from('PAR1');
const VERSION = 2;
const TYPES: Readonly<Record<ParquetType, number>> = { BOOLEAN: 0, INT64: 2, DOUBLE: 5, BYTE_ARRAY: 6 };
const REQUIRED = 0;
const OPTIONAL = 1;
const REPEATED = 2;
const UTF8 = 0;
const MAP = 1;
const TIMESTAMP_MICROS = 10;
const NO_FIELDS = struct({});

/** Elements of the schema in depth-first order, without the root. */
export const schema = {
  required: (name: string, type: ParquetType) => [element(name, { type, repetition: REQUIRED })],
  optional: (name: string, type: ParquetType) => [element(name, { type, repetition: OPTIONAL })],
  micros: (name: string) => [
    struct({
      1: i32(TYPES.INT64),
      3: i32(REQUIRED),
      4: binary(name),
      6: i32(TIMESTAMP_MICROS),
      10: struct({ 8: struct({ 1: bool(true), 2: struct({ 2: NO_FIELDS }) }) }),
    }),
  ],
  map: (name: string) => [
    struct({ 3: i32(REQUIRED), 4: binary(name), 5: i32(1), 6: i32(MAP), 10: struct({ 2: NO_FIELDS }) }),
    struct({ 3: i32(REPEATED), 4: binary('key_value'), 5: i32(2) }),
    element('key', { type: 'BYTE_ARRAY', repetition: REQUIRED }),
    element('value', { type: 'BYTE_ARRAY', repetition: REQUIRED }),
  ],
};

/** Schema element. Texts are UTF-8. */
function element(
  name: string,
  { type, repetition }: { readonly type: ParquetType; readonly repetition: number },
): ThriftValue {
  const isText = type === 'BYTE_ARRAY';
  return struct({
    1: i32(TYPES[type]),
    3: i32(repetition),
    4: binary(name),
    6: isText ? i32(UTF8) : undefined,
    10: isText ? struct({ 1: NO_FIELDS }) : undefined,
  });
}

export interface ParquetFile {
  readonly rows: number;
  /** Schema of all columns, in the order of the chunks. A map has two chunks. */
  readonly schema: readonly (readonly ThriftValue[])[];
  readonly chunks: readonly ColumnChunk[];
  readonly createdBy: string;
}

export function parquetBytes({ rows, schema: columns, chunks, createdBy }: ParquetFile): Buffer {
  const out = new ByteSink(chunks.reduce((sum, { bytes }) => sum + bytes.length, 64 * 1024));
  out.bytes(MAGIC);
  const metas = chunks.map(({ bytes, meta }) => {
    const offset = out.length;
    out.bytes(bytes);
    return struct({ 2: i64(offset), 3: meta(offset) });
  });
  const rawBytes = chunks.reduce((sum, chunk) => sum + chunk.rawBytes, 0);
  const group = struct({ 1: list(metas), 2: i64(rawBytes), 3: i64(rows) });
  const root = struct({ 4: binary('entries'), 5: i32(columns.length) });
  const before = out.length;
  struct({
    1: i32(VERSION),
    2: list([root, ...columns.flat()]),
    3: i64(rows),
    4: list([group]),
    6: binary(createdBy),
    // Statistics compare in the order of their types.
    7: list(chunks.map(() => struct({ 1: NO_FIELDS }))),
  }).write(out);
  out.uint32(out.length - before);
  out.bytes(MAGIC);
  return out.written();
}
