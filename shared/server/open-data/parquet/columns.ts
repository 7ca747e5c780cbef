/**
 * Columns of a row group as pages: levels and values, compressed. A text with few values has a dictionary. Maps are pairs of texts, a list
 * of them for each row.
 */
import { zstdCompressSync } from 'node:zlib';
import { ByteSink } from './bytes.ts';
import { bitWidth, writeDeltas, writeRuns } from './encodings.ts';
import { binary, i32, i64, list, struct, type ThriftValue } from './thrift.ts';

export type ParquetType = 'BOOLEAN' | 'INT64' | 'DOUBLE' | 'BYTE_ARRAY';

const TYPES: Readonly<Record<ParquetType, number>> = { BOOLEAN: 0, INT64: 2, DOUBLE: 5, BYTE_ARRAY: 6 };
const PLAIN = 0;
const RLE = 3;
const DELTA_BINARY_PACKED = 5;
const RLE_DICTIONARY = 8;
const ZSTD = 6;
const DATA_PAGE = 0;
const DICTIONARY_PAGE = 2;
/** Readers unpack a page at a time. */
const PAGE_ROWS = 16_384;
const PAGE_TEXT_CHARACTERS = 1_000_000;
/** After so many values it shows whether a dictionary saves anything. */
const TRIED_VALUES = 4096;
/** A dictionary that has more entries than this share of the values saves nothing. */
const MAX_DICTIONARY_SHARE = 0.5;

export interface ColumnChunk {
  /** Pages, one behind the other. */
  readonly bytes: Buffer;
  /** Before they were compressed. */
  readonly rawBytes: number;
  /** Its metadata where the pages begin at this place of the file. */
  meta(offset: number): ThriftValue;
}

interface Page {
  readonly type: number;
  readonly encoding: number;
  readonly values: number;
  readonly body: Buffer;
}

interface ChunkOptions {
  readonly path: readonly string[];
  readonly type: ParquetType;
  readonly pages: readonly Page[];
  readonly encodings: readonly number[];
  readonly statistics?: ThriftValue;
}

/** Times as whole numbers: what each is above the first one. */
export function timeColumn(name: string, first: bigint, offsets: Float64Array): ColumnChunk {
  const out = new ByteSink();
  writeDeltas(out, first, offsets);
  let [least, most] = [0, 0];
  for (const offset of offsets) {
    if (offset < least) least = offset;
    if (offset > most) most = offset;
  }
  const bound = (offset: number) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(first + BigInt(offset));
    return binary(bytes);
  };
  return chunkOf({
    path: [name],
    type: 'INT64',
    encodings: [DELTA_BINARY_PACKED, RLE],
    pages: [{ type: DATA_PAGE, encoding: DELTA_BINARY_PACKED, values: offsets.length, body: out.written() }],
    statistics: struct({ 3: i64(0), 5: bound(most), 6: bound(least) }),
  });
}

/** Texts that all rows have. */
export function lineColumn(name: string, values: readonly string[]): ColumnChunk {
  const pages = rangesOf(values.length, i => values[i].length).map(([from, to]) => {
    const out = new ByteSink(PAGE_TEXT_CHARACTERS);
    for (let i = from; i < to; i++) out.text(values[i]);
    return { type: DATA_PAGE, encoding: PLAIN, values: to - from, body: out.written() };
  });
  return chunkOf({ path: [name], type: 'BYTE_ARRAY', encodings: [PLAIN, RLE], pages });
}

/** Values that some rows lack; null is none. */
export function optionalColumn(
  name: string,
  type: ParquetType,
  values: readonly (string | number | bigint | boolean | null)[],
): ColumnChunk {
  if (type === 'BYTE_ARRAY') return textColumn(name, values as readonly (string | null)[]);
  const pages = rangesOf(values.length, () => 0).map(([from, to]) => {
    const out = new ByteSink();
    writeLevels(out, presence(values, from, to), 1);
    writePlain(out, type, values, from, to);
    return { type: DATA_PAGE, encoding: PLAIN, values: to - from, body: out.written() };
  });
  return chunkOf({ path: [name], type, encodings: [PLAIN, RLE], pages });
}

