/**
 * Loki's metrics after a store was used: pushes, queries, a merge and a delete request
 * (docs/dev/wire-format.md#metrics).
 */
import { describe, expect, test } from '@jest/globals';
import { MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { createLog, linesOf as loggedBy } from '../../shared/base/runtime/log.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { retentionHours } from '../../shared/server/admin/metrics/metrics.ts';
import { addConnectionMetrics, addLogMetrics } from '../../shared/server/admin/metrics/process-metrics.ts';
import { MetricsRegistry } from '../../shared/server/admin/metrics/registry.ts';
import { linesOf, pushLine, START_MS, testStores } from '../maintenance/store.ts';
import { parseMetrics } from '../usage/support/parse-metrics.ts';

const SETTINGS = {
  limits: {
    ...DEFAULT_CONFIG.limits,
    maxLineSize: 20,
    maxLineSizeTruncate: true,
    rejectOldSamples: false,
    retentionPeriodNs: BigInt(30 * 24 * MS_PER_HOUR) * 1_000_000n,
  },
};
const OBJECTS = 'loki_objstore_bucket_operations_total';
const of = (operation: string) => ({ bucket: 'logboom', operation });

test('metrics of a used store', async () => {
  const stores = testStores({}, SETTINGS);
  const process = stores.process(1);
  const metrics = async () => {
    const { body } = await process.ask('GET', '/metrics');
    return parseMetrics(Buffer.from(body).toString());
  };
  const untouched = await metrics();
  expect(untouched.value('loki_ingester_memory_chunks', {})).toBe(0);
  expect(untouched.value('loki_compactor_pending_delete_requests_count', {})).toBe(0);

  for (let i = 0; i < 3; i++) await pushLine(process, 'acme', START_MS + i, `line ${i}`);
  await pushLine(process, 'acme', START_MS + 3, 'a line that is longer than twenty');
  expect(await linesOf(process, 'acme', START_MS, START_MS + 1000)).toHaveLength(4);
  const pushed = await metrics();
  // Each push is a separate chunk here.
  expect(pushed.value('loki_ingester_chunks_flushed_total', { reason: 'max_age' })).toBe(4);
  for (const name of ['size_bytes', 'utilization', 'entries', 'age_seconds', 'bounds_seconds']) {
    expect([name, pushed.value(`loki_ingester_chunk_${name}_count`, {})]).toEqual([name, 4]);
  }
  expect(pushed.value('loki_ingester_chunk_entries_sum', {})).toBe(4);
  expect(pushed.value('loki_ingester_flush_queue_length', {})).toBe(0);
  expect(pushed.value('loki_mutated_samples_total', { reason: 'line_too_long', tenant: 'acme' })).toBe(1);
  expect(pushed.value('loki_mutated_bytes_total', { reason: 'line_too_long', tenant: 'acme' })).toBe(13);
  expect(pushed.value(OBJECTS, of('upload'))).toBe(4);
  expect(pushed.value('loki_objstore_bucket_operation_duration_seconds_count', of('upload'))).toBe(4);
  const asked = { status_code: '200', type: 'limited', range: 'range' };
  expect(pushed.value('loki_logql_querystats_latency_seconds_count', asked)).toBe(1);
  expect(pushed.value('loki_logql_querystats_downloaded_chunk_total', asked)).toBe(4);

  expect((await process.ask('POST', '/flush')).status).toBe(204);
  await process.run('compaction');
  await process.run('index-sync');
  const packed = await metrics();
  expect(packed.value('logboom_job_runs_total', { job: 'compaction', result: 'ok' })).toBe(1);
  expect(packed.value('logboom_job_figures_total', { job: 'compaction', figure: 'merges' })).toBe(1);
  expect(packed.value('logboom_job_figures_total', { job: 'compaction', figure: 'rows' })).toBe(4);
  expect(packed.value('logboom_job_runs_total', { job: 'index-sync', result: 'ok' })).toBe(1);
  expect(packed.value('logboom_job_duration_seconds_count', { job: 'index-sync' })).toBe(1);
  const compact = 'loki_boltdb_shipper_compact_tables_operation';
  expect(packed.value(`${compact}_total`, { status: 'success' })).toBe(1);
  expect(packed.value(`${compact}_last_successful_run_timestamp_seconds`, {})).toBe(START_MS / 1000);
  expect(packed.value('loki_objstore_bucket_operation_failures_total', of('upload'))).toBeUndefined();

  // The second read comes from a cache.
  const before = packed.value('logboom_cache_requests_total', { cache: 'footers', result: 'hit' })!;
  await linesOf(process, 'acme', START_MS, START_MS + 1000);
  await linesOf(process, 'acme', START_MS, START_MS + 1001);
  const again = await metrics();
  expect(again.value('logboom_cache_requests_total', { cache: 'footers', result: 'hit' })).toBeGreaterThan(
    before,
  );

  const rawQuery = `query=${encodeURIComponent('{app="a"}')}&start=${START_MS / 1000}`;
  const headers = { 'x-scope-orgid': 'acme' };
  stores.clock.advance(MS_PER_HOUR);
  expect((await process.ask('POST', '/loki/api/v1/delete', { rawQuery, headers })).status).toBe(204);
  await process.run('deletion');
  stores.clock.advance(60_000);
  const deleting = await metrics();
  expect(deleting.value('loki_compactor_delete_requests_received_total', { user: 'acme' })).toBe(1);
  expect(deleting.value('loki_compactor_pending_delete_requests_count', {})).toBe(1);
  expect(deleting.value('loki_compactor_oldest_pending_delete_request_age_seconds', {})).toBe(60);
  for (let hours = 0; hours < 26; hours += 1) {
    stores.clock.advance(MS_PER_HOUR);
    await process.run('deletion');
  }
  const deleted = await metrics();
  expect(deleted.value('loki_compactor_delete_requests_processed_total', { user: 'acme' })).toBe(1);
  expect(deleted.value('loki_compactor_pending_delete_requests_count', {})).toBe(0);
  expect(deleted.value('loki_compactor_oldest_pending_delete_request_age_seconds', {})).toBe(0);
  await process.run('retention');
  const retained = await metrics();
  expect(retained.value('loki_compactor_apply_retention_operation_total', { status: 'success' })).toBe(1);
});

test('metrics of rule groups', async () => {
  const process = testStores({}, { auth: { ...DEFAULT_CONFIG.auth, authEnabled: false } }).process(1);
  const group = 'name: g\nrules: [{alert: a, expr: "vector(0) > 1"}, {record: b, expr: "vector(1)"}]';
  const headers = { 'content-type': 'application/yaml' };
  const set = await process.ask('POST', '/loki/api/v1/rules/ns', { headers, body: Buffer.from(group) });
  expect(set.status).toBe(202);
  await process.run('rules');
  const metrics = parseMetrics(await process.context.metricsText());
  const labels = { rule_group: 'ns;g', user: 'fake' };
  expect(metrics.value('loki_prometheus_rule_group_rules', labels)).toBe(2);
});

describe('metrics of a process', () => {
  test('count written log lines by level', async () => {
    const log = createLog('info', { write: () => undefined });
    log.info('a');
    log.warn('b');
    log.child({ of: 'c' }).warn('d');
    log.debug('not written');
    const registry = new MetricsRegistry();
    addLogMetrics(registry, () => loggedBy(log));
    addConnectionMetrics(registry, () => 7);
    const metrics = parseMetrics(await registry.text());
    const count = (level: string) => metrics.value('loki_internal_log_messages_total', { level });
    expect([count('info'), count('warn'), count('debug')]).toEqual([1, 2, undefined]);
    expect(metrics.value('loki_tcp_connections', { protocol: 'http' })).toBe(7);
  });

  test('show retention in whole hours', () => {
    expect(retentionHours(SETTINGS.limits)).toBe(720);
    expect(retentionHours(DEFAULT_CONFIG.limits)).toBe(0);
  });
});
