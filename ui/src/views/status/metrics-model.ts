/** Most important metrics of a store. */
import { type MetricSample, sumOf } from '../../values/metrics-text.ts';

const REQUESTS = 'loki_request_duration_seconds_count';
const CACHES = 'logboom_cache_requests_total';
const PAGE_CACHE = 'logboom_page_cache_requests_total';
const QUERY_REQUESTS = 'logboom_query_requests';

export const METRIC_NAMES: ReadonlySet<string> = new Set([
  ...[REQUESTS, CACHES, PAGE_CACHE, QUERY_REQUESTS],
  ...[
    'process_start_time_seconds',
    'process_resident_memory_bytes',
    'logboom_tails_open',
    'loki_panic_total',
  ],
  ...['loki_distributor_lines_received_total', 'loki_distributor_bytes_received_total'],
  ...['loki_discarded_samples_total', 'logboom_usage_write_failures_total', 'logboom_usage_dropped_total'],
]);

export interface HitRate {
  readonly name: string;
  readonly hits: number;
  readonly all: number;
}

/** Hit rates of caches that were used, most used first. */
export function hitRates(samples: readonly MetricSample[]): readonly HitRate[] {
  const names = new Set(samples.filter(({ name }) => name === CACHES).map(({ labels }) => labels.cache));
  const rates = [...names].map(cache => ({
    name: cache.replaceAll('_', ' '),
    hits: sumOf(samples, CACHES, { cache, result: 'hit' }) ?? 0,
    all: sumOf(samples, CACHES, { cache }) ?? 0,
  }));
  const pages = {
    name: 'pages',
    hits: sumOf(samples, PAGE_CACHE, { result: 'hit' }) ?? 0,
    all: sumOf(samples, PAGE_CACHE) ?? 0,
  };
  return [pages, ...rates].filter(({ all }) => all > 0).sort((a, b) => b.all - a.all);
}

interface Notable {
  readonly startedMs: number | undefined;
  readonly memoryBytes: number | undefined;
  readonly requests: number;
  /** Responses with status 5xx. */
  readonly failedRequests: number;
  readonly lines: number;
  readonly bytes: number;
  readonly refusedLines: number;
  readonly runningQueries: number;
  readonly waitingQueries: number;
  readonly tails: number;
  /** Error counters that are not 0, with their names. */
  readonly wrong: readonly { readonly name: string; readonly count: number }[];
}

const ZERO_UNLESS_WRONG = [
  'loki_panic_total',
  'logboom_usage_write_failures_total',
  'logboom_usage_dropped_total',
];

export function notable(samples: readonly MetricSample[]): Notable {
  const started = sumOf(samples, 'process_start_time_seconds');
  const failed = samples.filter(
    ({ name, labels }) => name === REQUESTS && labels.status_code?.startsWith('5'),
  );
  return {
    startedMs: started === undefined ? undefined : started * 1000,
    memoryBytes: sumOf(samples, 'process_resident_memory_bytes'),
    requests: sumOf(samples, REQUESTS) ?? 0,
    failedRequests: failed.reduce((sum, { value }) => sum + value, 0),
    lines: sumOf(samples, 'loki_distributor_lines_received_total') ?? 0,
    bytes: sumOf(samples, 'loki_distributor_bytes_received_total') ?? 0,
    refusedLines: sumOf(samples, 'loki_discarded_samples_total') ?? 0,
    runningQueries: sumOf(samples, QUERY_REQUESTS, { state: 'running' }) ?? 0,
    waitingQueries: sumOf(samples, QUERY_REQUESTS, { state: 'waiting' }) ?? 0,
    tails: sumOf(samples, 'logboom_tails_open') ?? 0,
    wrong: ZERO_UNLESS_WRONG.flatMap(name => {
      const count = sumOf(samples, name) ?? 0;
      return count > 0 ? [{ name, count }] : [];
    }),
  };
}
