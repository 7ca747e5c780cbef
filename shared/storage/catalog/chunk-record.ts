/**
 * Metadata of a chunk in the catalog: enough to prune it, to find its footer, or to store it whole. Small chunks (the
 * inline lane) are stored in the record itself. Below about 4 KB, the write units of the record, including its later
 * deletion, cost less than an object put and get (docs/dev/cost-model.md).
 *
 * The record ends with a checksum. Its content decides which chunks a query prunes, so a flipped bit would hide
 * entries.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { type Footer, SectionKind } from '../chunk/format.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import { labelSketch } from './label-sketch.ts';
import { ALL_STREAMS, MAX_PART } from './stream-part.ts';

/**
 * Version 1 has no checksum, version 2 no `asOfMs`, version 4 no `origin`; all are still read. Versions 3 and 5 do not
 * exist, because one flipped bit would turn them into version 1. Version 7 adds flags, and is written only for records
 * with a flag. File stores write version 6.
 */
const RECORD_VERSION = 6;
const FLAGGED_VERSION = 7;
const VERSIONS: ReadonlySet<number> = new Set([1, 2, 4, RECORD_VERSION, FLAGGED_VERSION]);
const CRC_BYTES = 4;
/** Flag: the object key begins with hashed characters. */
const HASHED_KEY = 1;
/** Flag: the number of the day's partitions follows. */
const PARTITIONED = 2;
/** Flag: the position of the text index follows. */
const TEXT_INDEXED = 4;
/** Flag: the part of the streams follows. */
const OF_PART = 8;
const KNOWN_FLAGS = HASHED_KEY | PARTITIONED | TEXT_INDEXED | OF_PART;

/** Position of a chunk's text index. A query can check the index without the footer, or while it reads the footer. */
export interface TextIndexPosition {
  readonly offset: number;
  readonly storedBytes: number;
  /** Pages of the chunk. */
  readonly pages: number;
}

export interface ChunkRecord {
  readonly id: string;
  /** Orders the chunk among others; see ChunkAge. The chunk's own ID if it was written before origins were recorded. */
  readonly origin: string;
  readonly tenant: string;
  readonly day: number;
  readonly level: number;
  /** True if the object key begins with hashed characters (objectKey). Absent for inline chunks and in file stores. */
  readonly hasHashedKey?: true | undefined;
  /**
   * Partitions of the day when the record was written, if more than the minimum (keys.ts). They decide the record's
   * key.
   */
  readonly partitions?: number | undefined;
  /** Absent in file stores, where another read takes no time, and for chunks without a text index. */
  readonly textIndex?: TextIndexPosition | undefined;
  /**
   * Part of the tenant's streams that the chunk is limited to (stream-part.ts). Absent if it can have any stream, as in
   * pushes, chunks of earlier releases and a rebuilt catalog.
   */
  readonly streamPart?: number | undefined;
  /** Nanoseconds since the start of the day of the first entry; `last` is the same for the last entry. */
  readonly first: number;
  readonly last: number;
  readonly rows: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  /** Unix ms: delete requests accepted before it have been applied to the rows. 0 for pushed chunks. */
  readonly asOfMs: number;
  /** Size of the object, bytes. */
  readonly storedBytes: number;
  /** Bytes of footer and trailer at the end of the object. */
  readonly footerBytes: number;
  readonly pairs: Uint32Array | undefined;
  /** The whole object if the chunk is inline. */
  readonly inline: Buffer | undefined;
  /** Footer and trailer if they are small and the chunk is not inline. */
  readonly footer: Buffer | undefined;
}

/** Part of the streams that the chunk is limited to. */
export function streamPartOf({ streamPart = ALL_STREAMS }: Pick<ChunkRecord, 'streamPart'>): number {
  return streamPart;
}

/** Maximum bytes of a footer in a record. It saves one read for each chunk that a push wrote. */
export const RECORD_FOOTER_BYTES = 2048;

export function recordOf(
  footer: Footer,
  storedBytes: number,
  footerBytes: number,
  object: {
    readonly inline: Buffer | undefined;
    readonly tail: Uint8Array;
    readonly hasHashedKey?: boolean;
  },
): ChunkRecord {
  const { id, origin, tenant, day, level, first, last, rows, lineBytes, metadataBytes } = footer;
  const pairs = labelSketch(footer.streams);
  // A merge applies the requests that exist when it begins.
  const asOfMs = footer.inputs.length === 0 ? 0 : Math.trunc(footer.createdMs);
  const inFooter = object.inline === undefined && footerBytes <= RECORD_FOOTER_BYTES;
  const isDistant = object.hasHashedKey === true && object.inline === undefined;
  return {
    id,
    origin,
    tenant,
    day,
    level,
    hasHashedKey: isDistant ? true : undefined,
    partitions: undefined,
    textIndex: isDistant ? textIndexOf(footer) : undefined,
    streamPart: undefined,
    first,
    last,
    rows,
    lineBytes,
    metadataBytes,
    asOfMs,
    storedBytes,
    footerBytes,
    pairs,
    inline: object.inline,
    footer: inFooter ? Buffer.from(object.tail) : undefined,
  };
}

function textIndexOf({ sections, pages }: Footer): TextIndexPosition | undefined {
  const block = sections.find(({ kind }) => kind === SectionKind.filter)?.block;
  return block && { offset: block.offset, storedBytes: block.storedBytes, pages: pages.length };
}

