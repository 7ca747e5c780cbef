/**
 * A second reader of chunk objects and catalog records, written only from docs/dev/format.md. It imports
 * nothing of the program, so it reads the documented format and not what the program happens to do. Simple, not
 * fast.
 */
import { crc32, zstdDecompressSync } from 'node:zlib';
import { joinSplit, readSplitLines } from './independent-split.ts';

const MAX_BLOCK_BYTES = 268_435_456;
const TRAILER_BYTES = 12;
/** Time of day, ns. */
const LAST_TIME = 86_399_999_999_999;

function must(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Error(what);
}

/** docs/dev/format.md#1-notation. */
class Cursor {
  at = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get left(): number {
    return this.#bytes.length - this.at;
  }

  take(count: number): Buffer {
    must(count <= this.left, 'past the end');
    this.at += count;
    return this.#bytes.subarray(this.at - count, this.at);
  }

  u8(): number {
    return this.take(1)[0];
  }

  u32(): number {
    return this.take(4).readUInt32LE();
  }

  varint(maxBytes = 8): number {
    let value = 0n;
    for (let i = 0; i < maxBytes; i++) {
      const byte = this.u8();
      value |= BigInt(byte & 0x7f) << BigInt(7 * i);
      if (byte < 0x80) {
        must(value < 2n ** 53n, 'varint too large');
        return Number(value);
      }
    }
    throw new Error('varint too long');
  }

  signed(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    return this.take(this.varint()).toString('utf8');
  }

  id(): string {
    return this.take(16).toString('hex');
  }

  list<T>(read: () => T): T[] {
    const count = this.varint();
    must(count <= this.left, 'count over the bytes left');
    return Array.from({ length: count }, read);
  }
}

interface Place {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
  readonly codec: number;
  readonly crc: number;
}

/** docs/dev/format.md#2-blocks. */
function readHandle(from: Cursor): Place {
  return {
    offset: from.varint(),
    storedBytes: from.varint(),
    rawBytes: from.varint(),
    codec: from.u8(),
    crc: from.u32(),
  };
}

function readBlock(bytes: Buffer, { offset, storedBytes, rawBytes, codec, crc }: Place): Buffer {
  const stored = bytes.subarray(offset, offset + storedBytes);
  must(stored.length === storedBytes, 'block is cut');
  must(crc32(stored) === crc, 'block checksum');
  return unpack(stored, codec, rawBytes);
}

function unpack(stored: Buffer, codec: number, rawBytes: number): Buffer {
  must(codec === 0 || codec === 1, 'codec');
  must(rawBytes <= MAX_BLOCK_BYTES, 'block too large');
  const raw = codec === 0 ? stored : zstdDecompressSync(stored);
  must(raw.length === rawBytes, 'block length');
  return raw;
}

interface ReadColumn extends Place {
  readonly kind: number;
  readonly name: string;
  readonly constant: boolean;
  readonly isTimed?: true;
  readonly dictionary: readonly string[] | undefined;
}

interface ReadPage {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rows: number;
  readonly lineBytes: number;
  readonly base: number;
  readonly scale: number;
  readonly runs: readonly {
    readonly stream: number;
    readonly firstRow: number;
    readonly rows: number;
    readonly first: number;
    readonly last: number;
    readonly lineBytes: number;
    readonly metadataBytes: number;
  }[];
  readonly columns: readonly ReadColumn[];
}

interface ReadEntry {
  readonly stream: Record<string, string>;
  readonly time: number;
  readonly line: string;
  readonly metadata: Record<string, string>;
}

