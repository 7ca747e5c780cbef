/**
 * Builds the filter section of one chunk object, page by page as they are packed: only the finished bits of a page are
 * kept, about 1% of its lines. See `facts.ts` for what is recorded and `filter-layout.ts` for the bytes.
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../model/errors.ts';
import { FactSet } from './fact-set.ts';
import { bitsOfFact } from './facts.ts';
import {
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
import { scanLines } from './scan-facts.ts';

/** A page of 1 MiB of JSON with two ids a line has 45,000; more are thinned out (fact-set.ts). */
const maxPageFacts = 65_536;
/** Half the bits of a filter are set when it has 1/ln 2 bits for each that its facts set: where a bit tells most. */
const bitsPerSetBit = 1.44;
/** Of the raw bytes of a page's lines, where the caller names no limit: stored lines are 13-16% of raw ones. */
const maxShareOfLines = 1 / 60;
const maxRunLength = 0xff;

const longS = Buffer.from('\u017f');
const kelvin = Buffer.from('\u212a');
const backslash = 0x5c;

interface BuiltPage extends PageFacts {
  /** `partitionCount` blocks, bit after bit. */
  readonly bits: Uint8Array;
}

export function newFactRoom(): FactSet {
  return new FactSet(maxPageFacts);
}

export class FilterBuilder {
  readonly #pages: BuiltPage[] = [];
  readonly #found: FactSet;

  /** `found` is room to work in, 0.8 MB; one may serve many builders, since each page clears it. */
  constructor(found = newFactRoom()) {
    this.#found = found;
  }

  /**
   * Records the next page: `rows` lines in one buffer, line i between offsets i and i + 1. Its filter takes what half-set
   * bits need, at most `maxBytes`; with less room it lets more pages pass and stays right.
   */
  addPage(lines: Buffer, lineOffsets: Uint32Array, rows: number, maxBytes?: number): void {
    invariant(this.#pages.length < maxFilteredPages, 'a chunk has at most 65,536 pages');
    const found = this.#found;
    found.clear();
    scanLines(lines, lineOffsets, rows, found);
    const used = lines.subarray(lineOffsets[0], lineOffsets[rows]);
    let flags = 0;
    if (used.includes(longS) || used.includes(kelvin)) flags |= PageFlag.wideFold;
    if (used.includes(backslash)) flags |= PageFlag.backslash;
    const { facts, thinning } = found;
    const blockBits = found.overflowed
      ? 0
      : blockBitsFor(setCountOf(facts), maxBytes ?? used.length * maxShareOfLines);
    const longestRun = Math.min(found.longestRun, maxRunLength);
    this.#pages.push({ blockBits, longestRun, flags, thinning, bits: setBits(facts, blockBits) });
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
  for (let i = 0; i < facts.length; i++) count += bitsOfFact(facts[i]);
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
    const count = bitsOfFact(fact);
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

/** Copies `count` bits to a place that holds zeros, eight at a time; no place is a whole byte in general. */
function copyBits(source: Uint8Array, from: number, target: Uint8Array, to: number, count: number): void {
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