export function encodeRecord(record: ChunkRecord): Buffer {
  const out = new ByteWriter(256 + (record.inline?.length ?? record.footer?.length ?? 0));
  const { partitions, textIndex, streamPart } = record;
  const flags =
    (record.hasHashedKey === true ? HASHED_KEY : 0) |
    (partitions === undefined ? 0 : PARTITIONED) |
    (textIndex === undefined ? 0 : TEXT_INDEXED) |
    (streamPart === undefined ? 0 : OF_PART);
  out.byte(flags === 0 ? RECORD_VERSION : FLAGGED_VERSION);
  if (flags !== 0) out.byte(flags);
  if (partitions !== undefined) out.varint(partitions);
  if (textIndex !== undefined) {
    out.varint(textIndex.offset);
    out.varint(textIndex.storedBytes);
    out.varint(textIndex.pages);
  }
  if (streamPart !== undefined) out.varint(streamPart);
  out.bytes(Buffer.from(record.id, 'hex'));
  out.byte(record.origin === record.id ? 0 : 1);
  if (record.origin !== record.id) out.bytes(Buffer.from(record.origin, 'hex'));
  out.varint(record.level);
  out.varint(record.first);
  out.varint(record.last - record.first);
  out.varint(record.rows);
  out.varint(record.lineBytes);
  out.varint(record.metadataBytes);
  out.varint(record.asOfMs);
  out.varint(record.storedBytes);
  out.varint(record.footerBytes);
  out.varint(record.pairs === undefined ? 0 : record.pairs.length + 1);
  for (const pair of record.pairs ?? []) out.u32(pair);
  out.byte(record.inline ? 1 : record.footer ? 2 : 0);
  out.bytes(record.inline ?? record.footer ?? Buffer.alloc(0));
  out.u32(crc32(out.view()));
  return out.finish();
}

/** Throws CorruptionError. */
export function decodeRecord(tenant: string, day: number, body: Uint8Array): ChunkRecord {
  const buffer = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const what = `chunk record of ${tenant}, day ${day}`;
  const version = buffer[0];
  if (!VERSIONS.has(version)) throw new CorruptionError(`${what}: version ${version}`);
  const end = version === 1 ? buffer.length : buffer.length - CRC_BYTES;
  if (end < 1) throw new CorruptionError(`${what}: ${buffer.length} bytes`);
  if (version !== 1 && crc32(buffer.subarray(0, end)) !== buffer.readUInt32LE(end)) {
    throw new CorruptionError(`${what}: checksum differs`);
  }
  try {
    return readRecord(tenant, day, version, new ByteReader(buffer, 1, end));
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    throw new CorruptionError(`${what}: ${error.message}`);
  }
}

function readRecord(tenant: string, day: number, version: number, reader: ByteReader): ChunkRecord {
  const flags = version === FLAGGED_VERSION ? reader.byte() : 0;
  if ((flags & ~KNOWN_FLAGS) !== 0) throw new CorruptionError(`unknown flags ${flags}`);
  const partitions = (flags & PARTITIONED) !== 0 ? reader.varint() : undefined;
  const textIndex =
    (flags & TEXT_INDEXED) !== 0
      ? { offset: reader.varint(), storedBytes: reader.varint(), pages: reader.varint() }
      : undefined;
  const streamPart = (flags & OF_PART) !== 0 ? reader.varint() : undefined;
  if (streamPart !== undefined && (streamPart <= ALL_STREAMS || streamPart > MAX_PART)) {
    throw new CorruptionError(`part ${streamPart} of the streams`);
  }
  const id = reader.bytes(16).toString('hex');
  const origin = version <= 4 || reader.byte() === 0 ? id : reader.bytes(16).toString('hex');
  const level = reader.varint();
  const first = reader.varint();
  const last = first + reader.varint();
  const rows = reader.varint();
  const lineBytes = reader.varint();
  const metadataBytes = reader.varint();
  const asOfMs = version <= 2 ? 0 : reader.varint();
  const storedBytes = reader.varint();
  const footerBytes = reader.varint();
  const pairCount = reader.count(1);
  const pairs = pairCount === 0 ? undefined : new Uint32Array(pairCount - 1);
  if (pairs !== undefined) for (let i = 0; i < pairs.length; i++) pairs[i] = reader.u32();
  const lane = reader.byte();
  const rest = reader.bytes(reader.remaining);
  // Also rejects a record with a damaged version.
  if (rest.length !== [0, storedBytes, footerBytes][lane]) {
    throw new CorruptionError(`${rest.length} bytes of lane ${lane}`);
  }
  return {
    id,
    origin,
    tenant,
    day,
    level,
    hasHashedKey: (flags & HASHED_KEY) !== 0 ? true : undefined,
    partitions,
    textIndex,
    streamPart,
    first,
    last,
    rows,
    lineBytes,
    metadataBytes,
    asOfMs,
    storedBytes,
    footerBytes,
    pairs,
    inline: lane === 1 ? rest : undefined,
    footer: lane === 2 ? rest : undefined,
  };
}

/** Parts of an object key. */
type ChunkName = Pick<ChunkRecord, 'tenant' | 'day' | 'level' | 'id' | 'hasHashedKey'>;

/**
 * Key of the object that stores a chunk. S3 limits the requests to keys with the same prefix (5,500 reads a second),
 * and all chunks of a large tenant's day are read concurrently. A hashed key therefore begins with the last two
 * hexadecimal digits of the ID, which are random: 256 prefixes. File stores have no such limit, and more directories
 * would cost them more syncs.
 */
export function objectKey({ tenant, day, level, id, hasHashedKey }: ChunkName): string {
  const key = `${tenant}/chunks/${day}/${level}/${id}`;
  return hasHashedKey === true ? `${id.slice(-HASH_DIGITS)}/${key}` : key;
}

export const HASH_DIGITS = 2;
