/** Metrics of the merge backlog and its effect on pushes (shared/upkeep/compaction/merge-backlog.ts). */
import type { MergeBacklog } from '../../../upkeep/compaction/merge-backlog.ts';
import type { MetricsRegistry } from './registry.ts';

export function addBacklogMetrics(
  registry: MetricsRegistry,
  backlog: Pick<MergeBacklog, 'bytes' | 'maxBytes' | 'refused' | 'isUrgent'>,
): void {
  registry.gauge({
    name: 'logboom_merge_backlog_bytes',
    help: 'Pushed bytes of lines that wait to be merged.',
    read: () => [{ labels: {}, value: backlog.bytes }],
  });
  registry.gauge({
    name: 'logboom_merge_backlog_limit_bytes',
    help: 'Merge backlog at which pushes are refused (logboom.max_merge_backlog); 0: no limit.',
    read: () => [{ labels: {}, value: backlog.maxBytes }],
  });
  registry.gauge({
    name: 'logboom_merge_urgent',
    help: '1 while merging has the priority of requests, because it is behind.',
    read: () => [{ labels: {}, value: backlog.isUrgent ? 1 : 0 }],
  });
  registry.counter({
    name: 'logboom_merge_backlog_refused_pushes_total',
    help: 'Pushes refused because of the merge backlog.',
    read: () => [{ labels: {}, value: backlog.refused }],
  });
}
