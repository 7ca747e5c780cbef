import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { compileSampleExtractor, sampleFailure } from '../../shared/execution/pipeline/extractor.ts';
import type { RangeAggregationExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import {
  allRows,
  clock,
  type Entry,
  extractAll,
  extractorOf,
  makePage,
  samplesOf,
  type Texts,
} from './support.ts';

const one = (query: string, line: string, metadata: Texts = {}) =>
  samplesOf(query, [{ line, metadata }]).map(({ labels, value }) => [labels, value]);

describe('values', () => {
  test.each<[string, string, number | undefined]>([
    ['count_over_time({app="x"}[1m])', 'abc', 1],
    ['rate({app="x"} |= "a" [1m])', 'abc', 1],
    ['bytes_over_time({app="x"}[1m])', 'aé', 3],
    ['bytes_rate({app="x"} | line_format "{{__line__}}é" [1m])', 'aé', 5],
    ['bytes_over_time({app="x"} | line_format "" [1m])', 'aé', 0],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=-1.5e3', -1500],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=0.1', 0.1],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=1_000', 1000],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=NaN', Number.NaN],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=+Inf', Infinity],
    ['sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'm=1', undefined],
    ['sum_over_time({app="x"} | logfmt --keep-empty | unwrap n [1m])', 'n=', undefined],
    ['sum_over_time({app="x"} | json | unwrap n [1m])', '{"n":"\\x"}', undefined],
    ['sum_over_time({app="x"} | json | unwrap n [1m])', '{"n":"\\u0031"}', 1],
    ['sum_over_time({app="x"} | logfmt | unwrap duration(n) [1m])', 'n=1h0.5s', 3600.5],
    ['sum_over_time({app="x"} | logfmt | unwrap duration_seconds(n) [1m])', 'n=250ms', 0.25],
    ['sum_over_time({app="x"} | logfmt | unwrap duration(n) [1m])', 'n=-3m', -180],
    [
      'sum_over_time({app="x"} | logfmt | unwrap duration(n) [1m])',
      'n=2562047h47m16.854775807s',
      9223372036.854776,
    ],
    ['sum_over_time({app="x"} | logfmt | unwrap bytes(n) [1m])', 'n=1.5KiB', 1536],
    ['sum_over_time({app="x"} | logfmt | unwrap bytes(n) [1m])', 'n="2 MB"', 2_000_000],
    ['sum_over_time({app="x"} | logfmt | unwrap n | n > 5 [1m])', 'n=5', undefined],
    ['sum_over_time({app="x"} | logfmt | unwrap n | m="1" [1m])', 'n=5 m=1', 5],
    ['sum_over_time({app="x"} | logfmt | unwrap n | m=ip("1.2.3.4") [1m])', 'n=5 m=1.2.3.4', 5],
    ['sum_over_time({app="x"} | logfmt | unwrap n | m=ip("") [1m])', 'n=5 m=1.2.3.4', undefined],
    ['sum_over_time({app="x"} | logfmt | unwrap n | m!=ip("") [1m])', 'n=5 m=1.2.3.4', undefined],
  ])('%s of %j', (query, line, want) => {
    const samples = samplesOf(query, [{ line }]);
    expect(samples.map(({ value }) => value)).toEqual(want === undefined ? [] : [want]);
  });

  test('takes values from metadata and from the stream', () => {
    expect(one('sum_over_time({app="x"} | unwrap m [1m])', 'l', { m: '7', k: 'K' })).toEqual([
      [{ app: 'x', k: 'K' }, 7],
    ]);
    const query = 'sum_over_time({app="x"} | unwrap n [1m])';
    expect(samplesOf(query, [{ line: 'l', stream: { app: 'x', n: '2' } }])).toEqual([
      { row: 0, labels: { app: 'x' }, value: 2 },
    ]);
  });

  test('a value that does not convert is 0 with an error, unless a filter removes it', () => {
    const labels = {
      app: 'x',
      n: 'abc',
      __error__: 'SampleExtractionErr',
      __error_details__: 'strconv.ParseFloat: parsing "abc": invalid syntax',
    };
    expect(one('sum_over_time({app="x"} | logfmt | unwrap n [1m])', 'n=abc')).toEqual([[labels, 0]]);
    expect(one('sum(sum_over_time({app="x"} | logfmt | unwrap n [1m]))', 'n=abc')).toEqual([[labels, 0]]);
    expect(one('sum_over_time({app="x"} | logfmt | unwrap n | __error__="" [1m])', 'n=abc')).toEqual([]);
    expect(
      one('sum_over_time({app="x"} | logfmt | unwrap duration(n) | __error__!="" [1m])', 'n=5')[0][0],
    ).toMatchObject({
      __error_details__: 'time: missing unit in duration "5"',
    });
  });
});

