/** Every metric that the program may print is one that Prometheus's own checker has no complaint about. */
import { describe, expect, test } from '@jest/globals';
import { QueryMemory } from '../../shared/read/query/query-memory.ts';
import { AnswerCache } from '../../shared/read/query/tasks/answer-cache.ts';
import type { QueryWorkers } from '../../shared/read/query/tasks/query-workers.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import {
  type MetricFamily,
  parseExposition,
  printExposition,
} from '../../shared/server/admin/metrics/exposition.ts';
import { MetricsRegistry } from '../../shared/server/admin/metrics/registry.ts';
import { addWorkerMetrics } from '../../shared/server/admin/metrics/worker-metrics.ts';
import { pushLine, START_MS, testStores } from '../maintenance/store.ts';
import { problemsOf } from './support/metric-lint.ts';

function family(type: string, { help = 'Help.', samples = [] as string[] } = {}): MetricFamily {
  return { type, help, samples: new Map(samples.map(sample => [sample, 1])) };
}

/** Finds the defects of all metric families of a page. */
function complaints(text: string): string[] {
  return [...parseExposition(text)].flatMap(([name, one]) =>
    problemsOf(name, one).map(problem => `${name}: ${problem}`),
  );
}

describe('lint rules of metrics', () => {
  test.each<[string, MetricFamily, string[]]>([
    ['a_total', family('counter'), []],
    ['a', family('counter'), ['counter and _total']],
    ['a_total', family('gauge'), ['gauge and _total']],
    ['a_total', family('histogram'), ['histogram and _total']],
    ['a_total', family('untyped'), []],
    ['a', family('gauge', { help: '' }), ['no help text']],
    ['a_hours', family('histogram'), ['hours instead of seconds']],
    ['a_hours_of_x', family('untyped'), ['hours instead of seconds']],
    ['a_milliseconds', family('gauge'), ['milliseconds instead of seconds']],
    ['a_seconds', family('gauge'), []],
    ['a_bytes_per_seconds', family('gauge'), []],
    ['a_ms', family('gauge'), ['an abbreviated unit']],
    ['a_mb_total', family('counter'), ['an abbreviated unit']],
    ['a_count', family('gauge'), ['gauge and count']],
    ['a_sum', family('gauge'), ['gauge and sum']],
    ['a_bucket', family('gauge'), ['gauge and _bucket']],
    ['a_count', family('untyped'), []],
    ['a', family('histogram', { samples: ['a_bucket{le="1"}', 'a_sum', 'a_count'] }), []],
    ['a', family('gauge', { samples: ['a{le="1"}'] }), ['gauge and le']],
    ['a', family('gauge', { samples: ['a{b="le=\\"1\\"",quantile="1"}'] }), ['gauge and quantile']],
    ['a_gauge', family('gauge'), ['gauge in its name']],
    ['a_histogram_x', family('histogram'), ['histogram in its name']],
    ['aB', family('gauge'), ['camel case']],
    ['a', family('gauge', { samples: ['a{bC="1"}'] }), ['camel case']],
    ['a:b', family('gauge'), ['a colon']],
  ])('%s %j', (name, one, want) => {
    expect(problemsOf(name, one)).toEqual(want);
  });
});

test('a used store with its process has no lint problems', async () => {
  const process = testStores({}, { limits: { ...DEFAULT_CONFIG.limits, rejectOldSamples: false } }).process(
    1,
  );
  await pushLine(process, 'acme', START_MS, 'line');
  const { body } = await process.ask('GET', '/metrics');
  const text = Buffer.from(body).toString();
  expect(parseExposition(text).size).toBeGreaterThan(40);
  expect(complaints(text)).toEqual([]);
});

test('metrics of the process', async () => {
  const registry = new MetricsRegistry();
  registry.addProcessMetrics();
  const text = await registry.text();
  expect(text).toContain('nodejs_active_resources{');
  expect(complaints(text)).toEqual([]);
});

test('metrics of query workers', async () => {
  const registry = new MetricsRegistry();
  const figures = { tasks: 1, failed: 0, refused: 0, here: 0, invocations: 0, bytes: 0 };
  const workers = { figures, slots: 1, running: 0, waiting: 0 } as unknown as QueryWorkers;
  addWorkerMetrics(registry, { workers, memory: new QueryMemory(), answers: new AnswerCache(1000) });
  const text = await registry.text();
  expect(parseExposition(text).size).toBeGreaterThan(8);
  expect(complaints(text)).toEqual([]);
});

test('a page that is parsed and printed again is equal', async () => {
  const { body } = await testStores().process(1).ask('GET', '/metrics');
  const text = Buffer.from(body).toString();
  expect(complaints(printExposition(parseExposition(text)))).toEqual([]);
});
