/**
 * Merges the results of a large fan-out in a tree. The query function gives a worker as many chunks as some tasks
 * have. The worker divides them among other workers, merges their results in order, and returns one result:
 *
 *     query function ──┬── task
 *                      ├── task
 *                      ├── merging task ──┬── task
 *                      │                  ├── task
 *                      │                  └── task
 *                      └── merging task ── ...
 *
 * A thousand results of a megabyte are seconds of one thread. Results of the same minutes become one of about the
 * same size.
 */
import type { MemoryBudget } from '../../../base/model/memory-budget.ts';
import type { RangeAggregationExpr } from '../../../language/logql/ast.ts';
import { countsFromIndex } from '../index-counts.ts';
import type { MetricScan } from '../metric-scan.ts';
import type { QueryStatistics } from '../statistics.ts';
import type { TenantView } from '../tenant-view.ts';
import type { Visible } from '../visibility.ts';
import { splitRange } from './chunk-days.ts';
import { SampleFanOut } from './fan-out-samples.ts';
import type { QueryWorkers } from './query-workers.ts';
import type { Task } from './task.ts';

interface ChunkMergeParts {
  readonly node: RangeAggregationExpr;
  readonly scan: MetricScan;
  readonly view: TenantView;
  readonly visible: Visible;
  readonly workers: QueryWorkers;
  readonly memory: MemoryBudget;
  readonly signal: AbortSignal;
  readonly statistics: QueryStatistics;
}

/** Runs a merging task: adds the results of its parts to the scan. Throws errors of their tasks. */
export async function mergeChunks(
  { day, from, to, records, indexes, request, plannedByWorker }: Task,
  { node, scan, view, visible, workers, ...shared }: ChunkMergeParts,
): Promise<void> {
  const { own = 0, parts = 1 } = plannedByWorker ?? {};
  const range = { own: records.slice(0, own), neighbors: records.slice(own) };
  const grouping = request.kind === 'metric' ? request.grouping : undefined;
  const fanOut = new SampleFanOut({ ...shared, workers, maxParallelism: parts }, scan, { node, grouping });
  const chunksOfDay = {
    day,
    from,
    to,
    ranges: splitRange(range, records, parts, false),
    // The query function has counted them.
    chunks: 0,
    prunedChunks: 0,
    counts: countsFromIndex(scan),
    indexes,
  };
  try {
    await fanOut.takeChunks(chunksOfDay, { view, visible }, shared.statistics);
    await fanOut.finish();
  } finally {
    fanOut.stop();
  }
}
