/**
 * Metrics of scheduled jobs (shared/upkeep/maintenance/jobs.ts). All jobs have Logboom's own names. Jobs of
 * the reference's compactor that its dashboards show, compaction and retention, also have the reference's
 * names.
 */
import { hasFailed, type LastRun } from '../../../upkeep/maintenance/jobs.ts';
import type { MetricsRegistry } from './registry.ts';

/** Seconds: a run only checks for work, or works for minutes. */
const SECONDS = [0.01, 0.1, 1, 5, 15, 60, 300, 900];

/** The reference's names for a job: number of runs, duration, time of the last success. */
const OF_THE_REFERENCE: Readonly<Record<string, string>> = {
  compaction: 'loki_boltdb_shipper_compact_tables_operation',
  retention: 'loki_compactor_apply_retention_operation',
};
/** The name that does not follow from the others. */
const LAST_SUCCESS: Readonly<Record<string, string>> = {
  compaction: 'loki_boltdb_shipper_compact_tables_operation_last_successful_run_timestamp_seconds',
  retention: 'loki_compactor_apply_retention_last_successful_run_timestamp_seconds',
};

type OnRun = (run: LastRun) => void;

export function addJobMetrics(registry: MetricsRegistry): OnRun {
  const runs = registry.counter<'job' | 'result'>({
    name: 'logboom_job_runs_total',
    help: 'Job runs, by result: success, partial failure, or failure.',
    labels: ['job', 'result'],
  });
  const seconds = registry.histogram<'job'>({
    name: 'logboom_job_duration_seconds',
    help: 'Duration of job runs in seconds.',
    labels: ['job'],
    buckets: SECONDS,
  });
  const last = registry.gauge<'job'>({
    name: 'logboom_job_last_success_timestamp_seconds',
    help: 'End of the last run without failures, Unix seconds.',
    labels: ['job'],
  });
  const figures = registry.counter<'job' | 'figure'>({
    name: 'logboom_job_figures_total',
    help: 'Work done by jobs, by the names in GET /loki/api/v1/status/maintenance.',
    labels: ['job', 'figure'],
  });
  const known = new Map(Object.keys(OF_THE_REFERENCE).map(job => [job, addKnown(registry, job)]));
  return run => {
    const { job, failures, startedMs, endedMs } = run;
    const failed = hasFailed(run);
    const result = failed ? 'failed' : failures.length > 0 ? 'partial' : 'ok';
    const tookSeconds = Math.max(0, endedMs - startedMs) / 1000;
    runs.inc({ job, result });
    seconds.observe({ job }, tookSeconds);
    if (result === 'ok') last.set({ job }, endedMs / 1000);
    for (const [figure, value] of Object.entries(run.figures)) {
      // Figures about the present (the job's own gauges) are not counts. None is negative.
      if (value > 0) figures.inc({ job, figure }, value);
    }
    known.get(job)?.(tookSeconds, result === 'ok' ? endedMs / 1000 : undefined);
  };
}

function addKnown(
  registry: MetricsRegistry,
  job: string,
): (seconds: number, endedSeconds: number | undefined) => void {
  const name = OF_THE_REFERENCE[job];
  const total = registry.counter<'status'>({
    name: `${name}_total`,
    help: `Runs of ${job}, by status.`,
    labels: ['status'],
  });
  const took = registry.gauge({
    name: `${name}_duration_seconds`,
    help: `Duration of the last run of ${job} in seconds.`,
  });
  const last = registry.gauge({
    name: LAST_SUCCESS[job],
    help: `End of the last successful run of ${job}, Unix seconds.`,
  });
  return (seconds, endedSeconds) => {
    total.inc({ status: endedSeconds === undefined ? 'failure' : 'success' });
    took.set(seconds);
    if (endedSeconds !== undefined) last.set(endedSeconds);
  };
}
