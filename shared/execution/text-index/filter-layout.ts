/**
 * Layout of the text index section of a chunk object: a Bloom filter of terms for every page, stored
 * transposed.
 *
 *     header   version u32, pages u32, units u32,
 *              page*  (block bits u16, longest run u8, flags and thinning u8),
 *              unit*  (crc32 u32),
 *              crc32 of all before it u32
 *     partition*     blocks of all pages for one partition, contiguous bits, padded to a whole byte
 *
 * All numbers are little endian. The ten highest bits of a term select its partition. A page's filter has one
 * block of `block bits` in every partition, so that one short range answers a lookup of one term in all
 * pages. Adjacent partitions form a unit, which is read and verified as a whole. A page with 0 block bits has
 * no filter: it may contain any term.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { FILTER_VERSION } from './terms.ts';

// Local copy: in a vm context, where tests run, each access to a global costs as much as a line.
const { imul } = Math;

export const PARTITION_COUNT = 1024;
const PARTITION_SHIFT = 22;

/** Minimum size of a unit. Smaller units are no cheaper to read, and their checksums add more. */
const MIN_UNIT_BYTES = 8 * 1024;
/** Maximum pages of one object, with a header of 256 KiB. A chunk of 256 MB has about 2,000. */
export const MAX_FILTERED_PAGES = 65_536;
export const MAX_BLOCK_BITS = 0xffff;

/** Properties of at least one line of the page, one bit each. */
export const PageFlag = {
  /** Contains LATIN SMALL LETTER LONG S or KELVIN SIGN, which case folding maps to s and k. */
  wideFold: 1,
  /** Contains a backslash, so parsed values may differ from the line's bytes. */
  backslash: 2,
  /** Has a line from which a JSON parser may derive labels that no value term records. */
  jsonUnknown: 4,
  /** Has a line from which a logfmt parser may derive such labels. */
  logfmtUnknown: 8,
} as const;
const FLAG_BITS = 4;

const FIXED_HEADER_BYTES = 16;
const PAGE_HEADER_BYTES = 4;
const CRC_BYTES = 4;

export interface PageHeader {
  /** Bits per block; 0 if the page has no filter. */
  readonly blockBits: number;
  /** Length of the longest run of letters and digits with a digit, bytes, at most 255. */
  readonly longestRun: number;
  readonly flags: number;
  readonly thinning: number;
}

interface ByteRange {
  readonly offset: number;
  readonly bytes: number;
}

/**
 * Section without the bits: enough to determine the ranges for a lookup. Offsets are from the section's
 * start.
 */
export interface FilterIndex {
  /** Version, 1 to FILTER_VERSION. */
  readonly version: number;
  readonly pages: readonly PageHeader[];
  /** Start of each page's block in every partition, bits. */
  readonly blockStarts: Uint32Array;
  readonly partitionBytes: number;
  readonly units: number;
  readonly unitCrcs: Uint32Array;
  readonly headerBytes: number;
}

export function partitionOf(term: number): number {
  return term >>> PARTITION_SHIFT;
}

/** Returns the starts of the blocks within one partition, and the partition's size. */
export function layOutBlocks(blockBits: readonly number[]): { starts: Uint32Array; bytes: number } {
  const starts = new Uint32Array(blockBits.length);
  let bits = 0;
  for (const [page, count] of blockBits.entries()) {
    starts[page] = bits;
    bits += count;
  }
  return { starts, bytes: Math.ceil(bits / 8) };
}

/** Returns a power of two, so that each unit contains the same whole number of partitions. */
export function unitsFor(partitionBytes: number): number {
  let units = PARTITION_COUNT;
  while (units > 1 && (PARTITION_COUNT / units) * partitionBytes < MIN_UNIT_BYTES) units /= 2;
  return units;
}

/** Returns the size of a first read that contains the whole header, for any number of units. */
export function maxHeaderBytes(pages: number): number {
  return FIXED_HEADER_BYTES + pages * PAGE_HEADER_BYTES + PARTITION_COUNT * CRC_BYTES;
}

/** Positions of the units of a section, without its header. */
export type UnitLayout = Pick<FilterIndex, 'version' | 'units' | 'partitionBytes' | 'headerBytes'>;

/**
 * Returns the layout of a section of this size with this many pages, if it has the latest version. Returns
 * undefined if none or several layouts fit. Units can thus be read in parallel with the header, which then
 * confirms the layout.
 */
export function likelyLayout(pages: number, storedBytes: number): UnitLayout | undefined {
  const found: UnitLayout[] = [];
  for (let units = 1; units <= PARTITION_COUNT; units *= 2) {
    const headerBytes = FIXED_HEADER_BYTES + pages * PAGE_HEADER_BYTES + units * CRC_BYTES;
    const partitionBytes = (storedBytes - headerBytes) / PARTITION_COUNT;
    const fits =
      Number.isInteger(partitionBytes) && partitionBytes >= 0 && unitsFor(partitionBytes) === units;
    if (fits) found.push({ version: FILTER_VERSION, units, partitionBytes, headerBytes });
  }
  return found.length === 1 ? found[0] : undefined;
}

