import { describe, expect, test } from '@jest/globals';
import { atOnce } from '../../shared/base/model/steps.ts';
import { BoundedNames, OTHER } from '../../shared/server/admin/metrics/bounded-names.ts';
import { createMetrics } from '../../shared/server/admin/metrics/metrics.ts';
import { MetricsRegistry } from '../../shared/server/admin/metrics/registry.ts';
import { routeName } from '../../shared/server/admin/metrics/request-metrics.ts';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { storedOf } from '../../shared/write/ingest/stored-push.ts';
import { pushOf } from '../support/pushes.ts';
import { parseMetrics } from '../usage/support/parse-metrics.ts';

describe('names of routes', () => {
  test.each([
    ['/svc/api/v1/push', 'loki_api_v1_push'],
    ['/svc/api/v1/query_range', 'loki_api_v1_query_range'],
    ['/svc/api/v1/label/{name}/values', 'loki_api_v1_label_name_values'],
    ['/otlp/v1/logs', 'otlp_v1_logs'],
    ['/compat/api/v1/rules', 'prometheus_api_v1_rules'],
    ['/api/compat/push', 'api_prom_push'],
    ['/{index}/_bulk', 'index_bulk'],
    ['/ready', 'ready'],
  ])('%s is %s', (path, name) => {
    expect(routeName(path)).toBe(name);
  });

  test('are distinct for all routes', () => {
    const paths = new Set(ROUTES.map(({ path }) => path));
    expect(new Set([...paths].map(routeName)).size).toBe(paths.size);
  });
});

describe('requests', () => {
  test('are counted by route, method and status, also while they run', async () => {
    const { requests, registry } = createMetrics();
    const ends = [
      requests.begin({ method: 'POST', path: '/svc/api/v1/push', bodyBytes: 2_000_000 }),
      requests.begin({ method: 'POST', path: '/svc/api/v1/push', bodyBytes: 10 }),
      requests.begin({ method: 'BREW', path: undefined, bodyBytes: 0 }),
      requests.begin({ method: 'GET', path: '/svc/api/v1/tail', bodyBytes: 0, ws: true }),
    ];
    ends[0]({ status: 204, bytes: 0 });
    ends[1]({ status: 400, bytes: 5_000_000 });
    ends[2]({ status: 404, bytes: 19 });
    requests.defect();
    const metrics = parseMetrics(await registry.text());
    const push = { method: 'POST', route: 'loki_api_v1_push' };
    const seconds = 'loki_request_duration_seconds_count';
    expect(metrics.value(seconds, { ...push, status_code: '204', ws: 'false' })).toBe(1);
    expect(metrics.value(seconds, { ...push, status_code: '400', ws: 'false' })).toBe(1);
    expect(metrics.value(seconds, { method: OTHER, route: OTHER, status_code: '404', ws: 'false' })).toBe(1);
    expect(metrics.value('loki_request_message_bytes_bucket', { ...push, le: '1048576' })).toBe(1);
    expect(metrics.value('loki_request_message_bytes_bucket', { ...push, le: '2621440' })).toBe(2);
    expect(metrics.value('loki_request_message_bytes_sum', push)).toBe(2_000_010);
    expect(metrics.value('loki_response_message_bytes_sum', push)).toBe(5_000_000);
    expect(metrics.value('loki_inflight_requests', push)).toBe(0);
    expect(metrics.value('loki_inflight_requests', { method: 'GET', route: 'loki_api_v1_tail' })).toBe(1);
    expect(metrics.value('loki_panic_total', {})).toBe(1);
  });

  test('of one route and status are one series, and values at a bound count in its bucket', async () => {
    const { requests, registry } = createMetrics();
    for (const bodyBytes of [1024 * 1024, 1024 * 1024 + 1, 251 * 1024 * 1024]) {
      requests.begin({ method: 'POST', path: '/ready', bodyBytes })({ status: 200, bytes: 0 });
    }
    const lines = (await registry.text()).split('\n').filter(line => line.includes('_request_message_bytes'));
    const labels = 'method="POST",route="ready"';
    expect(lines.slice(2)).toEqual([
      ...[1, 2.5, 5, 10, 25, 50, 100, 250].map(
        (mib, i) =>
          `loki_request_message_bytes_bucket{le="${mib * 1024 * 1024}",${labels}} ${i === 0 ? 1 : 2}`,
      ),
      `loki_request_message_bytes_bucket{le="+Inf",${labels}} 3`,
      `loki_request_message_bytes_sum{${labels}} ${(2 + 251) * 1024 * 1024 + 1}`,
      `loki_request_message_bytes_count{${labels}} 3`,
    ]);
  });
});

