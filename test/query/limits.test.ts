import { describe, expect, test } from '@jest/globals';
import { type BlockedQuery, DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { parseQuery, parseSelector } from '../../shared/language/logql/parse.ts';
import { checkBlocked, fnv1 } from '../../shared/read/query/blocked.ts';
import { formatByteQuantity } from '../../shared/read/query/byte-quantity.ts';
import { checkExpr, combineLimits, limitEntries, limitRange } from '../../shared/read/query/query-limits.ts';
import { compileSelector } from '../../shared/read/query/selector.ts';
import { labelSketch } from '../../shared/storage/catalog/label-sketch.ts';
import { streamOf } from '../support/rows.ts';

const limits = (changes: Partial<Limits>): Limits => ({ ...DEFAULT_LIMITS, ...changes });

describe('limits of a query', () => {
  test.each([
    [
      '{a="b", c="d"}',
      { maxStreamsMatchersPerQuery: 1 },
      'max streams matchers per query exceeded, matchers-count > limit (2 > 1)',
    ],
    [
      '{a="b"}',
      { requiredLabels: ['x', 'y'] },
      'stream selector is missing required matchers [x, y], labels present in the query were [a]',
    ],
    [
      '{a="b"}',
      { minimumLabelsNumber: 2 },
      'stream selector has less label matchers than required: (present: [a], number_present: 1, required_number_label_matchers: 2)',
    ],
    [
      'rate({a="b"}[5m])',
      { maxQueryRangeNs: 60_000_000_000n },
      '[interval] value exceeds limit: [5m] > [1m]',
    ],
    [
      '1 + rate({a="b"}[5m])',
      { requiredLabels: ['x'] },
      'stream selector is missing required matchers [x], labels present in the query were [a]',
    ],
  ])('refuse %s with %j', (query, changes, message) => {
    expect(() => checkExpr(parseQuery(query), limits(changes))).toThrow(message);
    expect(() => checkExpr(parseQuery(query), limits({}))).not.toThrow();
  });

  test('refuse too many entries', () => {
    expect(() => limitEntries(5001, { limits: limits({}) })).toThrow(
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)',
    );
    expect(limitEntries(5000, { limits: limits({}) })).toBe(5000);
    expect(limitEntries(1e9, { limits: limits({ maxEntriesLimitPerQuery: 0 }) })).toBe(1e9);
  });

  test('refuse too long a range', () => {
    const range = { startNs: 0n, endNs: 744n * NS_PER_HOUR };
    expect(() => limitRange(range, { limits: limits({}) }, 0n)).toThrow(
      'the query time range exceeds the limit (query length: 744h0m0s, limit: 30d1h)',
    );
    expect(limitRange(range, { limits: limits({ maxQueryLengthNs: 0n }) }, 0n)).toEqual(range);
  });

  test('clamp a request that collects warnings, with each warning once', () => {
    const warnings: string[] = [];
    const requester = { limits: limits({}), warnings };
    for (let i = 0; i < 2; i++) {
      expect(limitEntries(5001, requester)).toBe(5000);
      expect(limitRange({ startNs: 0n, endNs: 744n * NS_PER_HOUR }, requester, 0n)).toEqual({
        startNs: 23n * NS_PER_HOUR,
        endNs: 744n * NS_PER_HOUR,
      });
    }
    expect(warnings).toEqual([
      'max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000); returning partial ' +
        'results of up to 5000 entries',
      'the query time range exceeds the limit (query length: 744h0m0s, limit: 30d1h); returning partial results for ' +
        'the end of the range',
    ]);
  });

  test('move the start to the look-back limit and hide older entries', () => {
    const look = { limits: limits({ maxQueryLookbackNs: 10n * NS_PER_HOUR }) };
    const now = 100n * NS_PER_HOUR;
    expect(limitRange({ startNs: 80n * NS_PER_HOUR, endNs: 95n * NS_PER_HOUR }, look, now)).toEqual({
      startNs: 90n * NS_PER_HOUR,
      endNs: 95n * NS_PER_HOUR,
    });
    expect(limitRange({ startNs: 80n * NS_PER_HOUR, endNs: 89n * NS_PER_HOUR }, look, now)).toBeUndefined();
  });

  test('use the smallest limit of several tenants, or none', () => {
    const combined = combineLimits([
      limits({ maxQuerySeries: 0, maxQueryLengthNs: 0n, requiredLabels: ['a'], minimumLabelsNumber: 1 }),
      limits({ maxQuerySeries: 7, maxQueryLengthNs: NS_PER_HOUR, requiredLabels: ['a', 'b'] }),
      limits({ maxQuerySeries: 9, volumeEnabled: false }),
    ]);
    expect(combined).toMatchObject({
      maxQuerySeries: 7,
      maxQueryLengthNs: NS_PER_HOUR,
      requiredLabels: ['a', 'b'],
      minimumLabelsNumber: 1,
      volumeEnabled: false,
    });
  });

  test.each([
    [0, '0B'],
    [1023, '1023B'],
    [1536, '1.5KB'],
    [150 * 1024 ** 3, '150GB'],
  ])('print %s bytes as %s', (bytes, want) => {
    expect(formatByteQuantity(bytes)).toBe(want);
  });
});

