/**
 * The filter section of a chunk object: for every page a Bloom filter of its facts, stored transposed.
 *
 *     header   version u32, pages u32, units u32,
 *              page*  (block bits u16, longest run u8, flags and thinning u8),
 *              unit*  (crc32 u32),
 *              crc32 of all before it u32
 *     partition*     the blocks of all pages for one partition, bit after bit, from a whole byte on
 *
 * All numbers are little endian. The ten highest bits of a fact name its partition. A page's filter has one block of
 * `block bits` in every partition, so one fact is looked up for all pages in one short range. Neighbouring partitions
 * form a unit, which is what is read and checksummed at once. A page of block bits 0 has no filter: it may hold anything.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { FILTER_VERSION } from './terms.ts';

// Looked up once: in a vm context, where tests run, each look at a global costs as much as a line.
const { imul } = Math;

export const partitionCount = 1024;
const partitionShift = 22;

/** Below this a unit is no cheaper to read, and its checksum weighs more. */
const minUnitBytes = 8 * 1024;
/** Pages of one object; the header of so many is 256 KiB. A chunk of 256 MB has about 2,000. */
export const maxFilteredPages = 65_536;
export const maxBlockBits = 0xffff;

/** What is true of some line of the page, one bit each. */
export const PageFlag = {
  /** Holds LATIN SMALL LETTER LONG S or KELVIN SIGN, which case folding takes for s and k. */
  wideFold: 1,
  /** Holds a backslash, so parsed values may differ from the line's bytes. */
  backslash: 2,
  /** Has a line of which a JSON parser may make labels that no fact of a value tells of. */
  jsonUnknown: 4,
  /** Likewise a logfmt parser. */
  logfmtUnknown: 8,
} as const;
const flagBits = 4;

const fixedHeaderBytes = 16;
const pageHeaderBytes = 4;
const crcBytes = 4;

export interface PageFacts {
  /** 0 where the page has no filter. */
  readonly blockBits: number;
  /** Longest run of letters and digits with a digit, bytes, at most 255. */
  readonly longestRun: number;
  readonly flags: number;
  readonly thinning: number;
}

export interface ByteRange {
  readonly offset: number;
  readonly bytes: number;
}

/** Everything but the bits: enough to say which ranges a question needs. Offsets are from the section's start. */
export interface FilterIndex {
  /** From 1 to FILTER_VERSION. */
  readonly version: number;
  readonly pages: readonly PageFacts[];
  /** Where each page's block starts in every partition, bits. */
  readonly blockStarts: Uint32Array;
  readonly partitionBytes: number;
  readonly units: number;
  readonly unitCrcs: Uint32Array;
  readonly headerBytes: number;
}

export function partitionOf(fact: number): number {
  return fact >>> partitionShift;
}

/** Places of the blocks of one partition, and the bytes of all. */
export function layOutBlocks(blockBits: readonly number[]): { starts: Uint32Array; bytes: number } {
  const starts = new Uint32Array(blockBits.length);
  let bits = 0;
  for (const [page, count] of blockBits.entries()) {
    starts[page] = bits;
    bits += count;
  }
  return { starts, bytes: Math.ceil(bits / 8) };
}

/** A power of two, so that units hold whole partitions, evenly many. */
export function unitsFor(partitionBytes: number): number {
  let units = partitionCount;
  while (units > 1 && (partitionCount / units) * partitionBytes < minUnitBytes) units /= 2;
  return units;
}

/** A first read of this many bytes holds the header whole, whatever its units. */
export function maxHeaderBytes(pages: number): number {
  return fixedHeaderBytes + pages * pageHeaderBytes + partitionCount * crcBytes;
}

/** Where the units of a section lie, without its header. */
export type UnitLayout = Pick<FilterIndex, 'version' | 'units' | 'partitionBytes' | 'headerBytes'>;

/**
 * The layout that a section of this size for so many pages has where it is of the newest version; undefined where none or
 * several fit. So units can be read beside the header, which then tells whether it was the right one.
 */
export function likelyLayout(pages: number, storedBytes: number): UnitLayout | undefined {
  const found: UnitLayout[] = [];
  for (let units = 1; units <= partitionCount; units *= 2) {
    const headerBytes = fixedHeaderBytes + pages * pageHeaderBytes + units * crcBytes;
    const partitionBytes = (storedBytes - headerBytes) / partitionCount;
    const fits =
      Number.isInteger(partitionBytes) && partitionBytes >= 0 && unitsFor(partitionBytes) === units;
    if (fits) found.push({ version: FILTER_VERSION, units, partitionBytes, headerBytes });
  }
  return found.length === 1 ? found[0] : undefined;
}