describe('lines', () => {
  test('are counted in the bucket of their length', async () => {
    const { lineLengths, registry } = createMetrics();
    const lengths = [
      0, 1, 2, 8, 9, 64, 65, 512, 513, 4096, 4097, 32_768, 32_769, 262_144, 2_097_152, 2_097_153,
    ];
    const entries = lengths.map((length, time) => ({
      stream: { app: 'a' },
      day: 20_000,
      time,
      line: 'x'.repeat(length),
      metadata: {},
    }));
    lineLengths.add(atOnce(storedOf(pushOf(entries))));
    // In a push with refused entries, only the others count.
    lineLengths.add(atOnce(storedOf({ ...pushOf(entries), entries: Uint32Array.of(3) })));
    const counted = [...lengths, 8];
    const metrics = parseMetrics(await registry.text());
    for (let bound = 1; bound <= 8 ** 7; bound *= 8) {
      const within = counted.filter(length => length <= bound).length;
      expect([bound, metrics.value('loki_bytes_per_line_bucket', { le: String(bound) })]).toEqual([
        bound,
        within,
      ]);
    }
    expect(metrics.value('loki_bytes_per_line_bucket', { le: '+Inf' })).toBe(counted.length);
    expect(metrics.value('loki_bytes_per_line_count', {})).toBe(counted.length);
    expect(metrics.value('loki_bytes_per_line_sum', {})).toBe(
      counted.reduce((sum, length) => sum + length, 0),
    );
  });
});

describe('tenants', () => {
  test('tenants beyond the limit are counted together', async () => {
    const { ingest, queries, registry } = createMetrics({ maxNamedTenants: 2 });
    for (const tenant of ['a', 'b', 'c', 'd', 'a']) {
      ingest.received({ tenant, format: 'loki', policy: '', lines: 1, lineBytes: 10, metadataBytes: 2 });
      ingest.refused({ tenant, format: 'loki', policy: '', reason: 'rate_limited', lines: 2, bytes: 20 });
      queries.answered(tenant, 7);
    }
    const metrics = parseMetrics(await registry.text());
    const lines = (tenant: string) =>
      metrics.value('loki_distributor_lines_received_total', {
        tenant,
        is_internal_stream: 'false',
        policy: '',
        format: 'loki',
      });
    expect(['a', 'b', 'c', 'd', OTHER].map(lines)).toEqual([6, 3, undefined, undefined, 6]);
    const refused = {
      reason: 'rate_limited',
      tenant: OTHER,
      retention_hours: '',
      policy: '',
      format: 'loki',
    };
    expect(metrics.value('loki_discarded_samples_total', refused)).toBe(4);
    expect(metrics.value('loki_discarded_bytes_total', refused)).toBe(40);
    expect(metrics.value('logboom_query_bytes_total', { tenant: OTHER })).toBe(14);
  });

  test('keep their places below the limit', () => {
    const names = new BoundedNames(1);
    expect(['a', 'b', 'a', 'b'].map(name => names.of(name))).toEqual(['a', OTHER, 'a', OTHER]);
  });

  test.each([
    [0, ''],
    [0.5, ''],
    [24, '24'],
    [31.9, '31'],
  ])('tenants with a retention of %d hours have the label "%s"', async (hours, label) => {
    const { ingest, registry } = createMetrics({ retentionHoursOf: () => hours });
    ingest.received({ tenant: 'a', format: 'loki', policy: 'p', lines: 1, lineBytes: 1, metadataBytes: 0 });
    const labels = {
      tenant: 'a',
      retention_hours: label,
      is_internal_stream: 'false',
      policy: 'p',
      format: 'loki',
    };
    expect(parseMetrics(await registry.text()).value('loki_distributor_bytes_received_total', labels)).toBe(
      1,
    );
  });
});

describe('the registry', () => {
  test('is separate for each store', async () => {
    const [one, another] = [createMetrics(), createMetrics()];
    one.queries.answered('a', 1);
    expect(
      parseMetrics(await another.registry.text()).value('logboom_queries_total', { tenant: 'a' }),
    ).toBeUndefined();
  });

  test('accepts metrics of other modules, each name once', async () => {
    const registry = new MetricsRegistry();
    registry
      .counter<'level'>({ name: 'logboom_merged_total', help: 'x', labels: ['level'] })
      .inc({ level: '1' }, 12);
    registry.gauge({ name: 'logboom_cached_bytes', help: 'x', read: () => [{ labels: {}, value: 5 }] });
    registry.histogram({ name: 'logboom_seconds', help: 'x', buckets: [1, 2] }).observe(1.5);
    const metrics = parseMetrics(await registry.text());
    expect(metrics.value('logboom_merged_total', { level: '1' })).toBe(12);
    expect(metrics.value('logboom_cached_bytes', {})).toBe(5);
    expect(metrics.value('logboom_seconds_bucket', { le: '1' })).toBe(0);
    expect(metrics.value('logboom_seconds_bucket', { le: '2' })).toBe(1);
    expect(() => registry.gauge({ name: 'logboom_merged_total', help: 'x' })).toThrow(
      'already been registered',
    );
  });

  test('has metrics of the build and of the process', async () => {
    const metrics = parseMetrics(await createMetrics({ ofProcess: true }).registry.text());
    expect(metrics.names('loki_build_info')).toHaveLength(1);
    expect(metrics.value('process_start_time_seconds', {})).toBeGreaterThan(1_000_000_000);
    expect(metrics.types.get('process_resident_memory_bytes')).toBe('gauge');
  });
});
