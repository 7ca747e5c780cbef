/**
 * Rewrites chunks of a day and replaces the old ones: shared by compaction, deletion and retention. The
 * output omits the deleted rows of each input, and records which delete requests were applied.
 */

import type { ChunkRowFilter } from '../../base/model/chunk-row-filter.ts';
import { INVARIANTS, mustHold } from '../../base/model/invariants.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { writerOf } from '../../base/ports/object-writer.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import { newChunkId } from '../../storage/catalog/chunk-id.ts';
import { storeWritten } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import type { Lease } from '../../storage/catalog/leases.ts';
import { ALL_STREAMS } from '../../storage/catalog/stream-part.ts';
import { asAddedTo } from '../../storage/catalog/swap.ts';
import type { ChunkIndexer } from '../../storage/chunk/chunk-indexer.ts';
import { PUSH_COMPRESSION } from '../../storage/codec/compression.ts';
import { chunkIndexers } from '../indexing/index-chunk.ts';
import { withPatterns } from '../pattern-mining/pattern-indexer.ts';
import { type CopySources, openCopySources } from './copy-sources.ts';
import { COMPACTION_COMPRESSION, mergeChunks, type PageFigures } from './merge.ts';
import { FILE_READ_BUDGET_BYTES, READ_BUDGET_BYTES } from './merge-bounds.ts';
import { openInputs } from './merge-input.ts';
import { MERGE_SIZES, type MergeSizes, type Quality } from './merge-sizes.ts';
import { marksOf, type RowDrops } from './row-drops.ts';
import { outputBits } from './window-parts.ts';

export interface MergeParts {
  readonly catalog: Catalog;
  readonly store: ObjectStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly options: {
    readonly targetBytes: number;
    readonly inlineMaxBytes: number;
    readonly graceMs: number;
    /** Default: `MERGE_SIZES`. */
    readonly mergeSizes?: MergeSizes | undefined;
    /** Whether outputs contain patterns in addition to their entries. */
    readonly minesPatterns?: boolean;
  };
}

interface ChunksToMerge {
  readonly tenant: string;
  readonly snapshot: DaySnapshot;
  readonly lease: Lease;
  /** Level of the outputs. */
  readonly level: number;
  readonly quality: Quality;
  readonly inputs: readonly ChunkRecord[];
  /**
   * Number of parts that all streams are divided into, a power of two: each gets an output. Default: 1. The parts of the
   * inputs stay divided.
   */
  readonly parts?: number | undefined;
  /** Read before the merge and after the inputs' day. */
  readonly drops: RowDrops;
  readonly signal: AbortSignal;
  /** Called every few milliseconds: holds the lease, and yields to other work. */
  hold(): Promise<void>;
}

export interface MergedChunks {
  /** Rows of the outputs. */
  readonly rows: number;
  readonly duplicates: number;
  readonly dropped: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
  /** Pages of the outputs that were copied from inputs. */
  readonly copied: PageFigures;
  readonly encoded: PageFigures;
  /** Number of inputs that were replaced: fewer than given if their footers are too large together. */
  readonly merged: number;
  /** The day after the swap, as far as this process knows. */
  readonly after: DaySnapshot;
}

/**
 * Throws what mergeChunks, swapChunks, `hold` and the stores throw. Then all inputs still exist, and outputs
 * may exist.
 */
export async function mergeAndSwap(parts: MergeParts, given: ChunksToMerge): Promise<MergedChunks> {
  return publish(parts, given, [await writeOutputs(parts, { ...given, day: given.snapshot.day })]);
}

/** The parts of a merge that need neither the day nor its lease. */
type OutputsToWrite = Omit<ChunksToMerge, 'snapshot' | 'lease'> & { readonly day: number };

/**
 * Stores the outputs, which are not chunks until they are published. Throws what mergeChunks, `hold` and the
 * store throw.
 */
