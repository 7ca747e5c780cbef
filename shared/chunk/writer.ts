/** Sorted rows to a whole chunk object, where they are all at hand: what a push writes. */
import { ChunkAssembler, type ChunkHead, type WrittenChunk } from './chunk-assembler.ts';
import type { Compression } from './compression.ts';
import type { ChunkEnricher } from './enricher.ts';
import type { ChunkRows } from './rows.ts';

export type { ChunkHead, WrittenChunk } from './chunk-assembler.ts';

/** Packs rows into an object. `compression` holds zstd parameters for the large blocks. */
export async function writeChunk(
  head: ChunkHead,
  input: ChunkRows,
  compression: Compression,
  enricher?: ChunkEnricher,
): Promise<WrittenChunk> {
  const assembler = new ChunkAssembler(compression, enricher);
  await assembler.add(input, { last: true });
  return assembler.finish(head);
}
