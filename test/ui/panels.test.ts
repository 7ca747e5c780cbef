/** Values that the views of rules, deletes, usage and status compute from the store's responses. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { DeleteRequest } from '../../ui/src/api/deletes-types.ts';
import type { AlertingRule, RecordingRule, RuleGroup } from '../../ui/src/api/rules-types.ts';
import type { UsageDay } from '../../ui/src/api/usage-types.ts';
import { daySums, namedDays, topOf } from '../../ui/src/components/day-bars-model.ts';
import { agoText, spanText } from '../../ui/src/time/moments.ts';
import { configLines, findConfig } from '../../ui/src/values/config-paths.ts';
import { metricSamples, sumOf } from '../../ui/src/values/metrics-text.ts';
import { yamlEntries } from '../../ui/src/values/yaml-entries.ts';
import {
  asksForForce,
  deleteSteps,
  shownDeletes,
  stateOfDelete,
} from '../../ui/src/views/deletes/deletes-model.ts';
import {
  countRules,
  filterOf,
  momentOf,
  shownGroups,
  sortedAlerts,
  stateOfRule,
} from '../../ui/src/views/rules/rules-model.ts';
import { hitRates, METRIC_NAMES, notable } from '../../ui/src/views/status/metrics-model.ts';
import {
  costSeries,
  dayCountOf,
  findLimits,
  lastDays,
  moneyText,
  monthlyCost,
  refusedSeries,
  sumsOf,
  usageCsv,
} from '../../ui/src/views/usage/usage-model.ts';

describe('lengths and moments of time', () => {
  test.each([
    [0, '0 s'],
    [0.0004, '1 ms'],
    [0.754, '754 ms'],
    [59.4, '59 s'],
    [60, '1 min'],
    [5400, '1 h 30 min'],
    [86_400 + 300, '1 d'],
    [90_061, '1 d 1 h'],
  ])('%d seconds are %s', (seconds, text) => expect(spanText(seconds)).toBe(text));

  test.each([
    [1000, 1000, 'now'],
    [0, 5400_000, '1 h ago'],
    [7_200_000, 0, 'in 2 h'],
  ])('%d seen at %d is %s', (atMs, nowMs, text) => expect(agoText(atMs, nowMs)).toBe(text));
});

describe('entries of YAML', () => {
  test('scalars, texts in quotes, lists and maps', () => {
    const text = 'a: 1\nb: ""\nc:\n  - x\n  - y: 2\nd: {}\ne: "q\\"r"\nf:\n  g:\n    h: 1\n';
    expect(yamlEntries(text).map(({ name, value, isNested }) => [name, value, isNested])).toEqual([
      ['a', '1', false],
      ['b', '', false],
      ['c', '- x\n- y: 2', true],
      ['d', '{}', false],
      ['e', 'q"r', false],
      ['f', 'g:\n  h: 1', true],
    ]);
  });

  test('limits are found by all words, in names and values', () => {
    const limits = yamlEntries('max_line_size: 256KB\nmax_query_length: 30d1h\nlist:\n  - line\n  - b');
    const found = (text: string) => findLimits(limits, text).map(({ name }) => name);
    expect(found('')).toEqual(['max_line_size', 'max_query_length', 'list']);
    expect(found('LINE')).toEqual(['max_line_size', 'list']);
    expect(found('max 30d')).toEqual(['max_query_length']);
  });
});

function alerting(name: string, changes: Partial<AlertingRule> = {}): AlertingRule {
  return {
    ...{ type: 'alerting', name, query: 'sum(rate({app="web"}[1m])) > 1', labels: {}, annotations: {} },
    ...{ health: 'ok', lastError: '', lastEvaluation: '2026-11-21T10:00:00Z', evaluationTime: 0.1 },
    ...{ state: 'inactive', duration: 0, keepFiringFor: 0, alerts: [], ...changes },
  };
}

function recording(name: string, changes: Partial<RecordingRule> = {}): RecordingRule {
  const { type: _, ...common } = alerting(name);
  return { ...common, type: 'recording', ...changes };
}

function group(file: string, name: string, rules: RuleGroup['rules']): RuleGroup {
  return { file, name, rules, interval: 60, lastEvaluation: '', evaluationTime: 0 };
}

describe('rules', () => {
  const groups = [
    group('a', 'quiet', [alerting('Quiet'), recording('a:sum')]),
    group('b', 'late', [
      alerting('Late', { state: 'pending' }),
      alerting('New', { state: 'unknown', health: 'unknown' }),
    ]),
    group('c', 'bad', [recording('c:sum', { health: 'err', lastError: 'no vector' })]),
    group('d', 'loud', [
      alerting('Calm'),
      alerting('Loud', { state: 'firing', labels: { severity: 'page' } }),
    ]),
  ];

  test.each([
    [alerting('x', { state: 'firing', health: 'err' }), 'firing'],
    [alerting('x', { state: 'pending', health: 'err' }), 'broken'],
    [alerting('x', { state: 'unknown', health: 'unknown' }), 'unknown'],
    [recording('x'), 'recording'],
    [recording('x', { health: 'err' }), 'broken'],
  ])('%#: is %s', (rule, state) => expect(stateOfRule(rule)).toBe(state));

  test('each is counted once more among all', () => {
    expect(countRules(groups)).toEqual({
      all: 7,
      firing: 1,
      pending: 1,
      broken: 1,
      inactive: 3,
      recording: 1,
    });
  });

  test.each([
    ['all', '', ['d Loud Calm', 'c c:sum', 'b Late New', 'a Quiet a:sum']],
    ['inactive', '', ['a Quiet', 'b New', 'd Calm']],
    ['broken', '', ['c c:sum']],
    ['all', 'PAGE', ['d Loud']],
    ['all', 'quiet', ['a Quiet a:sum']],
    ['all', 'no vector', ['c c:sum']],
    ['firing', 'quiet', []],
  ])('%s with the text %j', (filter, text, wanted) => {
    const found = shownGroups(groups, { filter: filterOf(filter), text });
    expect(found.map(({ file, rules }) => [file, ...rules.map(({ name }) => name)].join(' '))).toEqual(
      wanted,
    );
  });

  test('firing alerts go before pending ones, the newest first', () => {
    const alert = (name: string, state: 'firing' | 'pending', activeAt: string) => ({
      ...{
        labels: { alertname: name },
        annotations: { summary: `${name} is here` },
        state,
        activeAt,
        value: '1e+00',
      },
    });
    const alerts = [
      alert('a', 'pending', '2026-11-21T12:00:00Z'),
      alert('b', 'firing', '2026-11-21T10:00:00Z'),
      alert('c', 'firing', '2026-11-21T11:00:00Z'),
    ];
    const names = (text: string) => sortedAlerts(alerts, text).map(({ labels }) => labels.alertname);
    expect(names('')).toEqual(['c', 'b', 'a']);
    expect(names('B IS')).toEqual(['b']);
  });

  test('a time that never was is none', () => {
    expect(momentOf('0001-01-01T00:00:00Z')).toBeUndefined();
    expect(momentOf('2026-11-21T22:52:57.521Z')).toBe(1795301577521);
  });
});

describe('delete requests', () => {
  const request: DeleteRequest = {
    ...{ id: '5a3c1b2d', query: '{a="b"}', fromMs: 0, toMs: 1, share: 0, bytesDone: 0, bytesTotal: 0 },
    ...{ createdMs: 1000, pickedUpMs: undefined, sealedMs: undefined, processedMs: undefined },
  };
  const working = { ...request, pickedUpMs: 2000 };
  const done = { ...working, sealedMs: 3000, processedMs: 4000 };

  test('are waiting, worked on, and processed; the filter knows them', () => {
    expect([request, working, done].map(stateOfDelete)).toEqual(['waiting', 'working', 'processed']);
    expect(shownDeletes([request, working, done], 'open')).toEqual([request, working]);
    expect(shownDeletes([request, working, done], 'processed')).toEqual([done]);
    expect(deleteSteps(working).map(({ atMs }) => atMs)).toEqual([1000, 2000, undefined, undefined]);
  });

  test('offers force only if the store requires it', () => {
    expect(asksForForce('... is not allowed. To force, use the ?force query parameter')).toBe(true);
    expect(asksForForce('deletion of request which is in process or already processed is not allowed')).toBe(
      false,
    );
  });
});

function usageDay(day: string, changes: Partial<UsageDay> = {}): UsageDay {
  return {
    ...{ day, pushes: 0, lines: 0, bytes: 0, structured_metadata_bytes: 0, streams: 0, refused: {} },
    ...{ queries: 0, query_bytes: 0, query_seconds: 0, stored_bytes: 0 },
    ...{ cost: { ingest: 0, storage: 0, queries: 0, total: 0 }, ...changes },
  };
}

describe('usage', () => {
  const days = [
    usageDay('2026-11-19'),
    usageDay('2026-11-20', {
      ...{
        lines: 10,
        bytes: 100,
        structured_metadata_bytes: 20,
        queries: 3,
        query_bytes: 7,
        stored_bytes: 60,
      },
      ...{ refused: { rate_limited: { lines: 4, bytes: 9 }, line_too_long: { lines: 5, bytes: 9 } } },
      ...{ cost: { ingest: 2, storage: 1, queries: 1, total: 4 } },
    }),
    usageDay('2026-11-21', { stored_bytes: 70, cost: { ingest: 0, storage: 1, queries: 1, total: 2 } }),
  ];
  const noonMs = Date.parse('2026-11-21T12:00:00Z');

  test('days are added up, except for stored bytes, which are those of the last day', () => {
    expect(sumsOf(days)).toEqual({
      ...{ lines: 10, bytes: 120, queries: 3, queryBytes: 7, refusedLines: 9, storedBytes: 70, cost: 6 },
    });
    expect(costSeries(days).map(({ values }) => values)).toEqual([
      [0, 2, 0],
      [0, 1, 1],
      [0, 1, 1],
    ]);
  });

  test('a month costs 20 times as much as a day and a half did, for any earlier days', () => {
    expect(monthlyCost(days, noonMs)).toBeCloseTo((6 / 1.5) * 30);
    expect(monthlyCost(days.slice(0, 1), noonMs)).toBe(0);
  });

  test('reasons by how often they were, those beyond six together', () => {
    expect(refusedSeries(days).map(({ name, values }) => [name, values])).toEqual([
      ['line too long', [0, 5, 0]],
      ['rate limited', [0, 4, 0]],
    ]);
    const many = Object.fromEntries(
      Array.from({ length: 9 }, (_, i) => [`r${i}`, { lines: 9 - i, bytes: 0 }]),
    );
    const series = refusedSeries([usageDay('2026-11-21', { refused: many })]);
    expect(series.map(({ name }) => name).slice(5)).toEqual(['r5', '3 other reasons']);
    expect(series[6].values).toEqual([3 + 2 + 1]);
  });

  test.each([
    [0, 'USD', '$0.00'],
    [12.5, 'EUR', '€12.50'],
    [0.0123, 'USD', '$0.012'],
    [2e-9, 'USD', '<$0.000001'],
    [1.5, 'credits', '1.50 credits'],
  ])('%d of %s is %s', (amount, currency, text) => expect(moneyText(amount, currency)).toBe(text));

  test('a range has whole UTC days, today included', () => {
    expect(lastDays(7, noonMs)).toEqual({ fromMs: Date.parse('2026-11-15'), toMs: noonMs });
    expect([dayCountOf('90'), dayCountOf('8'), dayCountOf(undefined)]).toEqual([90, 30, 30]);
  });

  test('a file has a line for each day', () => {
    const csv = usageCsv({ tenant: 'a', currency: 'USD', stored_bytes_complete: true, days }).split('\n');
    expect(csv).toHaveLength(5);
    expect(csv[2]).toBe('2026-11-20,10,100,20,0,9,3,7,60,4');
  });
});

describe('bars of days', () => {
  test('the top of the axis is round, not below the highest bar, and at most twice as high', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-9, max: 1e15, noNaN: true }), most => {
        const top = topOf(most);
        expect(top).toBeGreaterThanOrEqual(most * (1 - 1e-8));
        expect(top / most).toBeLessThanOrEqual(2);
      }),
      { numRuns: 100 },
    );
    expect([topOf(0), topOf(1), topOf(0.000023), topOf(260)]).toEqual([1, 1, expect.closeTo(0.00004), 400]);
  });

  test('sums of a day, and the days that are named, the last always', () => {
    const series = [
      [1, 2],
      [3, 4],
    ].map((values, i) => ({ name: `${i}`, color: '', values }));
    expect(daySums(series, 2)).toEqual([4, 6]);
    expect(namedDays(30, 6)).toEqual([29, 24, 19, 14, 9, 4]);
    expect(namedDays(3, 6)).toEqual([2, 1, 0]);
  });
});

describe('metrics', () => {
  const text = [
    '# HELP logboom_cache_requests_total x',
    'logboom_cache_requests_total{cache="text_filters",result="hit"} 3',
    'logboom_cache_requests_total{cache="text_filters",result="miss"} 1',
    'logboom_cache_requests_total{cache="footers",result="hit"} 0',
    'logboom_page_cache_requests_total{result="hit"} 24',
    'logboom_page_cache_requests_total{result="miss"} 6',
    'loki_request_duration_seconds_count{method="GET",route="a",status_code="200",ws="false"} 7',
    'loki_request_duration_seconds_count{method="GET",route="a",status_code="503",ws="false"} 2',
    'loki_request_duration_seconds_bucket{le="+Inf"} 9',
    'process_start_time_seconds 1795301561 1795301999000',
    'logboom_usage_dropped_total 5',
    'logboom_queries_total{tenant="a\\"b"} 1',
  ].join('\n');

  test('samples of the requested names, with their labels', () => {
    const all = metricSamples(
      text,
      new Set(['logboom_queries_total', 'loki_request_duration_seconds_bucket']),
    );
    expect(all).toEqual([
      { name: 'loki_request_duration_seconds_bucket', labels: { le: '+Inf' }, value: 9 },
      { name: 'logboom_queries_total', labels: { tenant: 'a"b' }, value: 1 },
    ]);
    expect(sumOf(all, 'nothing')).toBeUndefined();
  });

  test('hit rates of used caches, and problems', () => {
    const samples = metricSamples(text, METRIC_NAMES);
    expect(hitRates(samples)).toEqual([
      { name: 'pages', hits: 24, all: 30 },
      { name: 'text filters', hits: 3, all: 4 },
    ]);
    expect(notable(samples)).toMatchObject({
      ...{ startedMs: 1795301561000, requests: 9, failedRequests: 2, lines: 0, memoryBytes: undefined },
      wrong: [{ name: 'logboom_usage_dropped_total', count: 5 }],
    });
  });
});

test('lists a configuration by its paths, and finds them by all words', () => {
  const lines = configLines({ a: { b: '5s', c: { d: [1, 2] } }, e: {}, f: '' });
  expect(lines).toEqual([
    { path: 'a.b', value: '5s' },
    { path: 'a.c.d', value: '[1,2]' },
    { path: 'e', value: '{}' },
    { path: 'f', value: '' },
  ]);
  expect(findConfig(lines, 'a 5s').map(({ path }) => path)).toEqual(['a.b']);
  expect(findConfig(lines, '')).toHaveLength(4);
});
