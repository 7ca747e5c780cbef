/** Query engines over chunks in memory whose fields have columns, for tests of what columns answer. */
import { Catalog } from '../../../shared/catalog/catalog.ts';
import { newChunkId } from '../../../shared/catalog/chunk-id.ts';
import { storeChunk } from '../../../shared/catalog/chunk-object.ts';
import { QUICK_COMPRESSION } from '../../../shared/chunk/compression.ts';
import type { ChunkEnricher } from '../../../shared/chunk/enricher.ts';
import { writeChunk } from '../../../shared/chunk/writer.ts';
import { segmentsOf } from '../../../shared/ingest/segment.ts';
import type { Invoker } from '../../../shared/ports/invoker.ts';
import { seededIds, virtualClock } from '../../../shared/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/ports/memory/table.ts';
import type { ObjectStore } from '../../../shared/ports/object-store.ts';
import { fieldKey } from '../../../shared/promoted/promoted-field.ts';
import { Promoter } from '../../../shared/promoted/promotion.ts';
import type { ChunkSource } from '../../../shared/query/chunk-source.ts';
import { QueryEngine } from '../../../shared/query/engine.ts';
import { QueryWorkers } from '../../../shared/query/tasks/query-workers.ts';
import type { TaskRunnerParts } from '../../../shared/query/tasks/task-runner.ts';
import { EVERYTHING } from '../../promoted/support.ts';
import { TINY_TASKS } from '../../query/tasks/world.ts';
import { DAY } from '../../support/engine.ts';
import { type DatedEntry, pushOf } from '../../support/pushes.ts';

const clock = virtualClock((DAY + 1) * 86_400_000);

/** A column for every field that can have one. */
export function everyField(): ChunkEnricher {
  const promoter = new Promoter(EVERYTHING);
  return {
    page: (lines, offsets, rows) =>
      promoter.columnsOf(lines, offsets, rows).map(({ field, bytes }) => ({ name: fieldKey(field), bytes })),
    finish: () => [],
  };
}

export interface ColumnEngineParts {
  /** Undefined: no columns. */
  readonly enricher: ChunkEnricher | undefined;
  readonly sourceOf: (store: ObjectStore) => ChunkSource;
  /** The entries lie in so many chunks, in their order; 1 where left out. */
  readonly chunks?: number;
  /** Works on each page as a task; left out, all is scanned by the engine. */
  readonly invokerOf?: (parts: TaskRunnerParts) => Invoker;
}

export async function columnEngine(
  entries: readonly DatedEntry[],
  { enricher, sourceOf, chunks = 1, invokerOf }: ColumnEngineParts,
): Promise<QueryEngine> {
  const store = memoryObjectStore();
  const ids = seededIds(1);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids });
  const size = Math.ceil(entries.length / chunks);
  const parts = Array.from({ length: chunks }, (_, i) => entries.slice(i * size, (i + 1) * size));
  const filled = parts.filter(({ length }) => length > 0);
  for (const { day, rows } of filled.flatMap(part => segmentsOf([pushOf(part)]))) {
    const id = newChunkId(clock, ids);
    const head = { id, tenant: 't', day, level: 0, createdMs: clock.nowMs(), inputs: [] };
    const chunk = await writeChunk(head, rows, QUICK_COMPRESSION, enricher);
    await catalog.addChunks([await storeChunk(store, chunk, 0)]);
  }
  const invoker = invokerOf?.({ store, clock });
  const workers = invoker && new QueryWorkers(invoker, { sizes: TINY_TASKS });
  return new QueryEngine({ catalog, source: sourceOf(store), clock, workers });
}
