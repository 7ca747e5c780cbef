/** Queries for the modeled store, and the goal for their number of rounds. */
import { NEEDLE } from '../corpus.ts';
import type { Dataset } from './datasets.ts';

export interface CloudQuery {
  readonly name: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
}

const ALL = '{app=~".+"}';
const NO_NEEDLE = 'thermonuclear zebra';

export function cloudSuite({ startNs, endNs }: Pick<Dataset, 'startNs' | 'endNs'>): CloudQuery[] {
  const log = (query: string, limit: number) => ({
    path: '/loki/api/v1/query_range',
    params: { query, limit: String(limit), start: String(startNs), end: String(endNs) },
  });
  // A response has at most 11,000 points.
  const stepS = (endNs - startNs) / 1_000_000_000n > 600_000n ? 600 : 60;
  const metric = (query: string) => ({
    path: '/loki/api/v1/query_range',
    params: { query, step: String(stepS), start: String(startNs), end: String(endNs) },
  });
  const window = stepS === 60 ? '1m' : '10m';
  return [
    { name: 'needle', ...log(`${ALL} |= "${NEEDLE}"`, 100) },
    { name: 'needle, absent', ...log(`${ALL} |= "${NO_NEEDLE}"`, 100) },
    { name: 'count by minute', ...metric(`sum(count_over_time(${ALL}[${window}]))`) },
    {
      name: 'json_status',
      ...metric(`sum by (status) (count_over_time({app=~"json-.*"} | json | level="error" [${window}]))`),
    },
    {
      name: 'json_first_filter',
      ...log(
        '{env="prod"} |= "orders" | json status="status", d="duration_ms" | status >= 500 | d > 1900',
        1000,
      ),
    },
    { name: 'regex_ci', ...log('{env="prod"} |~ "(?i)CONNECTION REFUSED"', 1000) },
    { name: 'tail_100', ...log('{app="json-1"}', 100) },
    {
      name: 'labels',
      path: '/loki/api/v1/labels',
      params: { start: String(startNs), end: String(endNs) },
    },
  ];
}

/** Other requests of the explorer and Grafana. */
export function insightSuite({ startNs, endNs }: Pick<Dataset, 'startNs' | 'endNs'>): CloudQuery[] {
  const params = { query: ALL, start: String(startNs), end: String(endNs) };
  return ['index/volume', 'index/stats', 'detected_labels', 'detected_fields', 'series'].map(name => ({
    name,
    path: `/loki/api/v1/${name}`,
    params: name === 'series' ? { ...params, 'match[]': ALL } : params,
  }));
}

/** Goal for each request of the insight suite, for any range. */
export const INSIGHT_GOAL_ROUNDS = 6;

/**
 * Goal for a query of a dataset. Hundreds of chunks that are not merged occupy all connections several times.
 */
export function goalRounds(dataset: string, query: string): number {
  const { day, days } = GOAL_ROUNDS[query];
  if (dataset === 'unmerged') return UNMERGED_GOAL;
  return dataset.endsWith('days') ? days : day;
}

const UNMERGED_GOAL = 6;
/** Goal for a repeated query, for any range. */
export const WARM_GOAL_ROUNDS = 1;

/** Goals by query, for one day and for thirty days. */
const GOAL_ROUNDS: Readonly<Record<string, { readonly day: number; readonly days: number }>> = {
  needle: { day: 4, days: 6 },
  'needle, absent': { day: 3, days: 5 },
  'count by minute': { day: 3, days: 4 },
  json_status: { day: 5, days: 7 },
  json_first_filter: { day: 6, days: 8 },
  regex_ci: { day: 6, days: 8 },
  tail_100: { day: 4, days: 5 },
  labels: { day: 3, days: 4 },
};
