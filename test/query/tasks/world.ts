/**
 * In-memory store whose pushes overlap, repeat and are partly deleted, queried by engines with and without
 * workers.
 */

import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import type { Invoker } from '../../../shared/base/ports/invoker.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import { SYSTEM_IDS } from '../../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../../shared/read/query/engine.ts';
import type { PageCache } from '../../../shared/read/query/page-cache.ts';
import type { QueryMemory } from '../../../shared/read/query/query-memory.ts';
import type { AnswerCache } from '../../../shared/read/query/tasks/answer-cache.ts';
import { inlineInvoker } from '../../../shared/read/query/tasks/inline-invoker.ts';
import type { TaskSizes } from '../../../shared/read/query/tasks/plan-tasks.ts';
import { QueryWorkers } from '../../../shared/read/query/tasks/query-workers.ts';
import { TaskRunner } from '../../../shared/read/query/tasks/task-runner.ts';
import { Visibility } from '../../../shared/read/query/visibility.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../../shared/storage/catalog/delete-request.ts';
import { QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { DayIndexes } from '../../../shared/storage/index/day-indexes.ts';
import { Syncer } from '../../../shared/storage/index/syncer.ts';
import { Compactor } from '../../../shared/upkeep/compaction/compactor.ts';
import { compileDeleteFilters } from '../../../shared/upkeep/deletion/delete-filters.ts';
import { GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import { DAY } from '../../support/engine.ts';
import { type DatedEntry, pushOf } from '../../support/pushes.ts';

/** The query function merges all results. */
const NEVER_MERGED = { mergedFrom: Infinity, mergedTasks: 1, largeResultBytes: Infinity } as const;

/** Every page is a separate task, however small. */
export const TINY_TASKS: TaskSizes = {
  inlineBytes: 0,
  minTaskBytes: 1,
  maxTaskBytes: 1,
  tasksOfDay: 32,
  plannedByWorkersFrom: Infinity,
  ...NEVER_MERGED,
};
/** Two or three pages of these stores. */
export const SMALL_TASKS: TaskSizes = {
  inlineBytes: 0,
  minTaskBytes: 150,
  maxTaskBytes: 300,
  tasksOfDay: 32,
  plannedByWorkersFrom: Infinity,
  ...NEVER_MERGED,
};

interface EngineOptions {
  readonly invoker: Invoker;
  readonly sizes?: TaskSizes;
  readonly memory?: QueryMemory;
  readonly cache?: AnswerCache;
}

function raise(error: Error): never {
  throw error;
}

export function makeWorld(limits: Limits = DEFAULT_LIMITS, objects: ObjectStore = memoryObjectStore()) {
  const clock = virtualClock((DAY + 2) * 86_400_000);
  const catalog = new Catalog({ table: memoryTable({ clock }), clock, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store: objects, catalog, clock, ids: SYSTEM_IDS, options });
  let deletes: readonly DeleteRequest[] = [];
  const deleteFilters = {
    filtersOf: async (tenant: string) =>
      compileDeleteFilters(
        deletes.filter(request => request.tenant === tenant),
        { clock },
      ),
  };
  const visibility = new Visibility({
    deleteFilters: deleteFilters as never,
    limitsOf: () => limits,
    enabled: true,
  });
  const parts = { catalog, clock, visibility };
  return {
    clock,
    objects,
    parts,
    push: (entries: readonly DatedEntry[], tenant = 't') =>
      clock.run(committer.commit(tenant, pushOf(entries))),
    async compact(): Promise<void> {
      const work = { targetBytes: 1_000_000, inlineMaxBytes: 0, graceMs: 1000 };
      const compactor = new Compactor({ catalog, store: objects, clock, ids: SYSTEM_IDS, options: work });
      const signal = new AbortController().signal;
      await compactor.compactDay({ tenant: 't', day: DAY, force: true, untilMs: Infinity, signal });
    },
    /** Writes the day index. */
    async syncIndex(day = DAY): Promise<void> {
      const indexes = new DayIndexes({ store: objects, onBroken: raise });
      const syncer = new Syncer({ catalog, store: objects, clock, ids: SYSTEM_IDS, indexes, graceMs: 1000 });
      const signal = new AbortController().signal;
      await syncer.syncDay({ tenant: 't', day, force: true, untilMs: Infinity, signal });
    },
    delete(query: string, request: Partial<DeleteRequest> = {}): void {
      const id = `${deletes.length}`.padStart(8, '0');
      const whole = {
        startNs: 0n,
        endNs: BigInt(DAY + 1) * 86_400_000_000_000n,
        intervalNs: 0n,
        createdMs: 0,
      };
      deletes = [...deletes, { tenant: 't', ...whole, ...NOT_BEGUN, ...request, id, query }];
    },
    /** Scans all by itself. */
    plainEngine: (pages?: PageCache, answers?: AnswerCache) =>
      new QueryEngine({ ...parts, source: new ChunkSource(objects, pages), answers }),
    engine: ({ invoker, sizes = TINY_TASKS, memory, cache }: EngineOptions) =>
      new QueryEngine({
        ...parts,
        source: new ChunkSource(objects),
        workers: new QueryWorkers(invoker, { sizes, cache }),
        memory,
      }),
    runner: (workers?: QueryWorkers) => new TaskRunner({ store: objects, clock, workers }),
  };
}

/**
 * Several workers with separate caches, whose results arrive out of order: each waits a number of event loop
 * turns that depends on the task.
 */
export function shuffledInvoker(world: ReturnType<typeof makeWorld>, slots: number): Invoker {
  // Workers call each other, so their calls have slots that no merging task waits for.
  const parts: Invoker = inlineInvoker({ store: world.objects, clock: world.clock });
  const workers = new QueryWorkers({ ...parts, slots }, { sizes: { ...CHUNK_TASKS, maxTaskBytes: 1e9 } });
  const runners = Array.from({ length: slots }, () => world.runner(workers));
  return {
    slots,
    invoke: async (task, { signal, affinity }) => {
      const answer = await runners[affinity % slots].run(task, signal);
      for (let turns = affinity % 7; turns > 0; turns--) await new Promise(resolve => setImmediate(resolve));
      return answer;
    },
    close: async () => undefined,
  };
}

/** Workers plan chunks themselves, two ranges per day; the rest of a range exceeds one task. */
export const CHUNK_TASKS: TaskSizes = {
  inlineBytes: 0,
  minTaskBytes: 1,
  maxTaskBytes: 1,
  tasksOfDay: 2,
  plannedByWorkersFrom: 0,
  ...NEVER_MERGED,
};

/** The same if more than two chunks share one time: workers plan the slices of the day in which they do not. */
export const SLICED_TASKS: TaskSizes = { ...CHUNK_TASKS, maxNeighbors: 1 };

/** From the second range on, workers merge the results of up to three others. */
export const MERGED_TASKS: TaskSizes = {
  ...CHUNK_TASKS,
  tasksOfDay: 8,
  maxTaskBytes: 1e9,
  mergedFrom: 1,
  mergedTasks: 3,
  largeResultBytes: 0,
};