function textColumn(name: string, values: readonly (string | null)[]): ColumnChunk {
  const dictionary = new Dictionary();
  const places = new Uint32Array(values.length);
  let present = 0;
  let isUseful = false;
  for (const value of values) {
    if (value === null) continue;
    places[present++] = dictionary.place(value);
    // Each value of its own, such as IDs: looking them up would take longer than writing them.
    isUseful = dictionary.texts.length <= present * MAX_DICTIONARY_SHARE;
    if (!isUseful && present >= TRIED_VALUES) break;
  }
  const pages: Page[] = isUseful ? [dictionary.page()] : [];
  let at = 0;
  for (const [from, to] of rangesOf(values.length, i => (isUseful ? 0 : (values[i]?.length ?? 0)))) {
    const out = new ByteSink();
    const levels = presence(values, from, to);
    writeLevels(out, levels, 1);
    const end = at + levels.reduce((sum, level) => sum + level, 0);
    if (isUseful) dictionary.write(out, places, at, end);
    else for (let i = from; i < to; i++) if (values[i] !== null) out.text(values[i]!);
    at = end;
    pages.push({
      type: DATA_PAGE,
      encoding: isUseful ? RLE_DICTIONARY : PLAIN,
      values: to - from,
      body: out.written(),
    });
  }
  const encodings = isUseful ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE];
  return chunkOf({ path: [name], type: 'BYTE_ARRAY', encodings, pages });
}

/** Pairs of names and values; rows with the same pairs share them. Two columns: keys and values. */
export function mapColumns(
  name: string,
  rows: readonly Readonly<Record<string, string>>[],
): readonly [ColumnChunk, ColumnChunk] {
  const sides = [new Dictionary(), new Dictionary()] as const;
  /** Places of the names and of the values of a row. */
  const known = new Map<object, readonly [readonly number[], readonly number[]]>();
  const places = rows.map(row => {
    let found = known.get(row);
    if (found === undefined) {
      const pairs = Object.entries(row);
      found = [pairs.map(([key]) => sides[0].place(key)), pairs.map(([, value]) => sides[1].place(value))];
      known.set(row, found);
    }
    return found;
  });
  const hasPairs = sides[0].texts.length > 0;
  const encoding = hasPairs ? RLE_DICTIONARY : PLAIN;
  const chunk = (side: 0 | 1) => {
    const pages = rangesOf(rows.length, () => 0).map(([from, to]) => {
      const own = places.slice(from, to).map(each => each[side]);
      // A row without pairs has a place of its own, without a value.
      const slots = own.reduce((sum, { length }) => sum + Math.max(1, length), 0);
      const repetition = new Uint32Array(slots);
      const definition = new Uint32Array(slots);
      const values = new Uint32Array(slots);
      let slot = 0;
      let present = 0;
      for (const each of own) {
        for (const [i, place] of each.entries()) {
          repetition[slot] = i === 0 ? 0 : 1;
          definition[slot++] = 1;
          values[present++] = place;
        }
        if (each.length === 0) slot++;
      }
      const out = new ByteSink();
      writeLevels(out, repetition, 1);
      writeLevels(out, definition, 1);
      if (hasPairs) sides[side].write(out, values, 0, present);
      return { type: DATA_PAGE, encoding, values: slots, body: out.written() };
    });
    return chunkOf({
      path: [name, 'key_value', side === 0 ? 'key' : 'value'],
      type: 'BYTE_ARRAY',
      encodings: hasPairs ? [PLAIN, RLE, RLE_DICTIONARY] : [PLAIN, RLE],
      pages: hasPairs ? [sides[side].page(), ...pages] : pages,
    });
  };
  return [chunk(0), chunk(1)];
}

class Dictionary {
  readonly texts: string[] = [];
  readonly #places = new Map<string, number>();