describe('labels of the series', () => {
  const line = 'a=1 b=2 e= n=3';
  test.each<[string, Texts]>([
    ['count_over_time({app="x"} | logfmt [1m])', { app: 'x', m: 'M', a: '1', b: '2', n: '3' }],
    [
      'count_over_time({app="x"} | logfmt --keep-empty [1m])',
      { app: 'x', m: 'M', a: '1', b: '2', e: '', n: '3' },
    ],
    ['sum by (a, nosuch) (count_over_time({app="x"} | logfmt [1m]))', { a: '1' }],
    ['sum by (m, app) (count_over_time({app="x"} | logfmt [1m]))', { app: 'x', m: 'M' }],
    ['sum by (e) (count_over_time({app="x"} | logfmt --keep-empty [1m]))', { e: '' }],
    [
      'sum without (a, m) (count_over_time({app="x"} | logfmt --keep-empty [1m]))',
      { app: 'x', b: '2', e: '', n: '3' },
    ],
    [
      'sum without () (count_over_time({app="x"} | logfmt --keep-empty [1m]))',
      { app: 'x', m: 'M', a: '1', b: '2', e: '', n: '3' },
    ],
    ['sum(count_over_time({app="x"} | logfmt [1m]))', {}],
    ['sum by () (count_over_time({app="x"} | logfmt [1m]))', {}],
    ['max by (a) (count_over_time({app="x"} | logfmt [1m]))', { app: 'x', m: 'M', a: '1', b: '2', n: '3' }],
    ['absent_over_time({app="x"} | logfmt [1m])', {}],
    ['max_over_time({app="x"} | logfmt | unwrap n [1m])', { app: 'x', m: 'M', a: '1', b: '2' }],
    ['max_over_time({app="x"} | logfmt | unwrap n [1m]) by (a, n)', { a: '1', n: '3' }],
    ['max_over_time({app="x"} | logfmt | unwrap n [1m]) by ()', {}],
    ['max_over_time({app="x"} | logfmt | unwrap n [1m]) without (a)', { app: 'x', m: 'M', b: '2' }],
    ['max_over_time({app="x"} | logfmt | unwrap n [1m]) without ()', { app: 'x', m: 'M', a: '1', b: '2' }],
    ['sum by (z) (count_over_time({app="x"} | logfmt | label_format z=a [1m]))', { z: '1' }],
    ['count_over_time({app="x"} | logfmt | keep a, app [1m])', { app: 'x', a: '1' }],
    ['count_over_time({app="x"} | logfmt | label_format app=a | drop b, n, m [1m])', { app: '1' }],
    [
      'sum by (z) (count_over_time({app="x"} | logfmt | label_format z="{{range $k, $v := .}}{{$k}}{{end}}" [1m]))',
      { z: 'aappbmn' },
    ],
  ])('%s', (query, want) => {
    expect(samplesOf(query, [{ line, metadata: { m: 'M' } }]).map(({ labels }) => labels)).toEqual([want]);
  });

  test('an empty value makes a separate series', () => {
    const entries = [{ line: 'y=1 x=' }, { line: 'y=1' }, { line: 'x= y=1' }];
    const series = (query: string) => {
      const extractor = extractorOf(query);
      const page = makePage(entries);
      const batch = extractor.extract(page, allRows(page), page.rows);
      return [...batch.series.subarray(0, batch.count)].map(number => [
        number,
        formatLabels(extractor.series.labelsOf(number)),
      ]);
    };
    expect(series('count_over_time({app="x"} | logfmt --keep-empty [1m])')).toEqual([
      [0, '{app="x", x="", y="1"}'],
      [1, '{app="x", y="1"}'],
      [0, '{app="x", x="", y="1"}'],
    ]);
    expect(series('sum by (x) (count_over_time({app="x"} | logfmt --keep-empty [1m]))')).toEqual([
      [0, '{x=""}'],
      [1, '{}'],
      [0, '{x=""}'],
    ]);
    expect(series('sum without (app) (count_over_time({app="x"} | logfmt --keep-empty [1m]))')).toEqual([
      [0, '{x="", y="1"}'],
      [1, '{y="1"}'],
      [0, '{x="", y="1"}'],
    ]);
  });

  test.each([
    ['logfmt y="user"', 'user=bob', { app: 'x' }],
    ['logfmt | logfmt y="user"', 'user=bob', { app: 'x' }],
    ['logfmt | drop y | label_format y=user', 'y=1 user=bob', { app: 'x' }],
    ['logfmt | drop y | label_format y=user', 'user=bob', { app: 'x', y: 'stream' }],
  ])(
    'a clause finds what %s makes of %j (docs/reference/differences.md, choices)',
    (stages, line, stream) => {
      const query = `sum by (y) (count_over_time({app="x"} | ${stages} [1m]))`;
      expect(samplesOf(query, [{ line, stream }])[0].labels).toEqual({ y: 'bob' });
    },
  );

  test('details of a dropped error stay if all labels do', () => {
    const entries = [{ line: '{"a":"1"}' }, { line: '{"a":"1"' }, { line: 'x' }];
    const labels = (query: string) => samplesOf(query, entries).map(sample => sample.labels);
    const range = 'count_over_time({app="x"} | json | label_format b="B" | drop a, __error__ [1m])';
    const [shown, array, object] = [
      { app: 'x', b: 'B' },
      "Value is array, but can't find closing ']' symbol",
      "Value looks like object, but can't find closing '}' symbol",
    ];
    const withDetails = [
      shown,
      { ...shown, __error_details__: array },
      { ...shown, __error_details__: object },
    ];
    expect(labels(range)).toEqual(withDetails);
    expect(labels(`sum without () (${range})`)).toEqual(withDetails);
    expect(labels(`sum without (b) (${range})`)).toEqual([{ app: 'x' }, { app: 'x' }, { app: 'x' }]);
    expect(labels(`sum by (__error_details__) (${range})`)).toEqual([{}, {}, {}]);
  });

  test('a clause of an outer sum counts if it may be pushed down', () => {
    const expr = parseQuery('rate({app="x"} | logfmt [1m])') as RangeAggregationExpr;
    const outerGrouping = { without: false, labels: ['a'] };
    const labels = (op: RangeAggregationExpr['op']) =>
      extractAll(
        compileSampleExtractor(expr.range, { op, outerGrouping, clock }),
        makePage([{ line: 'a=1 b=2' }]),
      )[0].labels;
    expect(labels('rate')).toEqual({ a: '1' });
    expect(labels('first_over_time')).toEqual({ app: 'x', a: '1', b: '2' });
  });
});

