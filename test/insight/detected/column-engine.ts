/** Query engines over chunks in memory whose fields have columns, for tests of what columns answer. */

import { DEFAULT_LIMITS } from '../../../shared/base/model/limits.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import { seededIds, virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import {
  FieldColumnWriter,
  type FieldColumnWriterOptions,
} from '../../../shared/execution/fields/field-column-writer.ts';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../../shared/read/query/engine.ts';
import { QueryWorkers } from '../../../shared/read/query/tasks/query-workers.ts';
import type { TaskRunnerParts } from '../../../shared/read/query/tasks/task-runner.ts';
import { Visibility } from '../../../shared/read/query/visibility.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../../shared/storage/catalog/chunk-id.ts';
import { storeChunk } from '../../../shared/storage/catalog/chunk-object.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../../shared/storage/catalog/delete-request.ts';
import type { ChunkIndexer } from '../../../shared/storage/chunk/chunk-indexer.ts';
import { ColumnKind } from '../../../shared/storage/chunk/format.ts';
import { writeChunk } from '../../../shared/storage/chunk/writer.ts';
import { type Compression, QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { fieldKey } from '../../../shared/storage/columns/column-field.ts';
import { DeleteFilterSource } from '../../../shared/upkeep/deletion/delete-filters.ts';
import { EVERYTHING } from '../../fields/support.ts';
import { TINY_TASKS } from '../../query/tasks/world.ts';
import { DAY, DAY_START_NS } from '../../support/engine.ts';
import { type DatedEntry, pushOf } from '../../support/pushes.ts';
import { segmentList } from '../../support/segments.ts';

const clock = virtualClock((DAY + 1) * 86_400_000);

/** A column for every field that can have one, and residuals if not too many lines are left to the parser. */
export function everyField(options: Partial<FieldColumnWriterOptions> = {}): ChunkIndexer {
  const fieldWriter = new FieldColumnWriter({ ...EVERYTHING, ...options });
  return {
    page(lines, offsets, rows, _metadata, { input, from }) {
      const times = input.times.subarray(from, from + rows);
      const { columns, residuals } = fieldWriter.blocksOf(lines, offsets, rows, { times });
      return [
        ...columns.map(({ field, bytes }) => ({ name: fieldKey(field), bytes })),
        ...(residuals === undefined ? [] : [{ kind: ColumnKind.residuals, name: '', bytes: residuals }]),
      ];
    },
    finish: () => [],
  };
}

interface ColumnEngineParts {
  /** Undefined: no columns. */
  readonly indexer: ChunkIndexer | undefined;
  readonly sourceOf: (store: ObjectStore) => ChunkSource;
  /** The entries are in the given number of chunks, in their order; 1 if omitted. */
  readonly chunks?: number;
  /** Delete requests that hide lines of the day: log queries. */
  readonly deleted?: readonly string[];
  /** Works on each page as a task; if omitted, the engine scans everything. */
  readonly invokerOf?: (parts: TaskRunnerParts) => Invoker;
  /** That of merges splits lines of 64 KiB and more; if omitted, lines are not split. */
  readonly compression?: Compression;
}

export async function columnEngine(
  entries: readonly DatedEntry[],
  {
    indexer,
    sourceOf,
    chunks = 1,
    deleted = [],
    invokerOf,
    compression = QUICK_COMPRESSION,
  }: ColumnEngineParts,
): Promise<QueryEngine> {
  const store = memoryObjectStore();
  const ids = seededIds(1);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const size = Math.ceil(entries.length / chunks);
  const parts = Array.from({ length: chunks }, (_, i) => entries.slice(i * size, (i + 1) * size));
  const filled = parts.filter(({ length }) => length > 0);
  for (const { day, rows } of filled.flatMap(part => segmentList([pushOf(part)]))) {
    const id = newChunkId(clock, ids);
    const head = { id, tenant: 't', day, level: 0, createdMs: clock.nowMs(), inputs: [] };
    const chunk = await writeChunk(head, rows, compression, indexer);
    await catalog.addChunks([await storeChunk(store, chunk, 0)]);
  }
  const invoker = invokerOf?.({ store, clock });
  const workers = invoker && new QueryWorkers(invoker, { sizes: TINY_TASKS });
  const requests = deleted.map(deleteRequest);
  const deletes = { list: async () => requests, version: async () => requests.length };
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock }),
    limitsOf: () => DEFAULT_LIMITS,
    enabled: true,
  });
  return new QueryEngine({ catalog, source: sourceOf(store), clock, workers, visibility });
}

function deleteRequest(query: string, i: number): DeleteRequest {
  return {
    id: i.toString(16).padStart(8, '0'),
    tenant: 't',
    query,
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + 86_400_000_000_000n,
    intervalNs: 0n,
    createdMs: clock.nowMs(),
    ...NOT_BEGUN,
  };
}

export const LINES_READ = 'lines are read';

/** Fails if the lines of a page are requested. */
export class LinelessSource extends ChunkSource {
  override pages(...given: Parameters<ChunkSource['pages']>): ReturnType<ChunkSource['pages']> {
    if (given[0].some(({ wants }) => wants.lines === 'bytes')) throw new Error(LINES_READ);
    return super.pages(...given);
  }

  override more(): ReturnType<ChunkSource['more']> {
    throw new Error(LINES_READ);
  }
}

/** Counts pages of which columns did for the lines. */
export class CountingSource extends ChunkSource {
  /** Read without their lines. */
  static fronts = 0;
  /** Whose lines were read behind. */
  static linesBehind = 0;

  override pages(...given: Parameters<ChunkSource['pages']>): ReturnType<ChunkSource['pages']> {
    for (const { wants } of given[0]) {
      if (wants.fieldColumns !== undefined && wants.lines !== 'bytes') CountingSource.fronts++;
    }
    return super.pages(...given);
  }

  override more(...given: Parameters<ChunkSource['more']>): ReturnType<ChunkSource['more']> {
    CountingSource.linesBehind++;
    return super.more(...given);
  }
}
