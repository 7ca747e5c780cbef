import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  decodeExposition,
  encodeExposition,
  figuresToReport,
  processText,
} from '../../shared/server/admin/fleet-figures.ts';
import {
  ExpositionSum,
  parseExposition,
  printExposition,
  sinceExposition,
  withoutGauges,
} from '../../shared/server/admin/metrics/exposition.ts';
import { MetricsRegistry } from '../../shared/server/admin/metrics/registry.ts';
import { parseMetrics } from '../usage/support/parse-metrics.ts';

const SUM = { maxTenants: 2 };

function registryOf(counts: Readonly<Record<string, number>>, open = 0): MetricsRegistry {
  const registry = new MetricsRegistry();
  const counter = registry.counter<'tenant'>({
    name: 'lines_total',
    help: 'Lines, all of them.',
    labels: ['tenant'],
  });
  for (const [tenant, count] of Object.entries(counts)) counter.inc({ tenant }, count);
  const seconds = registry.histogram({ name: 'seconds', help: 'Seconds.', buckets: [1, 2] });
  for (const count of Object.values(counts)) seconds.observe(count);
  registry.gauge({ name: 'open', help: 'Open.' }).set(open);
  registry.gauge({ name: 'last_timestamp_seconds', help: 'Last.' }).set(open);
  registry.untyped({ name: 'waiting_count', help: 'Waiting.', read: () => [{ labels: {}, value: open }] });
  registry.untyped({ name: 'loki_compactor_waiting_count', help: 'Waiting in the store.' }).set(open);
  return registry;
}

const tenants = fc.dictionary(fc.string({ minLength: 1, maxLength: 6, unit: 'grapheme' }), fc.nat(1000), {
  maxKeys: 4,
  noNullPrototype: true,
});

describe('text', () => {
  test('is read back as it was printed, with any label value', async () => {
    await fc.assert(
      fc.asyncProperty(tenants, async counts => {
        const text = await registryOf(counts).text();
        const read = parseExposition(text);
        expect(parseExposition(printExposition(read))).toEqual(read);
        const metrics = parseMetrics(printExposition(read));
        for (const [tenant, count] of Object.entries(counts)) {
          expect(metrics.value('lines_total', { tenant })).toBe(count);
        }
        // In the table texts and what was never counted are left away.
        const kept = decodeExposition(encodeExposition(read));
        for (const [name, { samples, type }] of read) {
          const counted = [...samples.values()].some(value => value !== 0);
          expect([name, kept.get(name)]).toEqual([name, counted ? { help: '', type, samples } : undefined]);
        }
      }),
      { numRuns: 40, examples: [[{ '\u2028': 1 }]] },
    );
  });

  test('metrics of the process itself are not sent to other processes', () => {
    const text =
      '# HELP process_x X.\n# TYPE process_x gauge\nprocess_x 1\n# HELP a A.\n# TYPE a counter\na 2\n';
    expect([...figuresToReport(text).keys()]).toEqual(['a']);
    expect(decodeExposition(new Uint8Array(0))).toEqual(new Map());
  });
});

test('figures that do not fit an item lose the names of their tenants, but no count', async () => {
  // Digits of a fixed series that deflates badly.
  let state = 1;
  const name = () => {
    let text = '';
    for (let i = 0; i < 12; i++)
      text += String.fromCharCode(97 + ((state = (state * 16_807) % 2_147_483_647) % 26));
    return text;
  };
  const counts = Object.fromEntries(Array.from({ length: 50_000 }, () => [name(), 1]));
  const encoded = encodeExposition(parseExposition(await registryOf(counts).text()));
  expect(encoded.length).toBeLessThan(1000);
  const read = decodeExposition(encoded).get('lines_total');
  expect([...read!.samples]).toEqual([['lines_total{tenant="other"}', Object.keys(counts).length]]);
});

describe('sums', () => {
  const summed = async (...registries: MetricsRegistry[]) => {
    const sum = new ExpositionSum(SUM);
    for (const registry of registries) sum.add(parseExposition(await registry.text()));
    return { all: sum.all, metrics: parseMetrics(printExposition(sum.all)) };
  };

  test('add counters, histograms and gauges, and take the latest of times', async () => {
    const { metrics, all } = await summed(registryOf({ a: 1 }, 3), registryOf({ a: 5, b: 2 }, 9));
    expect(metrics.value('lines_total', { tenant: 'a' })).toBe(6);
    expect(metrics.value('seconds_bucket', { le: '1' })).toBe(1);
    expect(metrics.value('seconds_bucket', { le: '2' })).toBe(2);
    expect(metrics.value('seconds_bucket', { le: '+Inf' })).toBe(3);
    expect(metrics.value('seconds_sum', {})).toBe(8);
    expect(metrics.value('open', {})).toBe(12);
    expect(metrics.value('last_timestamp_seconds', {})).toBe(9);
    expect(metrics.types.get('waiting_count')).toBe('untyped');
    expect(metrics.value('waiting_count', {})).toBe(12);
    expect(metrics.value('loki_compactor_waiting_count', {})).toBe(9);
    expect([...withoutGauges(all).keys()]).toEqual(['lines_total', 'seconds']);
  });

  test('combine tenants beyond the limit into one series, and lose nothing', async () => {
    const { metrics } = await summed(registryOf({ a: 1, b: 2 }), registryOf({ c: 4, d: 8, a: 16 }));
    const value = (tenant: string) => metrics.value('lines_total', { tenant });
    expect([value('a'), value('b'), value('other'), value('c')]).toEqual([17, 2, 12, undefined]);
  });

  test('are equal whether parts are combined first or all are added', async () => {
    await fc.assert(
      fc.asyncProperty(tenants, tenants, async (before, more) => {
        const registry = registryOf(before);
        const folded = withoutGauges(parseExposition(await registry.text()));
        const after = registryOf({
          ...before,
          ...Object.fromEntries(Object.keys(more).map(key => [key, (before[key] ?? 0) + more[key]])),
        });
        const now = parseExposition(await after.text());
        const sum = new ExpositionSum({ maxTenants: 100 });
        sum.add(folded);
        sum.add(sinceExposition(now, folded));
        for (const [name, { samples }] of withoutGauges(now)) {
          for (const [key, value] of samples)
            expect([key, sum.all.get(name)!.samples.get(key)]).toEqual([key, value]);
        }
      }),
      { numRuns: 30 },
    );
  });
});

test('contain 10,000 tenants of a process, summed over its threads', () => {
  const texts = [1, 2].map(number => {
    const lines = Array.from({ length: 10_001 }, (_, i) => `pushed_total{tenant="t${i}"} ${number}`);
    return `# TYPE pushed_total counter\n${lines.join('\n')}\n`;
  });
  const { samples } = parseExposition(processText('', texts)).get('pushed_total')!;
  expect(samples.size).toBe(10_001);
  expect(samples.get('pushed_total{tenant="t9999"}')).toBe(3);
  expect(samples.get('pushed_total{tenant="other"}')).toBe(3);
});
