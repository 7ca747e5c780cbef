/**
 * Column blocks: compressed with zstd if that saves space, and always with a checksum of the stored form.
 * Decoding writes into a buffer of the known raw size: passing it as `chunkSize` is 1.6 times faster than
 * letting zlib grow one (docs/dev/decisions/0001-dependencies.md).
 */
import { constants, crc32 } from 'node:zlib';
import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { STORED_BYTES } from '../../base/model/stored-bytes.ts';
import { ZstdDecoder } from './zstd-decoder.ts';
import { ZstdEncoder } from './zstd-encoder.ts';
import { MAX_SYNC_BYTES, ZstdSyncEncoder } from './zstd-sync-encoder.ts';

export const CODEC_RAW = 0;
export const CODEC_ZSTD = 1;

export interface Compression {
  readonly [zstdParameter: number]: number;
}

/**
 * Parameters for pushes. Compaction rewrites the data within a minute, so speed matters. Figures for pages of 256 KiB of
 * the corpus that the steady load pushes (only zstd; raw over stored bytes, CPU seconds per GB):
 *
 *    these 5.29, 2.06     hash log 13: 5.39, 2.23     hash log 14 (level 1): 5.46, 2.39     level -3: 3.55, 1.75
 *
 * The hash table of 16 KiB fits in the processor's nearest cache, next to the lines.
 */
export const PUSH_COMPRESSION: Compression = {
  [constants.ZSTD_c_compressionLevel]: 1,
  [constants.ZSTD_c_hashLog]: 12,
};

/**
 * Parameters for large blocks of compaction, whose output is written a few times and read often. Most of these blocks are lines
 * that are not split, such as stack traces. Figures for 11 MB of stack traces of the steady load in pages of 480 KB (only zstd;
 * raw over stored bytes, CPU seconds per GB):
 *
 *    these 10.8, 8.1      search log 3: 9.8, 6.5     4: 10.3, 7.2     6: 11.3, 9.9      hash log 18: 11.0, 8.9     level 12: 11.5, 12.0
 *
 * A small hash table fits in the processor's cache and finds the same matches, because repetitions in log
 * lines are close together. Decompression is equally fast for all of them.
 */
export const COMPACTION_COMPRESSION: Compression = {
  [constants.ZSTD_c_compressionLevel]: 6,
  [constants.ZSTD_c_strategy]: constants.ZSTD_lazy2,
  [constants.ZSTD_c_windowLog]: 20,
  [constants.ZSTD_c_hashLog]: 16,
  [constants.ZSTD_c_chainLog]: 16,
  [constants.ZSTD_c_searchLog]: 5,
  [constants.ZSTD_c_minMatch]: 6,
};

/**
 * Parameters for small blocks, for which setting up the matcher's tables would cost more than the block (20
 * µs per call), for day indexes and patterns.
 */
export const QUICK_COMPRESSION: Compression = { [constants.ZSTD_c_compressionLevel]: 1 };

/**
 * Parameters for small blocks of merges that are mostly text: what is around numbers, and texts without one. Level 1 takes a third of the
 * CPU and 4 to 6% more bytes. Blocks of numbers gain nothing from them.
 */
export const TEXT_COMPRESSION: Compression = {
  ...COMPACTION_COMPRESSION,
  [constants.ZSTD_c_windowLog]: 17,
  [constants.ZSTD_c_hashLog]: 14,
  [constants.ZSTD_c_chainLog]: 14,
  [constants.ZSTD_c_searchLog]: 3,
};

/** Minimum size to compress. Below it, a zstd frame does not save enough to justify the call. */
const MIN_COMPRESSED_BYTES = 48;
/** Minimum size for the thread pool: zstd takes 0.1 ms for 64 KiB, more than the transfer. */
const ASYNC_FROM_BYTES = MAX_SYNC_BYTES;
/** Maximum block size of the format. A corrupt length must not allocate more. */
export const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

export interface StoredBlock {
  readonly codec: number;
  readonly rawBytes: number;
  readonly crc: number;
  readonly bytes: Uint8Array;
}

/**
 * Size of the buffer of a thread that compresses without the pool: a page has 1 MiB of lines, plus one line.
 */
const MAX_OWN_BYTES = 2 * 1024 * 1024;

/**
 * Output buffer of each stream of the thread pool: a frame of a page certainly fits, so zstd compresses the page in place, in 0.86
 * of the time. Only the part that frames fill is in memory.
 */
const OUTPUT_BYTES = 1024 * 1024 + 16 * 1024;

let isPooled = true;

/**
 * Makes this thread compress blocks itself, for its whole life. The threads of the pool have the usual
 * priority. A thread of lower priority would otherwise use CPU time at the usual priority through them.
 */
export function packInThisThread(): void {
  isPooled = false;
}

/** Whether this thread compresses all blocks itself. */
export function packsInThisThread(): boolean {
  return !isPooled;
}

/** Encoders by parameters, which are a few constants. */
const ENCODERS = new Map<Compression, ZstdEncoder>();
const SYNC_ENCODERS = new Map<Compression, ZstdSyncEncoder>();
const OWN_ENCODERS = new Map<Compression, ZstdSyncEncoder>();

