/**
 * Metrics of a live canary, in a separate registry. Names are those of Loki's canary with another prefix, so
 * that dashboards and alerts need only a new prefix. The last three exist only in this canary.
 */
import { MetricsRegistry } from '../admin/metrics/registry.ts';

/** Seconds: from a push that is acknowledged immediately to one that is delayed by a restart of the store. */
const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const PREFIX = 'logboom_canary_';

export type CanaryMetrics = ReturnType<typeof createCanaryMetrics>;

export function createCanaryMetrics() {
  const registry = new MetricsRegistry();
  const counter = (name: string, help: string) => registry.counter({ name: `${PREFIX}${name}`, help });
  const gauge = (name: string, help: string) => registry.gauge({ name: `${PREFIX}${name}`, help });
  const seconds = (name: string, help: string) =>
    registry.histogram({ name: `${PREFIX}${name}`, help, buckets: SECONDS });
  return {
    registry,
    entries: counter('entries_total', 'Entries that the store acknowledged'),
    websocketEntries: counter('websocket_entries_total', 'Entries that arrived in the live tail'),
    websocketMissing: counter(
      'websocket_missing_entries_total',
      'Acknowledged entries that did not arrive in the live tail in time',
    ),
    missing: counter('missing_entries_total', 'Acknowledged entries that a query did not return'),
    duplicates: counter(
      'duplicate_entries_total',
      'Entries that one query, or one connection of the tail, returned twice',
    ),
    spotChecks: counter('spot_check_entries_total', 'Older entries that spot checks searched'),
    spotCheckMissing: counter(
      'spot_check_missing_entries_total',
      'Older entries that spot checks did not find',
    ),
    metricExpected: gauge('metric_test_expected', 'Entries that the latest metric query should have counted'),
    metricActual: gauge('metric_test_actual', 'Entries that the latest metric query counted'),
    responseLatency: seconds(
      'response_latency_seconds',
      'Time from the timestamp of an entry to its arrival in the live tail, in seconds',
    ),
    pushLatency: seconds(
      'push_seconds',
      'Time from the first attempt of a push to its acknowledgment, in seconds',
    ),
    metricFailures: counter('metric_test_failures_total', 'Metric queries that counted a wrong number'),
    failedRequests: registry.counter({
      name: `${PREFIX}failed_requests_total`,
      help: 'Requests without a response, or with an unexpected status; they are retried',
      labels: ['request'],
    }),
  };
}
