/**
 * Directory of an index object, and the trailer after it: the covered chunks and the sizes of the blocks.
 * Blocks have no offsets: they follow each other without gaps, so they cannot overlap or refer to other data.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { NS_OF_DAY } from '../../base/model/time-units.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import {
  type BlockHandle,
  CODEC_RAW,
  loadBlock,
  MAX_BLOCK_BYTES,
  QUICK_COMPRESSION,
  type StoredBlock,
  storeBlockSync,
} from '../codec/compression.ts';
import {
  type ChunkSummary,
  ID_BYTES,
  INDEX_BOUNDS,
  INDEX_MAGIC,
  INDEX_TRAILER_BYTES,
  INDEX_VERSION,
} from './format.ts';
import { MIN_PRESENCE_BYTES, type PresenceRange } from './presence.ts';

/** Minimum size of a chunk in the directory: ID, nine varints and a block. */
const MIN_CHUNK_BYTES = ID_BYTES + 9 + 7;
/** Size of version, codec, raw length and checksum. */
const MIN_DIRECTORY_BYTES = 7;

export interface IndexedChunk extends ChunkSummary {
  readonly presence: PresenceRange;
  /** Counts block, with its offset from the start of the object. */
  readonly counts: BlockHandle;
}

/** A chunk in the first part of the directory. */
type NamelessChunk = Omit<IndexedChunk, 'metadataNames'>;

export interface Directory {
  readonly tenant: string;
  /** UTC day since 1970-01-01. */
  readonly day: number;
  /** Unix ms at which the object was written. */
  readonly createdMs: number;
  /** Block offsets from the start of the object. */
  readonly streams: BlockHandle;
  readonly presence: BlockHandle;
  /** Chunks, ascending by ID. */
  readonly chunks: readonly IndexedChunk[];
}

export interface ChunkEntry {
  readonly summary: ChunkSummary;
  readonly streams: number;
  readonly presenceBytes: number;
  readonly counts: StoredBlock;
}

interface DirectoryInput extends Pick<Directory, 'tenant' | 'day' | 'createdMs'> {
  readonly streams: StoredBlock;
  readonly presence: StoredBlock;
  /** Chunks, ascending by ID. */
  readonly chunks: readonly ChunkEntry[];
}

/** Encodes directory and trailer, the end of the object. */
export function encodeDirectory(input: DirectoryInput): Buffer {
  const body = new ByteWriter(4096);
  body.text(input.tenant);
  body.signedVarint(input.day);
  body.varint(input.createdMs);
  writeBlock(body, input.streams);
  writeBlock(body, input.presence);
  body.varint(input.chunks.length);
  for (const chunk of input.chunks) writeChunkEntry(body, chunk);
  writeMetadataNames(body, input.chunks);
  const stored = storeBlockSync(body.view(), QUICK_COMPRESSION);
  const out = new ByteWriter(stored.bytes.length + 32);
  out.byte(INDEX_VERSION);
  out.byte(stored.codec);
  out.varint(stored.rawBytes);
  out.bytes(stored.bytes);
  out.u32(crc32(out.view()));
  const directoryBytes = out.length;
  out.u32(directoryBytes);
  out.u32(input.streams.bytes.length + input.presence.bytes.length + directoryBytes + INDEX_TRAILER_BYTES);
  out.bytes(INDEX_MAGIC);
  return out.finish();
}

function writeChunkEntry(out: ByteWriter, { summary, streams, presenceBytes, counts }: ChunkEntry): void {
  out.bytes(Buffer.from(summary.id, 'hex'));
  out.varint(summary.level);
  out.varint(summary.first);
  out.varint(summary.last - summary.first);
  out.varint(summary.rows);
  out.varint(summary.lineBytes);
  out.varint(summary.metadataBytes);
  out.varint(summary.pageBytes);
  out.varint(streams);
  out.varint(presenceBytes);
  writeBlock(out, counts);
}

/** Writes each name once, and then for each chunk the number of its names plus 1, and their indexes in the list. */
function writeMetadataNames(out: ByteWriter, chunks: readonly ChunkEntry[]): void {
  const all = [...new Set(chunks.flatMap(({ summary }) => summary.metadataNames ?? []))].sort();
  const indexOf = new Map(all.map((name, i) => [name, i]));
  out.varint(all.length);
  for (const name of all) out.text(name);
  for (const { summary } of chunks) {
    const { metadataNames } = summary;
    out.varint(metadataNames === undefined ? 0 : metadataNames.length + 1);
    for (const name of metadataNames ?? []) out.varint(indexOf.get(name)!);
  }
}

function writeBlock(out: ByteWriter, { bytes, rawBytes, codec, crc }: StoredBlock): void {
  out.varint(bytes.length);
  out.varint(rawBytes);
  out.byte(codec);
  out.u32(crc);
}

interface Trailer {
  /** Size without the trailer. */
  readonly directoryBytes: number;
  /** Size from the streams block to the end of the object. */
  readonly headBytes: number;
}

/**
 * @param tail Last bytes of the object, INDEX_TRAILER_BYTES or more
 * @param objectBytes Size of the object
 * @throws CorruptionError
 */
export function readTrailer(tail: Buffer, objectBytes: number, what: string): Trailer {
  const at = tail.length - INDEX_TRAILER_BYTES;
  if (at < 0 || !tail.subarray(-INDEX_MAGIC.length).equals(INDEX_MAGIC)) {
    throw new CorruptionError(`${what}: does not end as an index object`);
  }
  const directoryBytes = tail.readUInt32LE(at);
  const headBytes = tail.readUInt32LE(at + 4);
  const fits =
    directoryBytes >= MIN_DIRECTORY_BYTES &&
    headBytes >= directoryBytes + INDEX_TRAILER_BYTES &&
    headBytes <= objectBytes;
  if (!fits) {
    throw new CorruptionError(
      `${what}: directory of ${directoryBytes} and head of ${headBytes} bytes in an object of ${objectBytes}`,
    );
  }
  return { directoryBytes, headBytes };
}

