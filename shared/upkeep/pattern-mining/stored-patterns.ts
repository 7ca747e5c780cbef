/** Reads the stored patterns of chunks, and keeps them decompressed in a bounded cache. */

import { CorruptionError } from '../../base/model/errors.ts';
import { LruCache } from '../../base/model/lru.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { type Footer, SectionKind } from '../../storage/chunk/format.ts';
import { borrowBlock } from '../../storage/codec/compression.ts';
import { CACHED_SECTION_BYTES } from './bounds.ts';
import { checkParts, decodeSection, type PatternSection } from './section-codec.ts';

/**
 * `undefined` if the chunk has none that this program can read. Throws the errors of the store, and
 * CorruptionError.
 */
export async function readPatterns(
  store: ObjectStore,
  record: ChunkRecord,
  { sections, pages }: Pick<Footer, 'sections' | 'pages'>,
): Promise<PatternSection | undefined> {
  const section = sections.find(({ kind }) => kind === SectionKind.patterns);
  if (section === undefined) return undefined;
  const { block } = section;
  const what = `${nameOfChunk(record)}: patterns`;
  const stored = await readChunk(store, record, block.offset, block.offset + block.storedBytes);
  const decoded = decodeSection(borrowBlock(stored, block, what), what);
  if (decoded !== undefined) checkParts(decoded, pages, what);
  return decoded;
}

export class StoredPatterns {
  readonly #store: ObjectStore;
  readonly #known = new LruCache<string, PatternSection>(CACHED_SECTION_BYTES);

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /**
   * Same as readPatterns, but treats broken patterns as missing. They are derived data, and lines are mined
   * instead.
   */
  async of(record: ChunkRecord, footer: Footer): Promise<PatternSection | undefined> {
    const key = `${record.tenant}/${record.id}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    try {
      const section = await readPatterns(this.#store, record, footer);
      if (section !== undefined) this.#known.set(key, section, section.bytes);
      return section;
    } catch (error) {
      if (error instanceof CorruptionError) return undefined;
      throw error;
    }
  }
}