/** docs/dev/format.md#3-trailer-and-footer. */
export function readFooter(object: Buffer) {
  must(object.length >= TRAILER_BYTES, 'too short');
  must(object.toString('latin1', object.length - 8) === 'LOGBOOM1', 'magic');
  const length = object.readUInt32LE(object.length - TRAILER_BYTES);
  must(length >= 7 && length <= object.length - TRAILER_BYTES, 'footer length');
  const end = object.length - TRAILER_BYTES;
  const footer = object.subarray(end - length, end);
  const shell = new Cursor(footer);
  const version = shell.u8();
  must(version >= 1 && version <= 7, 'version');
  must(crc32(footer.subarray(0, length - 4)) === footer.readUInt32LE(length - 4), 'footer checksum');
  const codec = shell.u8();
  const rawBytes = shell.varint();
  const body = new Cursor(unpack(shell.take(shell.left - 4), codec, rawBytes));

  const head = {
    version,
    id: body.id(),
    tenant: body.text(),
    day: body.signed(),
    level: body.varint(),
    createdMs: body.varint(),
    inputs: body.list(() => body.id()),
    rows: body.varint(),
    lineBytes: body.varint(),
    metadataBytes: body.varint(),
    first: body.varint(),
  };
  const last = head.first + body.varint();
  must(last <= LAST_TIME && head.day >= -106_752 && head.day <= 106_751, 'times of the head');
  must(head.createdMs <= 8.64e15, 'created');
  const streams = body.list(() => body.list(() => ({ name: body.text(), value: body.text() })));
  const pages = body.list(() => readPage(body, streams.length));
  const levels = body.list(() => body.text());
  const counts = streams.map(() => body.list(() => readCounts(body, levels.length)));
  const sections = body.list(() => ({ kind: body.varint(), block: readHandle(body) }));
  const origin = body.left >= 16 ? body.id() : head.id;
  return { ...head, last, streams, pages, levels, counts, sections, origin };
}

function readPage(body: Cursor, streams: number): ReadPage {
  const head = {
    offset: body.varint(),
    storedBytes: body.varint(),
    rows: body.varint(),
    lineBytes: body.varint(),
    base: body.varint(),
    scale: body.u8(),
  };
  let stream = 0;
  let firstRow = 0;
  const runs = body.list(() => {
    stream += body.varint();
    must(stream < streams, 'run without a stream');
    const rows = body.varint();
    const first = head.base + body.varint();
    const last = first + body.varint();
    must(last <= LAST_TIME, 'time of a run');
    const run = {
      stream,
      firstRow,
      rows,
      first,
      last,
      lineBytes: body.varint(),
      metadataBytes: body.varint(),
    };
    firstRow += rows;
    return run;
  });
  must(firstRow === head.rows, 'rows of the runs');
  const columns = body.list(() => {
    const kind = body.varint();
    const name = body.text();
    const flags = body.u8();
    const block = readHandle(body);
    must(block.offset + block.storedBytes <= head.storedBytes, 'column outside its page');
    const dictionary = flags & 1 ? body.list(() => body.text()) : undefined;
    const constant = (flags & 2) !== 0;
    must(!constant || dictionary?.length === 1, 'constant without a value');
    const column = { ...block, kind, name, constant, dictionary };
    return (flags & 4) === 0 ? column : { ...column, isTimed: true as const };
  });
  return { ...head, runs, columns };
}

function readCounts(body: Cursor, levels: number) {
  const level = body.varint();
  must(level < levels, 'level');
  let minute = 0;
  const buckets = body.list(() => {
    minute += body.varint();
    return { minute, entries: body.varint(), lineBytes: body.varint(), metadataBytes: body.varint() };
  });
  return { level, buckets };
}

/** docs/dev/format.md#4-columns: all entries of an object, in row order. */
export function readEntries(object: Buffer): ReadEntry[] {
  const { streams, pages } = readFooter(object);
  return pages.flatMap(page => {
    const stored = object.subarray(page.offset, page.offset + page.storedBytes);
    const times = readTimes(page, stored);
    const lines = readLines(page, stored);
    const metadata = page.columns
      .filter(({ kind }) => kind === 2)
      .map(column => ({ name: column.name, values: readMetadata(column, stored, page.rows) }));
    return page.runs.flatMap(run =>
      Array.from({ length: run.rows }, (_, i): ReadEntry => {
        const row = run.firstRow + i;
        const present = metadata.filter(({ values }) => values[row] !== undefined);
        return {
          stream: Object.fromEntries(streams[run.stream].map(({ name, value }) => [name, value])),
          time: times[row],
          line: lines[row],
          metadata: Object.fromEntries(present.map(({ name, values }) => [name, values[row] as string])),
        };
      }),
    );
  });
}