export async function writeOutputs(
  { store, clock, ids, options }: Omit<MergeParts, 'catalog'>,
  given: OutputsToWrite,
): Promise<MergeOutcome> {
  const { tenant, day, level, drops, signal, hold } = given;
  const { mergeSizes = MERGE_SIZES } = options;
  const { pageBytes, indexedFromBytes } = mergeSizes;
  const added: ChunkRecord[] = [];
  const opened = await openInputs(store, given.inputs);
  const inputs = given.inputs.slice(0, opened.length);
  const rowFilters = new Map<string, ChunkRowFilter>();
  for (const record of inputs) {
    const rowFilter = drops.of(record);
    if (rowFilter !== undefined) rowFilters.set(record.id, rowFilter);
  }
  const isFinal = given.quality === 'final';
  const isIndexed = isFinal && lineBytesOf(inputs) >= indexedFromBytes;
  const minesPatterns = options.minesPatterns === true;
  const sources = isIndexed
    ? await openCopySources(store, inputs, opened, { minesPatterns, pageBytes })
    : { inputs: opened, extras: [], patterns: [] };
  const merged = await mergeChunks(
    sources.inputs,
    {
      tenant,
      day,
      level,
      streamBits: outputBits(inputs, given.parts),
      newId: () => newChunkId(clock, ids),
      newWriter: () => writerOf(store),
      createdMs: drops.asOfMs,
      compression: isFinal ? COMPACTION_COMPRESSION : PUSH_COMPRESSION,
      indexer: isIndexed ? indexerOf(sources, minesPatterns, indexedFromBytes) : undefined,
      pageBytes,
      readBudgetBytes: store.isDistant === true ? READ_BUDGET_BYTES : FILE_READ_BUDGET_BYTES,
      signal,
      pause: hold,
      dropRows: (page, { footer }) => {
        const rowFilter = rowFilters.get(footer.id);
        return rowFilter && marksOf(rowFilter, page);
      },
      mayDrop: (stream, { footer }) => rowFilters.get(footer.id)?.mayTouch(stream) ?? false,
    },
    async (chunk, writer, streamPart) => {
      const record = await storeWritten(store, chunk, writer, options.inlineMaxBytes);
      added.push(streamPart === ALL_STREAMS ? record : { ...record, streamPart });
    },
  );
  const { duplicates, dropped, copied, encoded } = merged;
  return { inputs, added, duplicates, dropped, mayDrop: rowFilters.size > 0, copied, encoded };
}

export interface MergeOutcome {
  /** Chunks to replace. */
  readonly inputs: readonly ChunkRecord[];
  /** Chunks that are already stored. */
  readonly added: readonly ChunkRecord[];
  readonly duplicates: number;
  readonly dropped: number;
  /** Whether rows may be removed. */
  readonly mayDrop: boolean;
  readonly copied: PageFigures;
  readonly encoded: PageFigures;
}

function indexerOf(
  { extras, patterns }: CopySources,
  minesPatterns: boolean,
  indexedFromBytes: number,
): () => ChunkIndexer {
  const indexers = chunkIndexers(indexedFromBytes);
  return () => (minesPatterns ? withPatterns(indexers(extras), patterns) : indexers(extras));
}

/**
 * Replaces the inputs with the outputs of one merge, or of several without a common chunk, if all rows are
 * accounted for. Throws what swapChunks and `hold` throw.
 */
export async function publish(
  {
    catalog,
    options,
  }: { readonly catalog: Pick<Catalog, 'swap'>; readonly options: { readonly graceMs: number } },
  { tenant, snapshot, lease, hold }: Pick<ChunksToMerge, 'tenant' | 'snapshot' | 'lease' | 'hold'>,
  outcomes: readonly MergeOutcome[],
): Promise<MergedChunks> {
  outcomes.forEach(checkRows);
  await hold();
  const { records, ...day } = snapshot;
  const inputs = outcomes.flatMap(outcome => outcome.inputs);
  // The chunks get their partitions now, because a later merge of the same run may replace them.
  const added = asAddedTo(
    day,
    outcomes.flatMap(outcome => outcome.added),
  );
  const next = await catalog.swap({ tenant, day, lease, removed: inputs, added, graceMs: options.graceMs });
  const gone = new Set(inputs);
  return {
    rows: rowsOf(added),
    duplicates: sumOf(outcomes, ({ duplicates }) => duplicates),
    dropped: sumOf(outcomes, ({ dropped }) => dropped),
    copied: figuresOf(outcomes.map(({ copied }) => copied)),
    encoded: figuresOf(outcomes.map(({ encoded }) => encoded)),
    inputBytes: storedBytesOf(inputs),
    outputBytes: storedBytesOf(added),
    merged: inputs.length,
    after: { ...next, records: [...records.filter(record => !gone.has(record)), ...added] },
  };
}

function checkRows({ inputs, added, duplicates, dropped, mayDrop }: MergeOutcome): void {
  const rowsIn = rowsOf(inputs);
  const accounted = rowsOf(added) + duplicates + dropped;
  mustHold(INVARIANTS.swapKeepsEntries, rowsIn === accounted, `${accounted} rows of ${rowsIn} accounted for`);
  const isAsked = mayDrop || dropped === 0;
  mustHold(INVARIANTS.onlyWhatMayGoes, isAsked, `${dropped} rows dropped that no request covers`);
}

function sumOf<T>(list: readonly T[], of: (one: T) => number): number {
  return list.reduce((sum, one) => sum + of(one), 0);
}

function figuresOf(figures: readonly PageFigures[]): PageFigures {
  return { pages: sumOf(figures, ({ pages }) => pages), bytes: sumOf(figures, ({ bytes }) => bytes) };
}

function rowsOf(records: readonly ChunkRecord[]): number {
  return records.reduce((sum, { rows }) => sum + rows, 0);
}

export function storedBytesOf(records: readonly ChunkRecord[]): number {
  return records.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
}

function lineBytesOf(records: readonly ChunkRecord[]): number {
  return records.reduce((sum, { lineBytes }) => sum + lineBytes, 0);
}
