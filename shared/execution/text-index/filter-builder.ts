/**
 * Builds the text index of one chunk object, page by page while pages are compressed. Only the finished bits
 * of a page are stored, about 1% of the size of its lines. `terms.ts` describes the recorded terms, and
 * `filter-layout.ts` the bytes.
 */
import { crc32 } from 'node:zlib';
import type { SplitLines } from '../../base/kernels/split-lines.ts';
import { termSetOfThread } from '../../base/kernels/term-set.ts';
import { invariant } from '../../base/model/errors.ts';
import type { LargeMetadata } from '../../storage/chunk/chunk-indexer.ts';
import type { PageFields } from '../../storage/columns/field-extractor.ts';
import {
  bitIn,
  copyBits,
  encodeHeader,
  firstBits,
  laterBits,
  layOutBlocks,
  MAX_BLOCK_BITS,
  MAX_FILTERED_PAGES,
  PARTITION_COUNT,
  PageFlag,
  type PageHeader,
  partitionOf,
  unitsFor,
} from './filter-layout.ts';
import { bitsOfTerm } from './terms.ts';
import { addFieldValues, addMetadataValues } from './value-terms.ts';

/**
 * Filter bits per set bit: 60% of the filter's bits are then set. Half of them, at 1.44, maximizes the
 * information per bit, but only by 2.5%.
 */
const BITS_PER_SET_BIT = 1.1;
/** Default maximum share of the raw bytes of a page's lines; stored lines are 13 to 16% of raw ones. */
const MAX_SHARE_OF_LINES = 1 / 54;
/** Maximum share of the bytes of recorded metadata values. These are IDs, which do not compress. */
const MAX_SHARE_OF_METADATA = 1 / 16;
const MAX_RUN_LENGTH = 0xff;

const LONG_S = Buffer.from('\u017f');
const KELVIN = Buffer.from('\u212a');
const BACKSLASH = 0x5c;

export interface BuiltPage extends PageHeader {
  /** Bits of `PARTITION_COUNT` consecutive blocks. */
  readonly bits: Uint8Array;
}

interface PageExtras {
  /** Members of all valid lines; without them, the index cannot be queried for field values. */
  readonly fields?: PageFields;
  /** All metadata whose values the footer does not list. */
  readonly metadata?: readonly LargeMetadata[];
  /** Templates and columns of the same lines, from which their terms are found with less CPU time. */
  readonly split?: SplitLines | undefined;
  /** Maximum bytes of the page's filter. */
  readonly maxBytes?: number;
}

export class FilterBuilder {
  readonly #pages: BuiltPage[] = [];

  /**
   * Records the next page: `rows` lines in one buffer, line i between offsets i and i + 1. The filter has
   * `BITS_PER_SET_BIT`, up to `maxBytes`. A smaller filter has more false positives and remains correct.
   */
  addPage(lines: Buffer, lineOffsets: Uint32Array, rows: number, extras: PageExtras = {}): void {
    const { fields, metadata = [], split } = extras;
    invariant(this.#pages.length < MAX_FILTERED_PAGES, 'a chunk has at most 65,536 pages');
    let found = split?.termsOfLines();
    if (found === undefined) {
      found = termSetOfThread();
      found.clear();
      found.addLines(lines, lineOffsets, rows);
    }
    const used = lines.subarray(lineOffsets[0], lineOffsets[rows]);
    let flags = 0;
    if (used.includes(LONG_S) || used.includes(KELVIN)) flags |= PageFlag.wideFold;
    if (used.includes(BACKSLASH)) flags |= PageFlag.backslash;
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
    const maxBytes =
      extras.maxBytes ?? used.length * MAX_SHARE_OF_LINES + metadataBytes * MAX_SHARE_OF_METADATA;
    const blockBits = found.overflowed ? 0 : blockBitsFor(setCountOf(terms), maxBytes);
    const longestRun = Math.min(found.longestRun, MAX_RUN_LENGTH);
    this.#pages.push({ blockBits, longestRun, flags, thinning, bits: setBits(terms, blockBits) });
  }

  /** Adds the next page with bits from another object (stored-filter.ts). */
  addBuilt(page: BuiltPage): void {
    invariant(this.#pages.length < MAX_FILTERED_PAGES, 'a chunk has at most 65,536 pages');
    this.#pages.push(page);
  }

  /** Returns the section. Do not use the builder afterward. */
  finish(): Buffer {
    const pages = this.#pages;
    const { starts, bytes } = layOutBlocks(pages.map(page => page.blockBits));
    const partitions = Buffer.alloc(PARTITION_COUNT * bytes);
    for (const [page, { blockBits, bits }] of pages.entries()) {
      for (let partition = 0; partition < PARTITION_COUNT; partition++) {
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

function setCountOf(terms: Uint32Array): number {
  let count = 0;
  for (let i = 0; i < terms.length; i++) count += bitsOfTerm(terms[i]);
  return count;
}

function blockBitsFor(setCount: number, maxBytes: number): number {
  const wanted = Math.min(setCount * BITS_PER_SET_BIT, maxBytes * 8);
  return Math.min(MAX_BLOCK_BITS, Math.max(1, Math.round(wanted / PARTITION_COUNT)));
}

function setBits(terms: Uint32Array, blockBits: number): Uint8Array {
  const bits = new Uint8Array((PARTITION_COUNT * blockBits) / 8);
  if (blockBits === 0) return bits;
  for (let i = 0; i < terms.length; i++) {
    const term = terms[i];
    const block = partitionOf(term) * blockBits;
    const count = bitsOfTerm(term);
    const first = firstBits(term);
    setBit(bits, block + bitIn(first, blockBits));
    if (count > 1) setBit(bits, block + bitIn(first >>> 16, blockBits));
    if (count > 2) {
      const later = laterBits(term);
      setBit(bits, block + bitIn(later, blockBits));
      if (count > 3) setBit(bits, block + bitIn(later >>> 16, blockBits));
    }
  }
  return bits;
}

function setBit(bits: Uint8Array, at: number): void {
  bits[at >>> 3] |= 1 << (at & 7);
}
