/**
 * Reads the text index of an object page by page, for an object that copies most of its pages. The content of
 * a page's filter does not depend on other pages; only the position of its bits does.
 */
import { crc32 } from 'node:zlib';
import type { BuiltPage } from './filter-builder.ts';
import {
  broken,
  copyBits,
  decodeHeader,
  type FilterIndex,
  PARTITION_COUNT,
  rangeOfUnit,
} from './filter-layout.ts';
import { FILTER_VERSION } from './terms.ts';

export class StoredFilter {
  readonly #index: FilterIndex;
  readonly #partitions: Buffer;

  /**
   * Verifies all checksums. Returns undefined if the section does not have the latest version, because a section
   * has terms of one version. Throws CorruptionError.
   *
   * @param pages Number of pages of the object
   */
  static of(section: Buffer, pages: number): StoredFilter | undefined {
    const index = decodeHeader(section, pages);
    return index.version === FILTER_VERSION ? new StoredFilter(section, index) : undefined;
  }

  private constructor(section: Buffer, index: FilterIndex) {
    const { headerBytes, partitionBytes, units, unitCrcs } = index;
    const expected = headerBytes + PARTITION_COUNT * partitionBytes;
    if (section.length !== expected) throw broken(`${section.length} bytes, expected ${expected}`);
    for (let unit = 0; unit < units; unit++) {
      const { offset, bytes } = rangeOfUnit(index, unit);
      if (crc32(section.subarray(offset, offset + bytes)) !== unitCrcs[unit])
        throw broken(`checksum of unit ${unit}`);
    }
    this.#index = index;
    this.#partitions = section.subarray(headerBytes);
  }

  /** Returns a page by index, in the form that a builder accepts. */
  page(index: number): BuiltPage {
    const { pages, blockStarts, partitionBytes } = this.#index;
    const terms = pages[index];
    const { blockBits } = terms;
    const bits = new Uint8Array((PARTITION_COUNT * blockBits) / 8);
    for (let partition = 0; partition < PARTITION_COUNT; partition++) {
      const from = partition * partitionBytes * 8 + blockStarts[index];
      copyBits(this.#partitions, from, bits, partition * blockBits, blockBits);
    }
    return { ...terms, bits };
  }
}
