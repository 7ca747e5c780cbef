/**
 * Column blocks: compressed with zstd where that pays, and always checksummed as stored. Decoding goes into a buffer
 * of the known raw size: passing it as `chunkSize` is 1.6 times faster than letting zlib grow one
 * (docs/dev/decisions/0001-dependencies.md).
 */
import { constants, crc32 } from 'node:zlib';
import { CorruptionError, messageOf } from '../../base/model/errors.ts';
import { ZstdDecoder } from './zstd-decoder.ts';
import { ZstdEncoder } from './zstd-encoder.ts';
import { MAX_SYNC_BYTES, ZstdSyncEncoder } from './zstd-sync-encoder.ts';

export const CODEC_RAW = 0;
export const CODEC_ZSTD = 1;

export interface Compression {
  readonly [zstdParameter: number]: number;
}

/**
 * For pushes: what is written here is packed again by compaction within minutes, so speed counts: 450 MB/s of lines
 * against 150 of parameters that make the benchmark's lines 10% smaller.
 */
export const PUSH_COMPRESSION: Compression = { [constants.ZSTD_c_compressionLevel]: 1 };

/**
 * For what compaction writes, which is written a few times and read often. Figures for pages of 1 MiB by stream, of the corpus that
 * the steady load pushes (zstd alone, raw over stored bytes, CPU seconds per GB):
 *
 *    these 6.13, 9.6      hash log 17: 6.12, 10.7     hash log 14: 6.09, 9.2      search log 2: 6.03, 8.9, 4: 6.19, 10.8
 *    lazy 5.91, 8.4       greedy 5.64, 8.2            double fast 5.42, 4.0       PUSH_COMPRESSION 5.46, 2.2
 *
 * A smaller table of hashes stays in the processor's cache, and finds the same: repeats of log lines are near. Unpacking is as fast
 * for all of them.
 */
export const COMPACTION_COMPRESSION: Compression = {
  [constants.ZSTD_c_compressionLevel]: 6,
  [constants.ZSTD_c_strategy]: constants.ZSTD_lazy2,
  [constants.ZSTD_c_windowLog]: 20,
  [constants.ZSTD_c_hashLog]: 16,
  [constants.ZSTD_c_chainLog]: 16,
  [constants.ZSTD_c_searchLog]: 3,
  [constants.ZSTD_c_minMatch]: 6,
};

/** For small blocks, where the matcher's tables cost more than the block: 20 µs a call. */
export const QUICK_COMPRESSION: Compression = { [constants.ZSTD_c_compressionLevel]: 1 };

/** Below this many bytes a zstd frame saves nothing worth its call. */
const MIN_COMPRESSED_BYTES = 48;
/** From here the thread pool pays for the trip: zstd takes 0.1 ms for 64 KiB. */
const ASYNC_FROM_BYTES = MAX_SYNC_BYTES;
/** No block of the format is larger; a broken length must not allocate more. */
export const MAX_BLOCK_BYTES = 256 * 1024 * 1024;

export interface StoredBlock {
  readonly codec: number;
  readonly rawBytes: number;
  readonly crc: number;
  readonly bytes: Uint8Array;
}

/** A thread that packs by itself keeps a buffer for blocks of this size: a page has 1 MiB of lines, and one line more. */
const MAX_OWN_BYTES = 2 * 1024 * 1024;

let isPooled = true;

/**
 * For the whole life of a thread that must not hand work to others: the threads of the pool have the usual priority, and one
 * of a lower priority would take cores by them all the same.
 */
export function packInThisThread(): void {
  isPooled = false;
}

/** By parameters, which are few constants. */
const ENCODERS = new Map<Compression, ZstdEncoder>();
const SYNC_ENCODERS = new Map<Compression, ZstdSyncEncoder>();
const OWN_ENCODERS = new Map<Compression, ZstdSyncEncoder>();

/** Compresses one block; large ones in the thread pool, so that a group's columns compress side by side (but see packInThisThread). */
export async function storeBlock(raw: Uint8Array, compression: Compression): Promise<StoredBlock> {
  if (raw.length < ASYNC_FROM_BYTES) return storeBlockSync(raw, QUICK_COMPRESSION);
  if (!isPooled) return chosen(raw, ownEncoder(compression).pack(raw));
  let encoder = ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdEncoder(compression);
    ENCODERS.set(compression, encoder);
  }
  return chosen(raw, await encoder.pack(raw));
}

export function storeBlockSync(raw: Uint8Array, compression: Compression): StoredBlock {
  if (raw.length < MIN_COMPRESSED_BYTES) return chosen(raw, undefined);
  let encoder = SYNC_ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdSyncEncoder(compression);
    SYNC_ENCODERS.set(compression, encoder);
  }
  return chosen(raw, encoder.pack(raw));
}

function ownEncoder(compression: Compression): ZstdSyncEncoder {
  let encoder = OWN_ENCODERS.get(compression);
  if (encoder === undefined) {
    encoder = new ZstdSyncEncoder(compression, MAX_OWN_BYTES);
    OWN_ENCODERS.set(compression, encoder);
  }
  return encoder;
}

/** For bytes that are packed already. */
export function storeRaw(raw: Uint8Array): StoredBlock {
  return chosen(raw, undefined);
}

function chosen(raw: Uint8Array, packed: Uint8Array | undefined): StoredBlock {
  const pays = packed !== undefined && packed.length < raw.length - (raw.length >> 5);
  const bytes = pays ? packed : raw;
  return { codec: pays ? CODEC_ZSTD : CODEC_RAW, rawBytes: raw.length, crc: crc32(bytes), bytes };
}

/** Where a block lies and how it is stored; `offset` is relative to what the caller says. */
export interface BlockPlace {
  readonly offset: number;
  readonly storedBytes: number;
  readonly rawBytes: number;
  readonly codec: number;
  readonly crc: number;
}

/** The raw bytes of a stored block, in a buffer that stays as it is. Throws CorruptionError; `what` names the block. */
export function loadBlock(stored: Buffer, place: BlockPlace, what: string): Buffer {
  const raw = borrowBlock(stored, place, what);
  return place.codec === CODEC_ZSTD ? Buffer.from(raw) : raw;
}

const DECODER = new ZstdDecoder();

/**
 * The raw bytes of a stored block, valid until the decoder's next block: for what is looked at once and at once.
 * Throws CorruptionError; `what` names the block.
 *
 * @param into see ZstdDecoder.unpack
 */
export function borrowBlock(
  stored: Buffer,
  place: BlockPlace,
  what: string,
  decoder = DECODER,
  into?: Buffer,
): Buffer {
  if (stored.length !== place.storedBytes) {
    throw new CorruptionError(`${what}: ${stored.length} bytes where ${place.storedBytes} are stored`);
  }
  const crc = crc32(stored);
  if (crc !== place.crc) throw new CorruptionError(`${what}: checksum ${crc} where ${place.crc} is stored`);
  if (place.codec === CODEC_RAW) return stored;
  if (place.codec !== CODEC_ZSTD) throw new CorruptionError(`${what}: unknown codec ${place.codec}`);
  if (place.rawBytes > MAX_BLOCK_BYTES) throw new CorruptionError(`${what}: claims ${place.rawBytes} bytes`);
  let raw: Buffer;
  try {
    raw = decoder.unpack(stored, place.rawBytes, into);
  } catch (error) {
    throw new CorruptionError(`${what}: ${messageOf(error)}`);
  }
  if (raw.length !== place.rawBytes) {
    throw new CorruptionError(`${what}: ${raw.length} bytes unpacked where ${place.rawBytes} are stored`);
  }
  return raw;
}