function onlyColumn({ columns }: ReadPage, kind: number): ReadColumn | undefined {
  const found = columns.filter(column => column.kind === kind);
  must(found.length <= 1, `one column of kind ${kind}`);
  return found[0];
}

function neededColumn(page: ReadPage, kind: number): ReadColumn {
  const column = onlyColumn(page, kind);
  must(column !== undefined, `no column of kind ${kind}`);
  return column;
}

/** docs/dev/format.md#41-timestamps, the low parts. */
function readLowTimes(page: ReadPage, stored: Buffer): { bits: number; low: number[] } {
  const bytesColumn = onlyColumn(page, 6);
  const bitsColumn = onlyColumn(page, 12);
  must(bytesColumn === undefined || bitsColumn === undefined, 'low parts of both kinds');
  if (bitsColumn === undefined) {
    const low = new Cursor(bytesColumn === undefined ? Buffer.alloc(0) : readBlock(stored, bytesColumn));
    const width = low.left / page.rows;
    must(Number.isInteger(width) && width <= 4, 'width');
    const lowOf = () => (width === 0 ? 0 : low.take(width).readUIntLE(0, width));
    return { bits: 8 * width, low: Array.from({ length: page.rows }, lowOf) };
  }
  const low = new Cursor(readBlock(stored, bitsColumn));
  const bits = low.u8();
  must(bits <= 40 && low.left === Math.ceil((bits * page.rows) / 8), 'low bits');
  let all = low.take(low.left).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const lowOf = () => {
    const own = all % (1n << BigInt(bits));
    all >>= BigInt(bits);
    return Number(own);
  };
  return { bits, low: Array.from({ length: page.rows }, lowOf) };
}

/** docs/dev/format.md#41-timestamps. */
function readTimes(page: ReadPage, stored: Buffer): number[] {
  must(page.scale <= 3, 'scale');
  const unit = 1000 ** page.scale;
  const high = new Cursor(readBlock(stored, neededColumn(page, 1)));
  const { bits, low } = readLowTimes(page, stored);
  const starts = new Set(page.runs.map(run => run.firstRow));
  let sum = 0;
  const times = Array.from({ length: page.rows }, (_, row) => {
    const difference = high.varint() * 2 ** bits + low[row];
    sum = starts.has(row) ? difference : sum + difference;
    return page.base + unit * sum;
  });
  must(high.left === 0, 'bytes behind the timestamps');
  return times;
}

/** docs/dev/format.md#42-structured-metadata: an empty value is none. */
function readMetadata(column: ReadColumn, stored: Buffer, rows: number): (string | undefined)[] {
  if (column.constant) return new Array(rows).fill(column.dictionary?.[0] || undefined);
  const block = new Cursor(readBlock(stored, column));
  const values = column.dictionary ?? block.list(() => block.text());
  let highest = 0;
  const found = Array.from({ length: rows }, () => {
    const token = block.varint(5);
    if (token === 0) return undefined;
    const number = token === 1 ? ++highest : token - 1;
    must(number <= values.length, 'token without a value');
    return values[number - 1] || undefined;
  });
  must(block.left === 0, 'bytes behind the tokens');
  return found;
}

/** docs/dev/format.md#43-line-lengths, #411-line-lengths-of-a-fixed-width. */
function readLengths(page: ReadPage, stored: Buffer): number[] {
  const fixed = onlyColumn(page, 11);
  must((fixed === undefined) !== (onlyColumn(page, 3) === undefined), 'lengths twice, or none');
  const lengths = new Cursor(readBlock(stored, fixed ?? neededColumn(page, 3)));
  let all: number[];
  if (fixed === undefined) all = Array.from({ length: page.rows }, () => lengths.varint(5));
  else {
    const width = lengths.u8();
    const least = lengths.u32();
    must(width <= 4, 'width of the lengths');
    const planes = Array.from({ length: width }, () => lengths.take(page.rows));
    all = Array.from({ length: page.rows }, (_, row) =>
      planes.reduce((sum, plane, i) => sum + plane[row] * 256 ** i, least),
    );
  }
  must(lengths.left === 0, 'bytes behind the lengths');
  must(all.reduce((sum, length) => sum + length, 0) === page.lineBytes, 'sum of the lengths');
  return all;
}