describe('failures', () => {
  const JSON_ERROR = {
    __error__: 'JSONParserErr',
    __error_details__: "Value looks like object, but can't find closing '}' symbol",
  };

  test('a row with an error keeps its labels in any grouping', () => {
    expect(one('sum by (a) (count_over_time({app="x"} | json [1m]))', 'x', { m: '1' })).toEqual([
      [{ app: 'x', m: '1', ...JSON_ERROR }, 1],
    ]);
    expect(one('sum(count_over_time({app="x"} | json [1m]))', 'x')).toEqual([[{}, 1]]);
    expect(one('sum(count_over_time({app="x"} | json | a!="1" [1m]))', 'x')).toEqual([
      [{ app: 'x', ...JSON_ERROR }, 1],
    ]);
  });

  test('asking for __error__ makes it a result', () => {
    const [[labels]] = one('sum by (__error__) (count_over_time({app="x"} | json [1m]))', 'x');
    expect(labels).toEqual({ app: 'x', ...JSON_ERROR, __preserve_error__: 'true' });
    expect(sampleFailure(labelsOf(labels as Texts))).toBeUndefined();
  });

  test('the failure has the text of the reference', () => {
    const extractor = extractorOf('count_over_time({app="x"} | logfmt | n > 5 [1m])');
    extractAll(extractor, makePage([{ line: 'n=6' }]));
    expect(extractor.failure()).toBeUndefined();
    extractAll(extractor, makePage([{ line: 'n=7' }, { line: 'n="q\\""' }]));
    expect(extractor.failure()).toBe(
      `pipeline error: 'LabelFilterErr' for series: '{__error__="LabelFilterErr", __error_details__="strconv.ParseFloat: parsing \\"q\\\\\\"\\": invalid syntax", app="x", n="q\\""}'.\n` +
        'Use a label filter to intentionally skip this error. (e.g | __error__!="LabelFilterErr").\n' +
        'To skip all potential errors you can match empty errors.(e.g __error__="")\n' +
        'The label filter can also be specified after unwrap. (e.g | unwrap latency | __error__="" )\n',
    );
    expect(sampleFailure(labelsOf({ app: 'x' }))).toBeUndefined();
  });

  test('a filter on a stored label that does not convert', () => {
    const samples = samplesOf('sum by (m) (count_over_time({app="x"} | m > 5 [1m]))', [
      { line: 'l', metadata: { m: '7' } },
      { line: 'l', metadata: { m: 'abc' } },
      { line: 'l', metadata: { m: '3' } },
      { line: 'l' },
    ]);
    expect(samples.map(({ row, labels }) => [row, labels.m, labels.__error__])).toEqual([
      [0, '7', undefined],
      [1, 'abc', 'LabelFilterErr'],
    ]);
  });

  test('a line_format that nothing reads is not run, so it cannot fail (docs/dev/logql-semantics.md#line_format)', () => {
    const bad = 'line_format "{{ unixToTime .app }}"';
    const errors = (query: string) =>
      samplesOf(query, [{ line: 'a=1' }]).map(({ labels }) => labels.__error__);
    expect(errors(`count_over_time({app="x"} | ${bad} [1m])`)).toEqual([undefined]);
    expect(errors(`count_over_time({app="x"} | logfmt | ${bad} | a="1" [1m])`)).toEqual([undefined]);
    expect(errors(`count_over_time({app="x"} | ${bad} | logfmt [1m])`)).toEqual(['TemplateFormatErr']);
    expect(errors(`count_over_time({app="x"} | ${bad} |= "a" [1m])`)).toEqual(['TemplateFormatErr']);
    expect(errors(`bytes_over_time({app="x"} | ${bad} [1m])`)).toEqual(['TemplateFormatErr']);
  });
});

