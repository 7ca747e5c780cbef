/** Writes a whole chunk object from sorted rows that are all in memory, as a push has them. */

import type { Pace } from '../../base/model/steps.ts';
import type { Compression } from '../codec/compression.ts';
import { ChunkAssembler, type ChunkHead, type WrittenChunk } from './chunk-assembler.ts';
import type { ChunkIndexer } from './chunk-indexer.ts';
import type { ChunkRows } from './rows.ts';

export type { ChunkHead, WrittenChunk } from './chunk-assembler.ts';

interface WriteOptions {
  /** Time slices of the work. Default: none. */
  readonly pace?: Pace;
  /** Whether the chunk has its lines, which the caller releases. */
  readonly keepsLines?: boolean;
  /** Whether nothing else waits for this thread. It then compresses a chunk of one page itself. */
  readonly isAlone?: boolean;
  /** Raw bytes of the lines of a page. Default: PAGE_TARGET_BYTES. */
  readonly pageBytes?: number;
}

/** Compresses rows into an object. `compression` holds zstd parameters for the large blocks. */
export async function writeChunk(
  head: ChunkHead,
  input: ChunkRows,
  compression: Compression,
  indexer?: ChunkIndexer,
  { pace, keepsLines, isAlone, pageBytes }: WriteOptions = {},
): Promise<WrittenChunk> {
  const assembler = new ChunkAssembler(compression, indexer, pageBytes, pace);
  await assembler.add(input, { last: true, keepsLines, isAlone });
  return assembler.finish(head);
}
