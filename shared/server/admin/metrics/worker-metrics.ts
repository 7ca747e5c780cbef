/** Metrics of query tasks, and of the memory of queries. */
import type { QueryMemory } from '../../../read/query/query-memory.ts';
import type { AnswerCache } from '../../../read/query/tasks/answer-cache.ts';
import type { QueryWorkers } from '../../../read/query/tasks/query-workers.ts';
import type { MetricsRegistry } from './registry.ts';

interface QueryMetricParts {
  /** `undefined` without workers. Then there are no series about tasks. */
  readonly workers: QueryWorkers | undefined;
  readonly memory: QueryMemory;
  readonly answers: AnswerCache;
}

export function addWorkerMetrics(
  registry: MetricsRegistry,
  { workers, memory, answers }: QueryMetricParts,
): void {
  const one = (value: number) => [{ labels: {}, value }];
  registry.gauge({
    name: 'logboom_query_memory_bytes',
    help: 'Memory reserved by running queries.',
    read: () => one(memory.usedBytes),
  });
  registry.counter({
    name: 'logboom_query_memory_refused_total',
    help: 'Queries refused because of the memory limit for concurrent queries.',
    read: () => one(memory.refused),
  });
  registry.counter<'result'>({
    name: 'logboom_query_result_cache_total',
    help: 'Lookups in the results cache, by result.',
    labels: ['result'],
    read: () => [
      { labels: { result: 'hit' }, value: answers.figures.hits },
      { labels: { result: 'miss' }, value: answers.figures.misses },
    ],
  });
  if (workers === undefined) return;
  const { figures } = workers;
  registry.gauge({
    name: 'logboom_query_workers',
    help: 'Maximum number of concurrent query tasks.',
    read: () => one(workers.slots),
  });
  registry.gauge({
    name: 'logboom_query_tasks_running',
    help: 'Running query tasks.',
    read: () => one(workers.running),
  });
  registry.gauge({
    name: 'logboom_query_tasks_waiting',
    help: 'Query tasks that wait for a worker.',
    read: () => one(workers.waiting),
  });
  registry.counter({
    name: 'logboom_query_tasks_total',
    help: 'Query tasks sent to workers.',
    read: () => one(figures.tasks),
  });
  registry.counter<'reason'>({
    name: 'logboom_query_tasks_failed_total',
    help: 'Query tasks without a result, by reason; client errors are excluded.',
    labels: ['reason'],
    read: () => [
      { labels: { reason: 'cancelled' }, value: figures.canceled },
      { labels: { reason: 'failed' }, value: figures.failed },
    ],
  });
  registry.counter<'direction'>({
    name: 'logboom_query_task_bytes_total',
    help: 'Bytes of query tasks and of their results.',
    labels: ['direction'],
    read: () => [
      { labels: { direction: 'task' }, value: figures.taskBytes },
      { labels: { direction: 'answer' }, value: figures.answerBytes },
    ],
  });
  const { invocations } = workers;
  if (invocations === undefined) return;
  registry.counter({
    name: 'logboom_query_invocations_total',
    help: 'Invocations of the query worker function, including retries.',
    read: () => one(invocations.invocations),
  });
  registry.counter<'reason'>({
    name: 'logboom_query_invocations_repeated_total',
    help: 'Repeated invocations of the query worker function, by reason: refused by the account, lost, or slower than the others.',
    labels: ['reason'],
    read: () => [
      { labels: { reason: 'refused' }, value: invocations.refused },
      { labels: { reason: 'lost' }, value: invocations.retried },
      { labels: { reason: 'slow' }, value: invocations.hedged },
    ],
  });
  registry.counter<'reason'>({
    name: 'logboom_query_tasks_here_total',
    help: 'Query tasks that the query function ran itself, by the reason why no worker ran them.',
    labels: ['reason'],
    read: () => Object.entries(invocations.here).map(([reason, value]) => ({ labels: { reason }, value })),
  });
}
