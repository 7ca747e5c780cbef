/**
 * Replaces one large chunk with a copy without the rows to remove. Pages without such a row are copied, so
 * the cost is that of reading the chunk, and of encoding only the changed pages.
 */

import type { ObjectStore } from '../../base/ports/object-store.ts';
import { newChunkId } from '../../storage/catalog/chunk-id.ts';
import { nameOfChunk, readChunk, readFooter, storeChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer } from '../../storage/chunk/format.ts';
import { loadBlock } from '../../storage/codec/compression.ts';
import { chunkEnrichers } from '../indexing/index-chunk.ts';
import { readStoredExtras, type StoredExtras } from '../indexing/stored-extras.ts';
import { withPatchedPatterns } from '../pattern-mining/pattern-indexer.ts';
import { readPatterns } from '../pattern-mining/stored-patterns.ts';
import { type ChunksToMerge, type MergedChunks, type MergeParts, publish } from './merge-and-swap.ts';
import { PACKING } from './packing.ts';
import { rewriteChunk } from './rewrite-chunk.ts';
import { marksOf } from './row-drops.ts';

interface ChunkToRewrite
  extends Pick<ChunksToMerge, 'tenant' | 'snapshot' | 'lease' | 'drops' | 'signal' | 'hold'> {
  readonly record: ChunkRecord;
}

interface RewrittenChunk extends MergedChunks {
  /** Pages of the new object, and stored bytes of copied and encoded pages. */
  readonly pagesCopied: number;
  readonly pagesPacked: number;
  readonly copiedBytes: number;
  readonly packedBytes: number;
}

/**
 * - `whole`: the chunk lacks what its size requires, or has it in another version, so it must be encoded
 *   again as a whole.
 * - `clean`: no row is removed.
 *
 * Throws what the stores, `hold` and swapChunks throw, and CorruptionError.
 */
export async function rewriteAndSwap(
  parts: MergeParts,
  given: ChunkToRewrite,
): Promise<RewrittenChunk | 'whole' | 'clean'> {
  const { store, clock, ids, options } = parts;
  const { packing = PACKING } = options;
  const { record, drops, signal, hold } = given;
  const footer = await readFooter(store, record);
  const mask = drops.of(record);
  if (mask === undefined) return 'clean';
  const isEnriched = footer.lineBytes >= packing.enrichedFromBytes;
  const extras = isEnriched ? await extrasOf(store, record, footer) : undefined;
  if (isEnriched && extras === undefined) return 'whole';
  const patterns = options.minesPatterns === true ? await readPatterns(store, record, footer) : undefined;
  const { storedBytes } = record;
  const { chunk, dropped } = await rewriteChunk(
    { footer, storedBytes, read: (start, end) => readChunk(store, record, start, end) },
    {
      id: newChunkId(clock, ids),
      createdMs: drops.asOfMs,
      enricher: extras && withPatchedPatterns(chunkEnrichers(packing.enrichedFromBytes)(extras), patterns),
      pageBytes: packing.pageBytes,
      mayTouch: stream => mask.mayTouch(stream),
      dropRows: page => marksOf(mask, page),
      pause: async () => {
        await hold();
        signal.throwIfAborted();
      },
    },
  );
  if (dropped === 0) return 'clean';
  const added = chunk === undefined ? [] : [await storeChunk(store, chunk, options.inlineMaxBytes)];
  const outcome = { inputs: [record], added, duplicates: 0, dropped, mayDrop: true };
  const merged = await publish(parts, given, [outcome]);
  const pages = { pagesCopied: 0, pagesPacked: 0, copiedBytes: 0, packedBytes: 0 };
  for (const [place, page] of (chunk?.footer.pages ?? []).entries()) {
    if (chunk!.copied[place]) {
      pages.pagesCopied++;
      pages.copiedBytes += page.storedBytes;
    } else {
      pages.pagesPacked++;
      pages.packedBytes += page.storedBytes;
    }
  }
  return { ...merged, ...pages };
}

function extrasOf(
  store: ObjectStore,
  record: ChunkRecord,
  { sections, pages }: Footer,
): Promise<StoredExtras | undefined> {
  const load = async (kind: number) => {
    const section = sections.find(one => one.kind === kind);
    if (section === undefined) return undefined;
    const { place } = section;
    const stored = await readChunk(store, record, place.offset, place.offset + place.storedBytes);
    return loadBlock(stored, place, `${nameOfChunk(record)}: section of kind ${kind}`);
  };
  return readStoredExtras(load, pages.length);
}