export function rangeOfUnit(index: UnitLayout, unit: number): ByteRange {
  const bytes = (PARTITION_COUNT / index.units) * index.partitionBytes;
  return { offset: index.headerBytes + unit * bytes, bytes };
}

export function encodeHeader(pages: readonly PageHeader[], unitCrcs: readonly number[]): Buffer {
  const bytes = FIXED_HEADER_BYTES + pages.length * PAGE_HEADER_BYTES + unitCrcs.length * CRC_BYTES;
  const header = Buffer.alloc(bytes);
  let at = header.writeUInt32LE(FILTER_VERSION, 0);
  at = header.writeUInt32LE(pages.length, at);
  at = header.writeUInt32LE(unitCrcs.length, at);
  for (const { blockBits, longestRun, flags, thinning } of pages) {
    at = header.writeUInt16LE(blockBits, at);
    at = header.writeUInt8(longestRun, at);
    at = header.writeUInt8(flags | (thinning << FLAG_BITS), at);
  }
  for (const crc of unitCrcs) at = header.writeUInt32LE(crc, at);
  header.writeUInt32LE(crc32(header.subarray(0, at)), at);
  return header;
}

/**
 * Reads the header from the section's first bytes; more bytes may follow. Throws CorruptionError if they are
 * not a header for `pages` pages.
 */
export function decodeHeader(start: Buffer, pages: number): FilterIndex {
  if (start.length < FIXED_HEADER_BYTES) throw broken(`${start.length} bytes are too few for a header`);
  const version = start.readUInt32LE(0);
  if (version < 1 || version > FILTER_VERSION)
    throw broken(`version ${version} where those up to ${FILTER_VERSION} are known`);
  const found = start.readUInt32LE(4);
  if (found !== pages) throw broken(`${found} pages where the footer has ${pages}`);
  const units = start.readUInt32LE(8);
  const powerOfTwo = units > 0 && units <= PARTITION_COUNT && (units & (units - 1)) === 0;
  if (!powerOfTwo) throw broken(`${units} units`);
  const headerBytes = FIXED_HEADER_BYTES + pages * PAGE_HEADER_BYTES + units * CRC_BYTES;
  if (start.length < headerBytes) throw broken(`${start.length} bytes where the header has ${headerBytes}`);
  const crcAt = headerBytes - CRC_BYTES;
  const crc = crc32(start.subarray(0, crcAt));
  const stored = start.readUInt32LE(crcAt);
  if (crc !== stored) throw broken(`header checksum ${crc}, expected ${stored}`);

  let at = FIXED_HEADER_BYTES - CRC_BYTES;
  const terms: PageHeader[] = [];
  for (let page = 0; page < pages; page++, at += PAGE_HEADER_BYTES) {
    const mixed = start.readUInt8(at + 3);
    terms.push({
      blockBits: start.readUInt16LE(at),
      longestRun: start.readUInt8(at + 2),
      flags: mixed & ((1 << FLAG_BITS) - 1),
      thinning: mixed >>> FLAG_BITS,
    });
  }
  const unitCrcs = Uint32Array.from({ length: units }, (_, unit) =>
    start.readUInt32LE(at + unit * CRC_BYTES),
  );
  const { starts, bytes } = layOutBlocks(terms.map(page => page.blockBits));
  return { version, pages: terms, blockStarts: starts, partitionBytes: bytes, units, unitCrcs, headerBytes };
}

export function broken(detail: string): CorruptionError {
  return new CorruptionError(`text filter: ${detail}`);
}

/** Returns a word whose halves determine the first two bit positions of a term in its block. */
export function firstBits(term: number): number {
  let h = imul(term ^ (term >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Returns a word whose halves determine the third and fourth bit positions. */
export function laterBits(term: number): number {
  let h = imul(term ^ 0x68e31da4 ^ (term >>> 15), 0x7feb352d);
  h = imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/** Maps a half word evenly to a bit position below `blockBits`. */
export function bitIn(halfWord: number, blockBits: number): number {
  return ((halfWord & 0xffff) * blockBits) >>> 16;
}

/** Copies `count` bits to a zeroed target, eight at a time; positions are generally not whole bytes. */
export function copyBits(
  source: Uint8Array,
  from: number,
  target: Uint8Array,
  to: number,
  count: number,
): void {
  for (let done = 0; done < count; done += 8) {
    const at = from + done;
    const pair = source[at >>> 3] | ((source[(at >>> 3) + 1] ?? 0) << 8);
    const left = count - done;
    const bits = (pair >>> (at & 7)) & (left < 8 ? (1 << left) - 1 : 0xff);
    const into = to + done;
    const shifted = bits << (into & 7);
    target[into >>> 3] |= shifted;
    if (shifted > 0xff) target[(into >>> 3) + 1] |= shifted >>> 8;
  }
}
