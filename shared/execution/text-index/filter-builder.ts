/**
 * Builds the filter section of one chunk object, page by page as they are packed: only the finished bits of a page are
 * kept, about 1% of its lines. See `facts.ts` for what is recorded and `filter-layout.ts` for the bytes.
 */
import { crc32 } from 'node:zlib';
import { termSetOfThread } from '../../base/kernels/term-set.ts';
import { invariant } from '../../base/model/errors.ts';
import type { LargeMetadata } from '../../storage/chunk/chunk-indexer.ts';
import type { PageFields } from '../../storage/columns/field-extractor.ts';
import {
  copyBits,
  encodeHeader,
  firstPlaces,
  laterPlaces,
  layOutBlocks,
  maxBlockBits,
  maxFilteredPages,
  type PageFacts,
  PageFlag,
  partitionCount,
  partitionOf,
  placeIn,
  unitsFor,
} from './filter-layout.ts';
import { bitsOfTerm } from './terms.ts';
import { addFieldValues, addMetadataValues } from './value-terms.ts';

/** Half the bits of a filter are set when it has 1/ln 2 bits for each that its facts set: where a bit tells most. */
const bitsPerSetBit = 1.44;
/** Of the raw bytes of a page's lines, where the caller names no limit: stored lines are 13-16% of raw ones. */
const maxShareOfLines = 1 / 54;
/** Of the bytes of metadata values that are recorded: of ids, which do not compress. */
const maxShareOfMetadata = 1 / 16;
const maxRunLength = 0xff;

const longS = Buffer.from('\u017f');
const kelvin = Buffer.from('\u212a');
const backslash = 0x5c;

export interface BuiltPage extends PageFacts {
  /** `partitionCount` blocks, bit after bit. */
  readonly bits: Uint8Array;
}

export interface PageExtras {
  /** The members of all sound lines; without them the page cannot be told by values of fields. */
  readonly fields?: PageFields;
  /** Metadata whose values the footer does not list, all of it. */
  readonly metadata?: readonly LargeMetadata[];
  /** Most bytes of the page's filter. */
  readonly maxBytes?: number;
}

export class FilterBuilder {
  readonly #pages: BuiltPage[] = [];

  /**
   * Records the next page: `rows` lines in one buffer, line i between offsets i and i + 1. Its filter takes what half-set
   * bits need, at most `maxBytes`; with less room it lets more pages pass and stays right.
   */
  addPage(lines: Buffer, lineOffsets: Uint32Array, rows: number, extras: PageExtras = {}): void {
    const { fields, metadata = [] } = extras;
    invariant(this.#pages.length < maxFilteredPages, 'a chunk has at most 65,536 pages');
    const found = termSetOfThread();
    found.clear();
    found.addLines(lines, lineOffsets, rows);
    const used = lines.subarray(lineOffsets[0], lineOffsets[rows]);
    let flags = 0;
    if (used.includes(longS) || used.includes(kelvin)) flags |= PageFlag.wideFold;
    if (used.includes(backslash)) flags |= PageFlag.backslash;
    flags |=
      fields === undefined
        ? PageFlag.jsonUnknown | PageFlag.logfmtUnknown
        : addFieldValues(fields, lineOffsets, found);
    let metadataBytes = 0;
    for (const { name, values } of metadata) {
      addMetadataValues(name, values, found);
      for (const value of values) metadataBytes += value.length;
    }
    const { terms, thinning } = found;
    const maxBytes = extras.maxBytes ?? used.length * maxShareOfLines + metadataBytes * maxShareOfMetadata;
    const blockBits = found.overflowed ? 0 : blockBitsFor(setCountOf(terms), maxBytes);
    const longestRun = Math.min(found.longestRun, maxRunLength);
    this.#pages.push({ blockBits, longestRun, flags, thinning, bits: setBits(terms, blockBits) });
  }

  /** Records the next page as another object has it (stored-filter.ts). */
  addBuilt(page: BuiltPage): void {
    invariant(this.#pages.length < maxFilteredPages, 'a chunk has at most 65,536 pages');
    this.#pages.push(page);
  }

  /** The section. The builder may not be used afterwards. */
  finish(): Buffer {
    const pages = this.#pages;
    const { starts, bytes } = layOutBlocks(pages.map(page => page.blockBits));
    const partitions = Buffer.alloc(partitionCount * bytes);
    for (const [page, { blockBits, bits }] of pages.entries()) {
      for (let partition = 0; partition < partitionCount; partition++) {
        copyBits(bits, partition * blockBits, partitions, partition * bytes * 8 + starts[page], blockBits);
      }
    }
    const units = unitsFor(bytes);
    const unitBytes = partitions.length / units;
    const crcs = Array.from({ length: units }, (_, unit) =>
      crc32(partitions.subarray(unit * unitBytes, (unit + 1) * unitBytes)),
    );
    return Buffer.concat([encodeHeader(pages, crcs), partitions]);
  }
}

function setCountOf(facts: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < facts.length; i++) count += bitsOfTerm(facts[i]);
  return count;
}

function blockBitsFor(setCount: number, maxBytes: number): number {
  const wanted = Math.min(setCount * bitsPerSetBit, maxBytes * 8);
  return Math.min(maxBlockBits, Math.max(1, Math.round(wanted / partitionCount)));
}

function setBits(facts: Uint32Array, blockBits: number): Uint8Array {
  const bits = new Uint8Array((partitionCount * blockBits) / 8);
  if (blockBits === 0) return bits;
  for (let i = 0; i < facts.length; i++) {
    const fact = facts[i];
    const block = partitionOf(fact) * blockBits;
    const count = bitsOfTerm(fact);
    const first = firstPlaces(fact);
    setBit(bits, block + placeIn(first, blockBits));
    if (count > 1) setBit(bits, block + placeIn(first >>> 16, blockBits));
    if (count > 2) {
      const later = laterPlaces(fact);
      setBit(bits, block + placeIn(later, blockBits));
      if (count > 3) setBit(bits, block + placeIn(later >>> 16, blockBits));
    }
  }
  return bits;
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >>> 3] |= 1 << (at & 7);
}