describe('columns that are read', () => {
  test.each<[string, string, string[] | 'all']>([
    ['sum(count_over_time({app="x"}[1m]))', 'none', []],
    ['sum by (a) (count_over_time({app="x"}[1m]))', 'none', ['a', '__error__', '__error_details__']],
    [
      'sum by (a_extracted) (rate({app="x"}[1m]))',
      'none',
      ['a_extracted', 'a', '__error__', '__error_details__'],
    ],
    ['count_over_time({app="x"}[1m])', 'none', 'all'],
    ['sum(bytes_over_time({app="x"}[1m]))', 'lengths', []],
    ['sum(bytes_over_time({app="x"} |= "a" [1m]))', 'bytes', []],
    ['sum(count_over_time({app="x"} | json [1m]))', 'none', []],
    ['sum(count_over_time({app="x"} | a="1" [1m]))', 'none', ['a', '__error__', '__error_details__']],
    [
      'sum by (s) (count_over_time({app="x"} | json | l="e" [1m]))',
      'bytes',
      ['s', 'l', '__error__', '__error_details__'],
    ],
    ['sum by (__error__) (count_over_time({app="x"} | json [1m]))', 'bytes', 'all'],
    ['sum without (a) (count_over_time({app="x"}[1m]))', 'none', 'all'],
    ['max_over_time({app="x"} | unwrap n [1m]) by (a)', 'none', ['a', 'n', '__error__', '__error_details__']],
    ['sum(count_over_time({app="x"} | line_format "x" [1m]))', 'none', []],
    ['absent_over_time({app="x"}[1m])', 'none', []],
  ])('%s', (query, lines, metadata) => {
    const { needs } = extractorOf(query);
    expect(needs.lines).toBe(lines);
    expect(needs.metadata === 'all' ? 'all' : [...needs.metadata].sort()).toEqual(
      metadata === 'all' ? 'all' : metadata.sort(),
    );
  });
});

