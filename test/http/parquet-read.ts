/** Parquet files read by two readers that know nothing of each other: hyparquet and arrow-rs (parquet-wasm). */
import {
  type FileMetaData,
  parquetMetadata,
  parquetReadObjects,
  parquetSchema,
  type SchemaTree,
} from 'hyparquet';
import { readParquet, writeParquet } from 'parquet-wasm';

export interface ReadRow {
  /** In the unit of the column. */
  readonly timestamp: bigint;
  readonly labels: Readonly<Record<string, string>>;
  readonly line?: string;
  readonly value?: number;
}

/** A text is what it was: no byte order mark is dropped, and bytes that are no UTF-8 fail. */
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

/** The file as arrow-rs understands it: read to columns of Arrow, and these written anew. */
export function throughArrow(file: Uint8Array): Uint8Array {
  return writeParquet(readParquet(file));
}

function bufferOf(file: Uint8Array): ArrayBuffer {
  return Uint8Array.from(file).buffer;
}
