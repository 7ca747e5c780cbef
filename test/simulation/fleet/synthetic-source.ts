/** Footers and text filters of a synthetic catalog: they take the time, the requests and the memory of real ones. */
import { crc32 } from 'node:zlib';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { type FilterIndex, PARTITION_COUNT } from '../../../shared/execution/text-index/filter-layout.ts';
import { unitsOf } from '../../../shared/execution/text-index/filter-reader.ts';
import type { PruningPredicate } from '../../../shared/execution/text-index/pruning-predicate.ts';
import { type ChunkFilter, ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import type { ChunkRecord, TextIndexPosition } from '../../../shared/storage/catalog/chunk-record.ts';
import type { Footer } from '../../../shared/storage/chunk/format.ts';
import { CHUNK, type Question } from './figures.ts';
import type { QueryFunction } from './query-function.ts';
import { footerOf, isLeft } from './synthetic-catalog.ts';

/** Bits of a page in a partition; a page without any "may hold anything". */
const BLOCK_BITS = 8;
/** Requests for the filter of a chunk of this size: its header, and the units with a needle's terms. */
export const FILTER_READS = 8;
export const FILTER_READ_BYTES = 12 * 1024;
const MIB = 1024 * 1024;

export class SyntheticSource extends ChunkSource {
  readonly #fn: QueryFunction;
  readonly #question: Question;

  constructor(fn: QueryFunction, question: Question) {
    super({ ...memoryObjectStore(), isDistant: true });
    this.#fn = fn;
    this.#question = question;
  }

  override async footer(record: ChunkRecord, wantsSections = false): Promise<Footer> {
    await this.#fn.readObject(record, record.footerBytes + (wantsSections ? MIB / 4 : 0));
    await this.#fn.work((record.lineBytes / 1e9) * CHUNK.footerCpuMsPerGb);
    this.#fn.hold(record.lineBytes * CHUNK.footerHeapShare);
    return footerOf(record);
  }

  override async filter(
    record: ChunkRecord,
    { pages }: TextIndexPosition,
    requirement: PruningPredicate,
  ): Promise<ChunkFilter> {
    await Promise.all(
      Array.from({ length: FILTER_READS }, () => this.#fn.readObject(record, FILTER_READ_BYTES)),
    );
    await this.#fn.work(1);
    const unit = Buffer.alloc(PARTITION_COUNT * pages);
    const index: FilterIndex = {
      version: 1,
      pages: Array.from({ length: pages }, (_, page) => {
        const blockBits = isLeft(record, page, this.#question) ? 0 : BLOCK_BITS;
        return { blockBits, longestRun: 255, flags: 0, thinning: 0 };
      }),
      blockStarts: Uint32Array.from({ length: pages }, (_, page) => page * BLOCK_BITS),
      partitionBytes: pages,
      units: 1,
      unitCrcs: Uint32Array.of(crc32(unit)),
      headerBytes: 0,
    };
    const wanted = unitsOf(index, requirement);
    return { index, units: async () => new Map(wanted.map(number => [number, unit])) };
  }
}