export function rangeOfUnit(index: UnitLayout, unit: number): ByteRange {
  const bytes = (partitionCount / index.units) * index.partitionBytes;
  return { offset: index.headerBytes + unit * bytes, bytes };
}

export function encodeHeader(pages: readonly PageFacts[], unitCrcs: readonly number[]): Buffer {
  const bytes = fixedHeaderBytes + pages.length * pageHeaderBytes + unitCrcs.length * crcBytes;
  const header = Buffer.alloc(bytes);
  let at = header.writeUInt32LE(FILTER_VERSION, 0);
  at = header.writeUInt32LE(pages.length, at);
  at = header.writeUInt32LE(unitCrcs.length, at);
  for (const { blockBits, longestRun, flags, thinning } of pages) {
    at = header.writeUInt16LE(blockBits, at);
    at = header.writeUInt8(longestRun, at);
    at = header.writeUInt8(flags | (thinning << flagBits), at);
  }
  for (const crc of unitCrcs) at = header.writeUInt32LE(crc, at);
  header.writeUInt32LE(crc32(header.subarray(0, at)), at);
  return header;
}

/**
 * Reads the header from the section's first bytes; more may follow. Throws CorruptionError where they do not say what a
 * header for `pages` pages must say.
 */
export function decodeHeader(start: Buffer, pages: number): FilterIndex {
  if (start.length < fixedHeaderBytes) throw broken(`${start.length} bytes are no header`);
  const version = start.readUInt32LE(0);
  if (version < 1 || version > FILTER_VERSION)
    throw broken(`version ${version} where those up to ${FILTER_VERSION} are known`);
  const found = start.readUInt32LE(4);
  if (found !== pages) throw broken(`${found} pages where the footer has ${pages}`);
  const units = start.readUInt32LE(8);
  const powerOfTwo = units > 0 && units <= partitionCount && (units & (units - 1)) === 0;
  if (!powerOfTwo) throw broken(`${units} units`);
  const headerBytes = fixedHeaderBytes + pages * pageHeaderBytes + units * crcBytes;
  if (start.length < headerBytes) throw broken(`${start.length} bytes where the header has ${headerBytes}`);
  const crcAt = headerBytes - crcBytes;
  const crc = crc32(start.subarray(0, crcAt));
  const stored = start.readUInt32LE(crcAt);
  if (crc !== stored) throw broken(`checksum ${crc} of the header where ${stored} is stored`);

  let at = fixedHeaderBytes - crcBytes;
  const facts: PageFacts[] = [];
  for (let page = 0; page < pages; page++, at += pageHeaderBytes) {
    const mixed = start.readUInt8(at + 3);
    facts.push({
      blockBits: start.readUInt16LE(at),
      longestRun: start.readUInt8(at + 2),
      flags: mixed & ((1 << flagBits) - 1),
      thinning: mixed >>> flagBits,
    });
  }
  const unitCrcs = Uint32Array.from({ length: units }, (_, unit) => start.readUInt32LE(at + unit * crcBytes));
  const { starts, bytes } = layOutBlocks(facts.map(page => page.blockBits));
  return { version, pages: facts, blockStarts: starts, partitionBytes: bytes, units, unitCrcs, headerBytes };
}

export function broken(detail: string): CorruptionError {
  return new CorruptionError(`text filter: ${detail}`);
}

/** Word that says where in its block a fact lies. The first two of its bits come from the halves of this one. */
export function firstPlaces(fact: number): number {
  let h = imul(fact ^ (fact >>> 16), 0x85ebca6b);
  h = imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/** Likewise for the third and fourth. */
export function laterPlaces(fact: number): number {
  let h = imul(fact ^ 0x68e31da4 ^ (fact >>> 15), 0x7feb352d);
  h = imul(h ^ (h >>> 15), 0x846ca68b);
  return h ^ (h >>> 16);
}

/** A half word to a place below `blockBits`, evenly. */
export function placeIn(halfWord: number, blockBits: number): number {
  return ((halfWord & 0xffff) * blockBits) >>> 16;
}

/** Copies `count` bits to a place that holds zeros, eight at a time; no place is a whole byte in general. */
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