/**
 * Compresses one block. Large blocks go to the thread pool, so that the columns of a group are compressed in
 * parallel (but see packInThisThread). The bytes may be returned to their pool once they are copied (returnIfPooled).
 *
 * @param isHere compress it in this thread, unless it is larger than a page: handing it over costs half as much as
 * compressing it
 * @param ends See ZstdSyncEncoder.pack; the thread pool ignores them
 */
export async function storeBlock(
  raw: Uint8Array,
  compression: Compression,
  isHere = false,
  ends?: readonly number[],
): Promise<StoredBlock> {
  const stored = storeAtOnce(raw, compression, isHere, ends);
  if (stored !== undefined) return stored;
  let encoder = ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdEncoder(compression, { outputBytes: OUTPUT_BYTES, frames: STORED_BYTES });
    ENCODERS.set(compression, encoder);
  }
  return chosen(raw, await encoder.pack(raw));
}

/**
 * Compresses one block in this thread. The bytes are valid until this thread compresses the next block, so copy them at
 * once. Returns undefined for a block that is larger than a page.
 */
export function borrowStoredBlock(raw: Uint8Array, compression: Compression): StoredBlock | undefined {
  if (raw.length < ASYNC_FROM_BYTES) return storeBlockSync(raw, QUICK_COMPRESSION);
  return raw.length <= MAX_OWN_BYTES ? chosen(raw, ownEncoder(compression).packToCopy(raw)) : undefined;
}

/** Works as `storeBlock`, in this call. Returns undefined for a block that goes to the thread pool. */
export function storeAtOnce(
  raw: Uint8Array,
  compression: Compression,
  isHere = false,
  ends?: readonly number[],
): StoredBlock | undefined {
  if (raw.length < ASYNC_FROM_BYTES) return storeBlockSync(raw, QUICK_COMPRESSION, ends);
  if (!isPooled || (isHere && raw.length <= MAX_OWN_BYTES))
    return chosen(raw, ownEncoder(compression).pack(raw, ends));
  return undefined;
}

export function storeBlockSync(
  raw: Uint8Array,
  compression: Compression,
  ends?: readonly number[],
): StoredBlock {
  if (raw.length < MIN_COMPRESSED_BYTES) return chosen(raw, undefined);
  let encoder = SYNC_ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdSyncEncoder(compression);
    SYNC_ENCODERS.set(compression, encoder);
  }
  return chosen(raw, encoder.pack(raw, ends));
}

function ownEncoder(compression: Compression): ZstdSyncEncoder {
  let encoder = OWN_ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdSyncEncoder(compression, MAX_OWN_BYTES);
    OWN_ENCODERS.set(compression, encoder);
  }
  return encoder;
}

/** Wraps bytes that are already compressed. */
export function storeRaw(raw: Uint8Array): StoredBlock {
  return chosen(raw, undefined);
}

function chosen(raw: Uint8Array, packed: Uint8Array | undefined): StoredBlock {
  const pays = packed !== undefined && packed.length < raw.length - (raw.length >> 5);
  const bytes = pays ? packed : raw;
  return { codec: pays ? CODEC_ZSTD : CODEC_RAW, rawBytes: raw.length, crc: crc32(bytes), bytes };
}

/** Position and storage form of a block; the caller defines the origin of `offset`. */
export interface BlockHandle {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
  readonly codec: number;
  readonly crc: number;
}

/**
 * Returns the raw bytes of a stored block in a separate buffer. Throws CorruptionError; `what` names the
 * block.
 */
export function loadBlock(stored: Buffer, block: BlockHandle, what: string): Buffer {
  const raw = borrowBlock(stored, block, what);
  if (block.codec !== CODEC_ZSTD) return raw;
  // Caches keep it. A part of a slab of Node.js would keep the whole slab, 64 KiB.
  const own = Buffer.allocUnsafeSlow(raw.length);
  raw.copy(own);
  return own;
}

const DECODER = new ZstdDecoder();

/**
 * Returns the raw bytes of a stored block, valid until the decoder's next block. Read them once and
 * immediately. Throws CorruptionError; `what` names the block.
 *
 * @param into See ZstdDecoder.unpack
 */
export function borrowBlock(
  stored: Buffer,
  block: BlockHandle,
  what: string,
  decoder = DECODER,
  into?: Buffer,
): Buffer {
  if (stored.length !== block.storedBytes) {
    throw new CorruptionError(`${what}: ${stored.length} bytes, expected ${block.storedBytes}`);
  }
  const crc = crc32(stored);
  if (crc !== block.crc) throw new CorruptionError(`${what}: checksum ${crc}, expected ${block.crc}`);
  if (block.codec === CODEC_RAW) return stored;
  if (block.codec !== CODEC_ZSTD) throw new CorruptionError(`${what}: unknown codec ${block.codec}`);
  if (block.rawBytes > MAX_BLOCK_BYTES) throw new CorruptionError(`${what}: claims ${block.rawBytes} bytes`);
  let raw: Buffer;
  try {
    raw = decoder.unpack(stored, block.rawBytes, into);
  } catch (error) {
    throw new CorruptionError(`${what}: ${messageOf(error)}`);
  }
  if (raw.length !== block.rawBytes) {
    throw new CorruptionError(`${what}: ${raw.length} decompressed bytes, expected ${block.rawBytes}`);
  }
  return raw;
}
