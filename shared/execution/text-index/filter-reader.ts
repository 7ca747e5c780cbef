/**
 * Determines which pages of an object may contain a line that satisfies a pruning predicate. The caller
 * reads: `unitsOf` returns the needed byte ranges, the caller loads them (one GET each, in parallel, or from
 * a cache) and gets a bitmap.
 *
 *     const index = decodeHeader(await read(0, maxHeaderBytes(pages)), pages);   // cached with the footer
 *     const units = unitsOf(index, predicate);
 *     const loaded = new Map(await Promise.all(units.map(async unit => [unit, await read(rangeOfUnit(index, unit))])));
 *     const mayMatch = probePages(index, predicate, loaded);
 *
 * Pitfall: a clear bit is a proof, a set bit is not. Everything unknown (a page without filter, a thinned
 * term, a page with an exceptional flag) counts as present.
 */
import { crc32 } from 'node:zlib';
import { invariant } from '../../base/model/errors.ts';
import {
  bitIn,
  broken,
  type FilterIndex,
  firstBits,
  laterBits,
  PARTITION_COUNT,
  partitionOf,
  rangeOfUnit,
  type UnitLayout,
} from './filter-layout.ts';
import type { NeedlePredicate, PruningPredicate } from './pruning-predicate.ts';
import { bitsIn, isRecorded, termIn } from './terms.ts';

/** Maximum run length that a page header can store. */
const MAX_STORED_RUN = 0xff;

/**
 * Returns the units of the predicate's terms, ascending. Empty if nothing can be pruned, or if the header is
 * enough.
 */
export function unitsOf(index: UnitLayout, predicate: PruningPredicate): number[] {
  const units = new Set<number>();
  collectUnits(index, predicate, units);
  return [...units].sort((a, b) => a - b);
}

function collectUnits(index: UnitLayout, predicate: PruningPredicate, units: Set<number>): void {
  switch (predicate.kind) {
    case 'needle':
      if (index.version < predicate.since) return;
      for (const term of predicate.terms) units.add(unitOf(index, term));
      return;
    case 'all':
    case 'any':
      for (const part of predicate.of) collectUnits(index, part, units);
  }
}

function unitOf(index: UnitLayout, term: number): number {
  return Math.floor(partitionOf(term) / (PARTITION_COUNT / index.units));
}

/**
 * Returns for each page 1 if it may contain a line that satisfies the predicate, else 0. `units` contains the
 * bytes of all `unitsOf`. Throws CorruptionError if a unit's checksum differs.
 */
export function probePages(
  index: FilterIndex,
  predicate: PruningPredicate,
  units: ReadonlyMap<number, Buffer>,
): Uint8Array {
  for (const unit of unitsOf(index, predicate)) checkUnit(index, unit, units.get(unit));
  return probe(index.pages.length, predicate, needle => probeNeedle(index, needle, units));
}

/**
 * Evaluates the predicate without a text index, from other information: returns for each of `pages` pages 1
 * if it may contain such a line.
 */
export function withoutFilter(predicate: PruningPredicate, pages: number): Uint8Array {
  return probe(pages, predicate, () => new Uint8Array(pages).fill(1));
}

function checkUnit(index: FilterIndex, unit: number, bytes: Buffer | undefined): void {
  invariant(bytes !== undefined, 'a filter probe gets every unit that it named');
  const expected = rangeOfUnit(index, unit).bytes;
  if (bytes.length !== expected) throw broken(`unit ${unit} has ${bytes.length} bytes, not ${expected}`);
  const crc = crc32(bytes);
  const stored = index.unitCrcs[unit];
  if (crc !== stored) throw broken(`checksum ${crc} of unit ${unit}, expected ${stored}`);
}

function probe(
  pageCount: number,
  predicate: PruningPredicate,
  ofNeedle: (needle: NeedlePredicate) => Uint8Array,
): Uint8Array {
  switch (predicate.kind) {
    case 'anything':
      return new Uint8Array(pageCount).fill(1);
    case 'nothing':
      return new Uint8Array(pageCount);
    case 'pages':
      invariant(predicate.mayMatch.length === pageCount, 'a predicate is about the chunk it is asked of');
      return predicate.mayMatch.slice();
    case 'needle':
      return ofNeedle(predicate);
    case 'all': {
      const result = new Uint8Array(pageCount).fill(1);
      for (const part of predicate.of) {
        const pages = probe(pageCount, part, ofNeedle);
        for (let page = 0; page < result.length; page++) result[page] &= pages[page];
      }
      return result;
    }
    case 'any': {
      const result = new Uint8Array(pageCount);
      for (const part of predicate.of) {
        const pages = probe(pageCount, part, ofNeedle);
        for (let page = 0; page < result.length; page++) result[page] |= pages[page];
      }
      return result;
    }
  }
}

function probeNeedle(
  index: FilterIndex,
  { terms, longestRun, exceptFlags, since }: NeedlePredicate,
  units: ReadonlyMap<number, Buffer>,
): Uint8Array {
  const result = new Uint8Array(index.pages.length).fill(1);
  if (index.version < since) return result;
  const run = Math.min(longestRun, MAX_STORED_RUN);
  for (let page = 0; page < result.length; page++) if (index.pages[page].longestRun < run) result[page] = 0;
  for (const term of terms) clearPagesWithout(index, term, units, result);
  if (exceptFlags === 0) return result;
  for (let page = 0; page < result.length; page++)
    if ((index.pages[page].flags & exceptFlags) !== 0) result[page] = 1;
  return result;
}

function clearPagesWithout(
  index: FilterIndex,
  wanted: number,
  units: ReadonlyMap<number, Buffer>,
  result: Uint8Array,
): void {
  const { version, pages, blockStarts, partitionBytes, units: unitCount } = index;
  const term = termIn(version, wanted);
  if (term === undefined) return;
  const perUnit = PARTITION_COUNT / unitCount;
  const bytes = units.get(unitOf(index, term))!;
  const partition = (partitionOf(term) % perUnit) * partitionBytes * 8;
  const count = bitsIn(version, term);
  const first = firstBits(term);
  const later = laterBits(term);
  for (let page = 0; page < result.length; page++) {
    const { blockBits, thinning } = pages[page];
    if (result[page] === 0 || blockBits === 0 || !isRecorded(term, thinning)) continue;
    const block = partition + blockStarts[page];
    const holds =
      hasBit(bytes, block + bitIn(first, blockBits)) &&
      (count < 2 || hasBit(bytes, block + bitIn(first >>> 16, blockBits))) &&
      (count < 3 || hasBit(bytes, block + bitIn(later, blockBits))) &&
      (count < 4 || hasBit(bytes, block + bitIn(later >>> 16, blockBits)));
    if (!holds) result[page] = 0;
  }
}

/** `at` may exceed 2^31: a unit of 65,536 pages has up to 2^32 bits. */
function hasBit(bytes: Uint8Array, at: number): boolean {
  return ((bytes[Math.floor(at / 8)] >>> (at % 8)) & 1) === 1;
}
