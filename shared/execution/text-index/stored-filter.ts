/**
 * The filter section of an object, page by page: for an object that is made from it and has most of its pages unchanged. What a
 * page's filter holds does not depend on other pages, only where its bits lie does.
 */
import { crc32 } from 'node:zlib';
import type { BuiltPage } from './filter-builder.ts';
import {
  broken,
  copyBits,
  decodeHeader,
  type FilterIndex,
  partitionCount,
  rangeOfUnit,
} from './filter-layout.ts';
import { FILTER_VERSION } from './terms.ts';

export class StoredFilter {
  readonly #index: FilterIndex;
  readonly #partitions: Buffer;

  /**
   * Looks at all checksums. Throws CorruptionError, also where the section is of another version than is written now: facts of
   * two versions do not lie in one section.
   *
   * @param pages how many the object has
   */
  constructor(section: Buffer, pages: number) {
    const index = decodeHeader(section, pages);
    if (index.version !== FILTER_VERSION) throw broken(`version ${index.version}, not ${FILTER_VERSION}`);
    const { headerBytes, partitionBytes, units, unitCrcs } = index;
    const expected = headerBytes + partitionCount * partitionBytes;
    if (section.length !== expected) throw broken(`${section.length} bytes where ${expected} belong`);
    for (let unit = 0; unit < units; unit++) {
      const { offset, bytes } = rangeOfUnit(index, unit);
      if (crc32(section.subarray(offset, offset + bytes)) !== unitCrcs[unit])
        throw broken(`checksum of unit ${unit}`);
    }
    this.#index = index;
    this.#partitions = section.subarray(headerBytes);
  }

  /** Of the page in that place of the object, as a builder takes it. */
  page(place: number): BuiltPage {
    const { pages, blockStarts, partitionBytes } = this.#index;
    const facts = pages[place];
    const { blockBits } = facts;
    const bits = new Uint8Array((partitionCount * blockBits) / 8);
    for (let partition = 0; partition < partitionCount; partition++) {
      const from = partition * partitionBytes * 8 + blockStarts[place];
      copyBits(this.#partitions, from, bits, partition * blockBits, blockBits);
    }
    return { ...facts, bits };
  }
}
