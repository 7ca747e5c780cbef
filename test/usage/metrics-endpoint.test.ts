import { expect, test } from '@jest/globals';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { parseMetrics } from './support/parse-metrics.ts';
import { configOf, memoryStores, startProcess } from './support/store.ts';

const START_MS = Date.UTC(2026, 10, 21, 12);

test('GET /metrics counts exactly the accepted and the refused entries', async () => {
  const clock = virtualClock(START_MS);
  const config = configOf({}, { maxLineSize: 10 });
  const { push, get, text, defects } = startProcess(memoryStores(clock), { seed: 1, config });
  expect((await push('acme', ['a', 'b'], ['12345', 'far too long to be stored', '1234567890'])).status).toBe(
    400,
  );
  expect((await push('acme', ['c'], ['123'])).status).toBe(204);
  expect((await push('globex', ['a'], ['x'])).status).toBe(204);
  const query = '/loki/api/v1/query_range?query=%7Bapp%3D%22a%22%7D';
  expect((await get(query, { tenant: 'acme' })).status).toBe(200);
  expect((await get('/nowhere/at/all')).status).toBe(404);
  expect((await get('/ready/%zz')).status).toBe(400);

  const answer = await get('/metrics');
  expect(answer).toMatchObject({
    status: 200,
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  });
  const metrics = parseMetrics(String(answer.body));
  const of = (tenant: string) => ({ tenant, is_internal_stream: 'false', policy: '', format: 'loki' });
  const kept = (tenant: string) => ({ ...of(tenant), retention_hours: '' });
  // Each of two streams has 5 + 10 bytes stored and 25 refused. The reference counts both as received.
  expect(metrics.value('loki_distributor_lines_received_total', of('acme'))).toBe(7);
  expect(metrics.value('loki_distributor_bytes_received_total', kept('acme'))).toBe(2 * 40 + 3);
  expect(metrics.value('loki_distributor_structured_metadata_bytes_received_total', kept('acme'))).toBe(0);
  expect(metrics.value('loki_distributor_lines_received_total', of('globex'))).toBe(1);
  const { is_internal_stream: _, ...refused } = { ...kept('acme'), reason: 'line_too_long' };
  expect(metrics.value('loki_discarded_samples_total', refused)).toBe(2);
  expect(metrics.value('loki_discarded_bytes_total', refused)).toBe(50);
  expect(metrics.names('loki_discarded_samples_total')).toHaveLength(1);
  expect(metrics.value('loki_bytes_per_line_count', {})).toBe(6);
  expect(metrics.value('loki_bytes_per_line_sum', {})).toBe(34);
  expect(metrics.value('logboom_queries_total', { tenant: 'acme' })).toBe(1);

  const seconds = (method: string, route: string, status: string) =>
    metrics.value('loki_request_duration_seconds_count', { method, route, status_code: status, ws: 'false' });
  expect(seconds('POST', 'loki_api_v1_push', '204')).toBe(2);
  expect(seconds('POST', 'loki_api_v1_push', '400')).toBe(1);
  expect(seconds('GET', 'loki_api_v1_query_range', '200')).toBe(1);
  expect(seconds('GET', 'other', '404')).toBe(1);
  expect(seconds('GET', 'other', '400')).toBe(1);
  // Itself.
  expect(metrics.value('loki_inflight_requests', { method: 'GET', route: 'metrics' })).toBe(1);
  expect(metrics.value('loki_inflight_requests', { method: 'POST', route: 'loki_api_v1_push' })).toBe(0);
  expect(metrics.value('loki_panic_total', {})).toBe(0);
  expect(defects).toEqual([]);

  // A counter that is read for the first time starts at zero.
  expect(parseMetrics(await text('/metrics')).value('loki_discarded_bytes_total', refused)).toBe(50);
});

test('a repeated push counts once', async () => {
  const { push, text } = startProcess(memoryStores(virtualClock(START_MS)), { seed: 1 });
  await push('acme', ['a'], ['123']);
  const before = parseMetrics(await text('/metrics'));
  const labels = { tenant: 'acme', is_internal_stream: 'false', policy: '', format: 'loki' };
  expect(before.value('loki_distributor_lines_received_total', labels)).toBe(1);
  await push('acme', ['a'], ['123']);
  const after = parseMetrics(await text('/metrics'));
  expect(after.value('loki_distributor_lines_received_total', labels)).toBe(1);
});
