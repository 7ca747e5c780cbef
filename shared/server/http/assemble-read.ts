/** Assembles the read path: chunk source, caches, query workers and memory, the query engine, insight and patterns. */

import type { Limits } from '../../base/model/limits.ts';
import type { FairScheduler } from '../../base/scheduling/fair-scheduler.ts';
import { Insight } from '../../read/insight/insight.ts';
import { Patterns } from '../../read/patterns/patterns.ts';
import { ChunkSource } from '../../read/query/chunk-source.ts';
import { PageCache } from '../../read/query/page-cache.ts';
import { QueryMemory } from '../../read/query/query-memory.ts';
import { AnswerCache } from '../../read/query/tasks/answer-cache.ts';
import { QueryWorkers } from '../../read/query/tasks/query-workers.ts';
import { Visibility } from '../../read/query/visibility.ts';
import type { DayIndexes } from '../../storage/index/day-indexes.ts';
import { DeleteFilterSource } from '../../upkeep/deletion/delete-filters.ts';
import { addCacheMetrics } from '../admin/metrics/cache-metrics.ts';
import { addPageCacheMetrics } from '../admin/metrics/page-cache-metrics.ts';
import type { MetricsRegistry } from '../admin/metrics/registry.ts';
import { addWorkerMetrics } from '../admin/metrics/worker-metrics.ts';
import { ObservedEngine } from '../usage/observed-engine.ts';
import type { UsageServices } from '../usage/usage.ts';
import { type ContextParts, failureListener } from './assemble-parts.ts';
import type { HttpContext } from './context.ts';

interface ReadSources
  extends Pick<
    ContextParts,
    | 'config'
    | 'store'
    | 'catalog'
    | 'clock'
    | 'pages'
    | 'resultCacheBytes'
    | 'invoker'
    | 'taskSizes'
    | 'queryMemory'
    | 'ranIn'
    | 'log'
  > {
  readonly indexes: DayIndexes;
  readonly scheduler: FairScheduler;
  readonly usage: UsageServices;
  readonly registry: MetricsRegistry;
  readonly limitsOf: (tenant: string) => Limits;
}

type ReadServices = Pick<HttpContext, 'engine' | 'insight' | 'patterns' | 'reading' | 'caches'>;

export function assembleRead(sources: ReadSources): ReadServices {
  const { config, store, catalog, clock, indexes, scheduler, usage, registry, limitsOf, ranIn, log } =
    sources;
  const { pageCacheBytes, queryResultCacheBytes, queryMemoryBytes } = config.logboom;
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes: catalog.deletes, clock }),
    limitsOf,
    enabled: config.compactor.retentionEnabled,
  });
  const pages = sources.pages ?? new PageCache(pageCacheBytes, { keepsFirst: store.isDistant === true });
  addPageCacheMetrics(registry, () => pages.figures);
  const source = new ChunkSource(store, pages, scheduler);
  const answers = new AnswerCache(sources.resultCacheBytes ?? queryResultCacheBytes);
  const { invoker, taskSizes: sizes } = sources;
  const workers = invoker && new QueryWorkers(invoker, { cache: answers, sizes });
  const memory = sources.queryMemory ?? new QueryMemory(queryMemoryBytes);
  addWorkerMetrics(registry, { workers, memory, answers });
  const onSkippedChunk = failureListener('chunk', log);
  const shared = { catalog, source, clock, indexes, visibility, workers, answers, memory };
  const onSkippedTask = failureListener('query worker', log);
  const reading = { ...shared, ranIn, onSkippedChunk, onSkippedTask };
  const insight = new Insight(reading);
  const caches = {
    ...source.caches,
    ...indexes.caches,
    ...catalog.caches,
    ...insight.caches,
    results: answers,
  };
  addCacheMetrics(registry, caches);
  return {
    engine: new ObservedEngine(reading, usage.onAnswered),
    insight,
    patterns: new Patterns({ ...reading, store }),
    reading,
    caches: [pages, ...Object.values(caches)],
  };
}