  place(text: string): number {
    let place = this.#places.get(text);
    if (place === undefined) {
      place = this.texts.length;
      this.#places.set(text, place);
      this.texts.push(text);
    }
    return place;
  }

  page(): Page {
    const out = new ByteSink();
    for (const text of this.texts) out.text(text);
    return { type: DICTIONARY_PAGE, encoding: PLAIN, values: this.texts.length, body: out.written() };
  }

  write(out: ByteSink, places: Uint32Array, from: number, to: number): void {
    const width = bitWidth(Math.max(0, this.texts.length - 1));
    out.byte(width);
    writeRuns(out, places, from, to, width);
  }
}

function presence(values: readonly unknown[], from: number, to: number): Uint32Array {
  const levels = new Uint32Array(to - from);
  for (let i = from; i < to; i++) levels[i - from] = values[i] === null ? 0 : 1;
  return levels;
}

/** Levels stand behind their length. */
function writeLevels(out: ByteSink, levels: Uint32Array, most: number): void {
  const runs = new ByteSink();
  writeRuns(runs, levels, 0, levels.length, bitWidth(most));
  out.uint32(runs.length);
  out.bytes(runs.written());
}

function writePlain(
  out: ByteSink,
  type: Exclude<ParquetType, 'BYTE_ARRAY'>,
  values: readonly unknown[],
  from: number,
  to: number,
): void {
  let bits = 0;
  let count = 0;
  for (let i = from; i < to; i++) {
    const value = values[i];
    if (value === null) continue;
    if (type === 'INT64') out.int64(value as bigint);
    else if (type === 'DOUBLE') out.double(value as number);
    else {
      bits |= Number(value) << (count % 8);
      if (++count % 8 !== 0) continue;
      out.byte(bits);
      bits = 0;
    }
  }
  if (count % 8 !== 0) out.byte(bits);
}

/** Rows of each page. @param characters of the text of a row, for a page that would be large */
function rangesOf(rows: number, characters: (row: number) => number): [from: number, to: number][] {
  const ranges: [number, number][] = [];
  for (let from = 0; from < rows; ) {
    let to = from;
    for (let sum = 0; to < rows && to - from < PAGE_ROWS && sum < PAGE_TEXT_CHARACTERS; to++)
      sum += characters(to);
    ranges.push([from, to]);
    from = to;
  }
  return ranges;
}

function chunkOf({ path, type, pages, encodings, statistics }: ChunkOptions): ColumnChunk {
  const out = new ByteSink(pages.reduce((sum, { body }) => sum + body.length, 4096));
  let rawBytes = 0;
  let dictionaryBytes = 0;
  for (const page of pages) {
    const packed = zstdCompressSync(page.body);
    const before = out.length;
    const kind =
      page.type === DICTIONARY_PAGE
        ? { 7: struct({ 1: i32(page.values), 2: i32(PLAIN) }) }
        : { 5: struct({ 1: i32(page.values), 2: i32(page.encoding), 3: i32(RLE), 4: i32(RLE) }) };
    struct({ 1: i32(page.type), 2: i32(page.body.length), 3: i32(packed.length), ...kind }).write(out);
    rawBytes += out.length - before + page.body.length;
    out.bytes(packed);
    if (page.type === DICTIONARY_PAGE) dictionaryBytes = out.length;
  }
  const bytes = out.written();
  const data = pages.filter(page => page.type === DATA_PAGE);
  const values = data.reduce((sum, page) => sum + page.values, 0);
  return {
    bytes,
    rawBytes,
    meta: offset =>
      struct({
        1: i32(TYPES[type]),
        2: list(encodings.map(i32)),
        3: list(path.map(binary)),
        4: i32(ZSTD),
        5: i64(values),
        6: i64(rawBytes),
        7: i64(bytes.length),
        9: i64(offset + dictionaryBytes),
        11: dictionaryBytes > 0 ? i64(offset) : undefined,
        12: statistics,
      }),
  };
}