/** docs/dev/format.md#43-line-lengths, #44-lines, #47-split-lines, #49-times-in-split-lines. */
function readLines(page: ReadPage, stored: Buffer): string[] {
  const lengths = readLengths(page, stored);
  const split = onlyColumn(page, 8);
  if (split !== undefined) {
    must(onlyColumn(page, 4) === undefined, 'lines twice');
    const frame = onlyColumn(page, 9);
    const rest = readSections(readBlock(stored, split));
    const fields = page.columns.filter(({ kind }) => kind === 10).map(column => readBlock(stored, column));
    must(frame !== undefined || fields.length === 0, 'fields without a frame');
    const raw = frame === undefined ? rest : joinSplit(readBlock(stored, frame), rest, fields, page.rows);
    const read = readSplitLines(raw, page.rows, split.isTimed && readTimes(page, stored));
    for (const [row, line] of read.entries()) must(line.length === lengths[row], 'length of a line');
    return read.map(line => Buffer.from(line, 'latin1').toString('utf8'));
  }
  const lines = new Cursor(readBlock(stored, neededColumn(page, 4)));
  must(lines.left === page.lineBytes, 'line bytes');
  const read = lengths.map(length => lines.take(length).toString('utf8'));
  must(lines.left === 0, 'bytes behind the lines');
  return read;
}

/** docs/dev/format.md#47-split-lines: sections one behind the other, unpacked. */
function readSections(block: Buffer): Buffer {
  const from = new Cursor(block);
  const sections = from.list(() => {
    const raw = from.varint();
    const packed = from.varint();
    return unpack(from.take(packed || raw), packed === 0 ? 0 : 1, raw);
  });
  must(from.left === 0, 'bytes behind the sections');
  return Buffer.concat(sections);
}

/** docs/dev/format.md#8-the-catalog-record. */
export function readRecord(bytes: Buffer) {
  const end = bytes.length - 4;
  must(crc32(bytes.subarray(0, end)) === bytes.readUInt32LE(end), 'checksum of the record');
  const from = new Cursor(bytes.subarray(0, end));
  const version = from.u8();
  must(version === 6 || version === 7, 'version of the record');
  const flags = version === 7 ? from.u8() : 0;
  must(flags <= 15, 'flags');
  const partitions = (flags & 2) !== 0 ? from.varint() : undefined;
  const textIndex =
    (flags & 4) !== 0
      ? { offset: from.varint(), storedBytes: from.varint(), pages: from.varint() }
      : undefined;
  const streamPart = (flags & 8) !== 0 ? from.varint() : undefined;
  must(streamPart === undefined || (streamPart > 1 && streamPart < 512), 'part of the streams');
  const id = from.id();
  const hasOrigin = from.u8();
  must(hasOrigin <= 1, 'origin');
  const origin = hasOrigin === 1 ? from.id() : id;
  const level = from.varint();
  const first = from.varint();
  const last = first + from.varint();
  const numbers = {
    rows: from.varint(),
    lineBytes: from.varint(),
    metadataBytes: from.varint(),
    asOfMs: from.varint(),
    storedBytes: from.varint(),
    footerBytes: from.varint(),
  };
  const pairs = from.varint();
  const hashes = pairs === 0 ? undefined : Array.from({ length: pairs - 1 }, () => from.u32());
  const lane = from.u8();
  must(lane <= 2, 'lane');
  return {
    hasHashedKey: (flags & 1) !== 0,
    partitions,
    textIndex,
    streamPart,
    id,
    origin,
    level,
    first,
    last,
    ...numbers,
    hashes,
    lane,
    bytes: from.take(from.left),
  };
}
