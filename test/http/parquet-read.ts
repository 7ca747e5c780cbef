/** Reads Parquet files with two independent readers: hyparquet and arrow-rs (parquet-wasm). */
import {
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { readParquet, writeParquet } from 'parquet-wasm';

export interface ReadRow {
  /** Timestamp in the unit of the column. */
  readonly timestamp: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly line?: string;
  readonly value?: number;
}

/** Text as stored: keeps byte order marks, and fails on invalid UTF-8. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export async function readRows(file: Uint8Array): Promise<ReadRow[]> {
  const rows = await parquetReadObjects({
    file: bufferOf(file),
    parsers: {
      timestampFromNanoseconds: (ns: bigint) => ns,
      timestampFromMilliseconds: (ms: bigint) => ms,
      stringFromBytes: (bytes: Uint8Array) => UTF8.decode(bytes),
    },
  });
  return rows as unknown as ReadRow[];
}

export function metadataOf(file: Uint8Array): FileMetaData {
  return parquetMetadata(bufferOf(file));
}

/** Each element below the root: repetition, path, physical type, logical type with its unit. */
export function schemaOf(file: Uint8Array): string[] {
  return parquetSchema(metadataOf(file)).children.flatMap(elementsOf);
}

function elementsOf({ path, element, children }: SchemaTree): string[] {
  const { repetition_type, type, logical_type } = element;
  const unit =
    logical_type?.type === 'TIMESTAMP'
      ? [logical_type.unit, logical_type.isAdjustedToUTC ? 'UTC' : 'local']
      : [];
  const words = [repetition_type?.toLowerCase(), path.join('.'), type, logical_type?.type, ...unit];
  return [words.filter(word => word !== undefined).join(' '), ...children.flatMap(elementsOf)];
}

/** File as arrow-rs reads it: converted to Arrow columns and written again. */
export function throughArrow(file: Uint8Array): Uint8Array {
  return writeParquet(readParquet(file));
}

function bufferOf(file: Uint8Array): ArrayBuffer {
  return Uint8Array.from(file).buffer;
}