describe('ways that must agree', () => {
  const word = fc.constantFrom('1', '2', 'x', 'yy');
  const entry = fc.record({
    line: fc
      .dictionary(fc.constantFrom('a', 'b', 'c', 'app'), word, { maxKeys: 3 })
      .map(record => JSON.stringify(record)),
    stream: fc.record({ app: fc.constant('x'), b: word, s: word }, { requiredKeys: ['app'] }),
    metadata: fc.dictionary(fc.constantFrom('a', 'b', 'm', 'b_extracted'), word, { maxKeys: 3 }),
  });
  const entries = fc.array(entry, { minLength: 1, maxLength: 10 });
  const clause = fc.constantFrom(
    'by (a)',
    'by (b, m)',
    'by (b_extracted)',
    'by (s)',
    'by (nosuch)',
    'by ()',
    'without ()',
    'without (a, s)',
  );

  test('rows as stored are assigned like rows that stages worked on', () => {
    fc.assert(
      fc.property(
        entries,
        clause,
        fc.constantFrom('count_over_time', 'bytes_over_time'),
        (list, grouping, op) => {
          const answer = (stages: string) =>
            samplesOf(`sum ${grouping} (${op}({app="x"} ${stages} [1m]))`, list as Entry[]);
          expect(answer('')).toEqual(answer('| drop nosuch'));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a grouped extraction equals the full one with later grouping', () => {
    fc.assert(
      fc.property(
        entries,
        fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'm', 'app_extracted', 'b_extracted'), { minLength: 1 }),
        (list, names) => {
          const stages = '{app="x"} | json | a!="2" [1m]';
          const full = samplesOf(`count_over_time(${stages})`, list as Entry[]);
          const grouped = samplesOf(
            `sum by (${names.join(', ')}) (count_over_time(${stages}))`,
            list as Entry[],
          );
          const expected = full.map(({ row, labels, value }) => ({
            row,
            labels: Object.fromEntries(
              Object.entries(labels).filter(([name]) => (names as string[]).includes(name)),
            ),
            value,
          }));
          expect(grouped).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  test('columns that are not needed change nothing', () => {
    fc.assert(
      fc.property(entries, clause, (list, grouping) => {
        const query = `sum ${grouping} (count_over_time({app="x"} | json | m!="2" [1m]))`;
        const extractor = extractorOf(query);
        const page = makePage(list as Entry[]);
        const { metadata } = extractor.needs;
        const kept = page.metadata.filter(({ name }) => metadata === 'all' || metadata.has(name));
        expect(extractAll(extractor, { ...page, metadata: kept })).toEqual(samplesOf(query, list as Entry[]));
      }),
    );
  });

  test('page after page, numbers of series stay', () => {
    fc.assert(
      fc.property(entries, entries, clause, (first, second, grouping) => {
        const query = `sum ${grouping} (count_over_time({app="x"} | json [1m]))`;
        const extractor = extractorOf(query);
        const pages = [first, second, first].map(list => makePage(list as Entry[]));
        const answers = pages.map(page => extractAll(extractor, page));
        expect(answers[2]).toEqual(answers[0]);
        expect(answers[1]).toEqual(samplesOf(query, second as Entry[]));
        const texts = Array.from({ length: extractor.series.count }, (_, i) =>
          formatLabels(extractor.series.labelsOf(i)),
        );
        expect(new Set(texts).size).toBe(texts.length);
      }),
    );
  });
});