describe('blocked queries', () => {
  const rule = (changes: Partial<BlockedQuery>): BlockedQuery => {
    return { pattern: '', regex: false, hash: 0, types: [], queryTags: {}, ...changes };
  };
  const log = '{a="b"} |= "x"';

  test.each([
    [[], log, '', false],
    [[rule({})], log, '', true],
    [[rule({ pattern: ` ${log} ` })], log, '', true],
    [[rule({ pattern: '{a="c"}' })], log, '', false],
    [[rule({ pattern: '.*a="b".*', regex: true })], log, '', true],
    [[rule({ pattern: '.*a="b".*' })], log, '', false],
    [[rule({ hash: fnv1(log) })], log, '', true],
    [[rule({ hash: 7, pattern: log })], log, '', false],
    [[rule({ types: ['metric'] })], log, '', false],
    [[rule({ types: ['filter', 'metric'] })], log, '', true],
    [[rule({ types: ['limited'] })], '{a="b"}', '', true],
    [[rule({ types: ['metric'] })], 'rate({a="b"}[1m])', '', true],
    [[rule({ queryTags: { Source: 'Grafana' } })], log, 'user=x, source=grafana', true],
    [[rule({ queryTags: { source: 'grafana' } })], log, 'source=other', false],
    [[rule({ types: ['metric'] }), rule({})], log, '', false],
    [[rule({ pattern: '(', regex: true })], log, '', true],
  ])('rules %j block %s with tags %j: %s', (rules, query, tags, blocked) => {
    const check = () => checkBlocked(query, parseQuery(query), tags, rules);
    if (blocked) expect(check).toThrow('query blocked by policy');
    else expect(check).not.toThrow();
  });

  test('FNV-1 matches its test vectors', () => {
    expect([fnv1(''), fnv1('a'), fnv1('foobar')]).toEqual([0x811c9dc5, 0x050c5d7e, 0x31f0b262]);
  });
});

describe('selectors', () => {
  const streams = [
    { app: 'api', env: 'prod' },
    { app: 'web', env: 'dev' },
    { app: 'multi\nline' },
    { env: 'prod' },
  ].map(labels => streamOf(Object.fromEntries(Object.entries(labels))));

  test.each([
    ['{app="api"}', [0]],
    ['{app!="api", env=~".*"}', [1, 2, 3]],
    ['{app=~"a.*"}', [0]],
    ['{app=~"api|web"}', [0, 1]],
    ['{app=~"multi.line"}', [2]],
    ['{app=~"pi"}', []],
    ['{app!~"api|web", env="prod"}', [3]],
    ['{app=""}', [3]],
    ['{env="prod", app=~".+"}', [0]],
    ['{env=~"prod|", app=~"api|"}', [0, 3]],
  ])('%s', (text, want) => {
    const selector = compileSelector(parseSelector(text, { allowEmpty: true }));
    expect(streams.flatMap((stream, i) => (selector.matches(stream) ? [i] : []))).toEqual(want);
    // A pruned chunk never has a matching stream.
    for (const i of want) expect(selector.mayMatch(labelSketch([streams[i]]))).toBe(true);
    expect(selector.mayMatch(undefined)).toBe(true);
  });

  test('prune chunks that lack a required label pair', () => {
    const sketch = labelSketch([streams[0]]);
    expect(compileSelector(parseSelector('{app="web"}')).mayMatch(sketch)).toBe(false);
    expect(compileSelector(parseSelector('{app=~"web|worker"}')).mayMatch(sketch)).toBe(false);
    expect(compileSelector(parseSelector('{app=~"web|api"}')).mayMatch(sketch)).toBe(true);
    expect(compileSelector(parseSelector('{app=~"w.*"}')).mayMatch(sketch)).toBe(true);
  });

  test('a chunk with too many label pairs has no sketch', () => {
    const many = Array.from({ length: 300 }, (_, i) => streamOf({ pod: `${i}` }));
    expect(labelSketch(many)).toBeUndefined();
    expect(labelSketch(many.slice(0, 200))?.length).toBe(200);
  });
});