/**
 * @param bytes Directory without the trailer
 * @throws CorruptionError also if its blocks do not add up to the object
 */
export function decodeDirectory(
  bytes: Buffer,
  { headBytes, objectBytes }: { readonly headBytes: number; readonly objectBytes: number },
  what: string,
): Directory {
  const start = new ByteReader(bytes);
  const version = start.byte();
  if (version !== INDEX_VERSION) {
    throw new CorruptionError(`${what}: index version ${version}; this program reads up to ${INDEX_VERSION}`);
  }
  const codec = start.byte();
  const rawBytes = start.varint();
  const storedBytes = bytes.length - 4 - start.position;
  if (storedBytes < 0) throw new CorruptionError(`${what}: directory too short`);
  if (crc32(bytes.subarray(0, -4)) !== bytes.readUInt32LE(bytes.length - 4)) {
    throw new CorruptionError(`${what}: directory checksum differs`);
  }
  const stored = start.bytes(storedBytes);
  const handle = { offset: 0, storedBytes, rawBytes, codec, crc: crc32(stored) };
  const reader = new ByteReader(loadBlock(stored, handle, `${what}: directory`));
  const tenant = reader.text();
  const day = reader.signedVarint();
  const createdMs = reader.varint();
  const headStart = objectBytes - headBytes;
  const streams = readBlock(reader, headStart, what);
  const presence = readBlock(reader, headStart + streams.storedBytes, what);
  const chunks = readMetadataNames(reader, readChunks(reader, presence.rawBytes, what), what);
  const countsEnd = chunks.reduce((end, chunk) => end + chunk.counts.storedBytes, 0);
  const sum = streams.storedBytes + presence.storedBytes + bytes.length + INDEX_TRAILER_BYTES;
  if (sum !== headBytes || countsEnd !== headStart) {
    throw new CorruptionError(`${what}: its blocks do not make up ${objectBytes} bytes`);
  }
  return { tenant, day, createdMs, streams, presence, chunks };
}

function readChunks(reader: ByteReader, presenceBytes: number, what: string): NamelessChunk[] {
  const count = reader.count(MIN_CHUNK_BYTES);
  if (count > INDEX_BOUNDS.maxChunks) throw new CorruptionError(`${what}: covers ${count} chunks`);
  const chunks: NamelessChunk[] = [];
  let countsAt = 0;
  let presenceAt = 0;
  for (let i = 0; i < count; i++) {
    const chunk = readChunk(reader, countsAt, presenceAt, what);
    if (i > 0 && chunks[i - 1].id >= chunk.id)
      throw new CorruptionError(`${what}: chunk ${i} is out of order`);
    chunks.push(chunk);
    countsAt += chunk.counts.storedBytes;
    presenceAt = chunk.presence.end;
  }
  if (presenceAt !== presenceBytes) {
    throw new CorruptionError(`${what}: ${presenceAt} bytes of presence, expected ${presenceBytes}`);
  }
  return chunks;
}

/** Adds the names of metadata to chunks of an index that has them. */
function readMetadataNames(
  reader: ByteReader,
  chunks: readonly NamelessChunk[],
  what: string,
): IndexedChunk[] {
  if (reader.remaining === 0) return chunks.map(chunk => ({ ...chunk, metadataNames: undefined }));
  const all = Array.from({ length: reader.count(1) }, () => reader.text());
  return chunks.map(chunk => {
    const count = reader.varint();
    if (count > all.length + 1)
      throw new CorruptionError(`${what}: chunk ${chunk.id} has ${count - 1} names`);
    if (count === 0) return { ...chunk, metadataNames: undefined };
    const metadataNames = Array.from({ length: count - 1 }, () => {
      const index = reader.varint();
      if (index >= all.length) throw new CorruptionError(`${what}: name ${index} of ${all.length}`);
      return all[index];
    });
    return { ...chunk, metadataNames };
  });
}

function readChunk(reader: ByteReader, countsAt: number, presenceAt: number, what: string): NamelessChunk {
  const id = reader.bytes(ID_BYTES).toString('hex');
  const level = reader.varint();
  const first = reader.varint();
  const last = first + reader.varint();
  const rows = reader.varint();
  const lineBytes = reader.varint();
  const metadataBytes = reader.varint();
  const pageBytes = reader.varint();
  const streams = reader.varint();
  const end = presenceAt + reader.varint();
  if (last >= NS_OF_DAY) throw new CorruptionError(`${what}: chunk ${id} ends after the day`);
  // Check first, so that a corrupt number of streams never causes a large allocation.
  if (streams * MIN_PRESENCE_BYTES > end - presenceAt || end > MAX_BLOCK_BYTES) {
    throw new CorruptionError(`${what}: ${streams} streams of chunk ${id} in ${end - presenceAt} bytes`);
  }
  const presence = { start: presenceAt, end, streams };
  const counts = readBlock(reader, countsAt, what);
  return { id, level, first, last, rows, lineBytes, metadataBytes, pageBytes, presence, counts };
}

function readBlock(reader: ByteReader, offset: number, what: string): BlockHandle {
  const storedBytes = reader.varint();
  const rawBytes = reader.varint();
  const codec = reader.byte();
  const crc = reader.u32();
  if (rawBytes > MAX_BLOCK_BYTES || (codec === CODEC_RAW && rawBytes !== storedBytes)) {
    throw new CorruptionError(`${what}: a block of ${storedBytes} bytes claims ${rawBytes}`);
  }
  return { offset, storedBytes, rawBytes, codec, crc };
}
