/**
 * Column of one structured-metadata name of a page: a dictionary in order of first appearance, and a token
 * for each row. The token is 0 for absent, 1 for the next new value, n + 2 for value n. A column of distinct
 * values (a trace ID) is thus a sequence of ones, and a column with few values a sequence of small numbers.
 * Both compress well.
 *
 * An empty value means no value. Pushes no longer contain such values. Earlier versions stored them, so a
 * reader treats their rows as rows without the name.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import type { MetadataColumn } from '../../base/model/page.ts';
import { returnIfPooled, takeStoredBytes } from '../../base/model/stored-bytes.ts';
import { ByteReader, ByteWriter, writeVarint } from '../codec/byte-io.ts';
import {
  type ColumnMeta,
  FOOTER_DICTIONARY_BYTES,
  FOOTER_DICTIONARY_VALUES,
  type PageMeta,
} from './format.ts';
import { metadataOf } from './stored-page.ts';

interface EncodedMetadata {
  /** Dictionary for the footer if it is small; undefined if it is at the start of `payload`. */
  readonly dictionary: readonly string[] | undefined;
  /** Whether every row has the only value; `payload` is then empty. */
  readonly constant: boolean;
  readonly payload: Uint8Array;
}

/** @param ids For each row 0 (absent) or 1 + index in `values`; IDs first appear in ascending order */
export function encodeMetadata(ids: Uint32Array, rows: number, values: readonly Buffer[]): EncodedMetadata {
  let bytes = 0;
  for (const value of values) bytes += value.length;
  const small = values.length <= FOOTER_DICTIONARY_VALUES && bytes <= FOOTER_DICTIONARY_BYTES;
  const dictionary = small ? values.map(value => value.toString('utf8')) : undefined;
  if (dictionary?.length === 1 && !ids.subarray(0, rows).includes(0)) {
    return { dictionary, constant: true, payload: new Uint8Array(0) };
  }
  const writer = new ByteWriter(rows + (small ? 16 : bytes + 2 * values.length + 16));
  if (!small) {
    writer.varint(values.length);
    for (const value of values) writer.block(value);
  }
  const tokens = takeStoredBytes(rows * 5);
  let at = 0;
  let seen = 0;
  for (let i = 0; i < rows; i++) {
    const id = ids[i];
    let token = 0;
    if (id > seen) {
      token = 1;
      seen = id;
    } else if (id > 0) token = id + 1;
    if (token < 0x80) tokens[at++] = token;
    else at = writeVarint(tokens, at, token);
  }
  writer.bytes(tokens.subarray(0, at));
  returnIfPooled(tokens);
  return { dictionary, constant: false, payload: writer.view() };
}

/**
 * Returns whether some row has the empty value according to the footer, which does not contain large
 * dictionaries.
 */
export function listsEmptyValue({ dictionary }: Pick<ColumnMeta, 'dictionary'>): boolean {
  return dictionary?.includes('') === true;
}

/**
 * Returns whether rows of a page may be the same entry as others of its chunk. In chunks of early versions,
 * entries can differ by an empty value only, which counts as missing.
 */
export function mayRepeatItself(page: Pick<PageMeta, 'columns'>): boolean {
  return metadataOf(page).some(listsEmptyValue);
}

/** Decodes a column; rows with the empty value lack the name. Throws CorruptionError. */
export function decodeMetadata(
  name: string,
  payload: Buffer,
  rows: number,
  dictionary: readonly string[] | undefined,
  constant: boolean,
  what: string,
): MetadataColumn {
  if (constant) {
    const ids = new Uint32Array(rows);
    const value = dictionary![0];
    return { name, ids: value === '' ? ids : ids.fill(1), count: 1, valueAt: () => value };
  }
  let tokensAt = 0;
  let values: ColumnValues;
  if (dictionary === undefined) {
    const reader = new ByteReader(payload);
    values = lazyValues(reader, payload, what);
    tokensAt = reader.position;
  } else {
    const { length: count } = dictionary;
    values = { count, empty: dictionary.indexOf(''), valueAt: index => dictionary[index] };
  }
  const ids = decodeTokens(payload, tokensAt, rows, values.count, what);
  if (values.empty >= 0) replaceId(ids, values.empty + 1, 0);
  return { name, ids, count: values.count, valueAt: values.valueAt };
}

interface ColumnValues {
  readonly count: number;
  /** Index of the empty value, or -1. */
  readonly empty: number;
  readonly valueAt: (index: number) => string;
}

function lazyValues(reader: ByteReader, payload: Buffer, what: string): ColumnValues {
  const count = reader.count(1);
  const bounds = new Uint32Array(count * 2);
  let empty = -1;
  for (let i = 0; i < count; i++) {
    const length = reader.varint();
    if (length === 0) empty = i;
    bounds[2 * i] = reader.position;
    reader.bytes(length);
    bounds[2 * i + 1] = reader.position;
  }
  const cache: (string | undefined)[] = new Array(count);
  return {
    count,
    empty,
    valueAt: index => {
      if (index >= count) throw new CorruptionError(`${what}: value ${index} of ${count}`);
      return (cache[index] ??= payload.utf8Slice(bounds[2 * index], bounds[2 * index + 1]));
    },
  };
}

function replaceId(ids: Uint32Array, from: number, to: number): void {
  for (let row = 0; row < ids.length; row++) if (ids[row] === from) ids[row] = to;
}

function decodeTokens(bytes: Buffer, start: number, rows: number, count: number, what: string): Uint32Array {
  const ids = new Uint32Array(rows);
  const end = bytes.length;
  let at = start;
  let seen = 0;
  for (let i = 0; i < rows; i++) {
    if (at >= end) throw new CorruptionError(`${what}: ends after ${i} of ${rows} rows`);
    let token = bytes[at++];
    if (token >= 0x80) {
      token &= 0x7f;
      let factor = 0x80;
      let byte: number;
      do {
        byte = bytes[at++];
        if (byte === undefined || factor > 2 ** 28)
          throw new CorruptionError(`${what}: broken token at row ${i}`);
        token += (byte & 0x7f) * factor;
        factor *= 0x80;
      } while (byte >= 0x80);
    }
    if (token === 1) ids[i] = ++seen;
    else if (token > 1) ids[i] = token - 1;
    if (ids[i] > count) throw new CorruptionError(`${what}: row ${i} names value ${ids[i]} of ${count}`);
  }
  if (at !== end) throw new CorruptionError(`${what}: ${end - at} bytes after the last row`);
  return ids;
}
