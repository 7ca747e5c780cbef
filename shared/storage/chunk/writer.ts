/** Sorted rows to a whole chunk object, where they are all at hand: what a push writes. */

import type { Pace } from '../../base/model/steps.ts';
import type { Compression } from '../codec/compression.ts';
import { ChunkAssembler, type ChunkHead, type WrittenChunk } from './chunk-assembler.ts';
import type { ChunkIndexer } from './chunk-indexer.ts';
import { PAGE_TARGET_BYTES } from './format.ts';
import type { ChunkRows } from './rows.ts';

export type { ChunkHead, WrittenChunk } from './chunk-assembler.ts';

/** Packs rows into an object. `compression` holds zstd parameters for the large blocks; with `pace` in its time slices. */
export async function writeChunk(
  head: ChunkHead,
  input: ChunkRows,
  compression: Compression,
  enricher?: ChunkIndexer,
  pace?: Pace,
): Promise<WrittenChunk> {
  const assembler = new ChunkAssembler(compression, enricher, PAGE_TARGET_BYTES, pace);
  await assembler.add(input, { last: true });
  return assembler.finish(head);
}
