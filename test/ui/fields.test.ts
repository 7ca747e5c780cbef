import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import {
  bucketsOf,
  type Field,
  type FieldType,
  type FoundField,
  fieldsOfRows,
  isNearlyUnique,
  numericValue,
  valuesOfRows,
} from '../../ui/src/lines/field-stats.ts';
import { logRowsOf } from '../../ui/src/lines/rows.ts';
import {
  FIGURES,
  figureQuery,
  groupByQuery,
  presenceQuery,
  topValuesQuery,
} from '../../ui/src/logql/field-queries.ts';

const rows = logRowsOf(
  [
    {
      stream: { app: 'x' },
      values: [
        ['3000000', '{"status":500,"user":{"id":"u1"},"took":"1.5s"}', { structuredMetadata: { pod: 'p1' } }],
        ['2000000', '{"status":200,"took":"20ms"}', { structuredMetadata: { pod: 'p1' } }],
        ['1000000', 'plain', { parsed: { __error__: 'JSONParserErr', ratio: '0.5' } }],
      ],
    },
    { stream: { app: 'y', zone: 'a' }, values: [['4000000', 'level=info ok=true status=200']] },
  ],
  true,
);

const shown = (fields: readonly Field[]) =>
  fields.map(({ name, source, type, coverage, cardinality }) => [name, source, type, coverage, cardinality]);

describe('fields of a result', () => {
  test('have a source, a type, a coverage and a number of values; labels come first', () => {
    expect(shown(fieldsOfRows(rows, []))).toEqual([
      ['app', 'stream', 'string', 1, 2],
      ['zone', 'stream', 'string', 0.25, 1],
      ['pod', 'entry', 'string', 0.5, 1],
      ['ratio', 'entry', 'float', 0.25, 1],
      ['status', 'json', 'int', 0.75, 2],
      ['took', 'json', 'duration', 0.5, 2],
      ['level', 'logfmt', 'string', 0.25, 1],
      ['ok', 'logfmt', 'boolean', 0.25, 1],
      ['user_id', 'json', 'string', 0.25, 1],
    ]);
  });

  test('are completed by fields that the store found in other lines', () => {
    const found: readonly FoundField[] = [
      { label: 'status', type: 'float', cardinality: 40, parsers: ['json'] },
      { label: 'size', type: 'bytes', cardinality: 7, parsers: ['logfmt'] },
      { label: 'trace', type: 'string', cardinality: 9, parsers: null },
      { label: '__error__', type: 'string', cardinality: 1, parsers: null },
    ];
    const fields = shown(fieldsOfRows(rows, found));
    expect(fields.find(([name]) => name === 'status')).toEqual(['status', 'json', 'float', 0.75, 40]);
    expect(fields.find(([name]) => name === 'size')).toEqual(['size', 'logfmt', 'bytes', undefined, 7]);
    expect(fields.find(([name]) => name === 'trace')).toEqual(['trace', 'entry', 'string', undefined, 9]);
    expect(fields.some(([name]) => name === '__error__')).toBe(false);
  });

  test('have values, the most frequent first', () => {
    expect(valuesOfRows(rows, 'status')).toEqual([
      { value: '200', count: 2 },
      { value: '500', count: 1 },
    ]);
    expect(valuesOfRows(rows, 'none')).toEqual([]);
  });
});

describe('numbers of a field', () => {
  test.each<[string, FieldType, number]>([
    ['12', 'int', 12],
    ['-1.5e3', 'float', -1500],
    ['1.5s', 'duration', 1.5],
    ['1m30s', 'duration', 90],
    ['250µs', 'duration', 0.00025],
  ])('%s as %s is %d', (text, type, number) => expect(numericValue(text, type)).toBeCloseTo(number));

  test('other texts are not numbers', () => {
    expect([numericValue('20ms', 'string'), numericValue('fast', 'duration')]).toEqual([
      Number.NaN,
      Number.NaN,
    ]);
  });

  test('are counted once each, in buckets that touch', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -1000, max: 1000 })),
        fc.integer({ min: 1, max: 30 }),
        (values, count) => {
          const buckets = bucketsOf(values, count);
          if (new Set(values).size < 2) return expect(buckets).toEqual([]);
          expect(buckets).toHaveLength(count);
          expect(buckets.reduce((sum, bucket) => sum + bucket.count, 0)).toBe(values.length);
          expect(buckets[0].from).toBe(Math.min(...values));
          expect(buckets[count - 1].to).toBeCloseTo(Math.max(...values));
          for (let i = 1; i < count; i++) expect(buckets[i].from).toBeCloseTo(buckets[i - 1].to);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('queries about a field', () => {
  const field = { name: 'took', source: 'json', type: 'duration' } as const;

  test('bring the parser that it needs, once', () => {
    expect(topValuesQuery('{a="b"}', field, '1h')).toBe(
      'topk(10, sum by (took) (count_over_time({a="b"} | json | took!="" [1h])))',
    );
    expect(presenceQuery('{a="b"} | json', field, '1h')).toBe(
      'sum(count_over_time({a="b"} | json | took!="" [1h]))',
    );
    expect(presenceQuery('{a="b"}', { ...field, source: 'stream' }, '1h')).toBe(
      'sum(count_over_time({a="b"} | took!="" [1h]))',
    );
    expect(groupByQuery('{a="b"}', field, 3)).toBe(
      'sum by (took) (count_over_time({a="b"} | json | took!="" [$__auto]))',
    );
    expect(groupByQuery('{a="b"}', field, 300)).toMatch(/^topk\(10, sum by/);
  });

  test('are understood by the store, also behind a comment', () => {
    for (const query of ['{a="b"}', '{a="b"} |= "#" # why', '{a="b"} // why']) {
      for (const text of [
        topValuesQuery(query, field, '1h'),
        presenceQuery(query, field, '5ms'),
        ...FIGURES.map(figure => figureQuery(query, field, figure, '1h')),
        ...FIGURES.map(figure => figureQuery(query, { ...field, type: 'int' }, figure, '1h')),
      ])
        expect(parseQuery(text).kind).not.toBe('log');
    }
  });
});

test.each([
  ['each value is in one line', Array.from({ length: 120 }, () => ({ count: 1 })), true],
  ['few lines', Array.from({ length: 60 }, () => ({ count: 1 })), false],
  ['two lines each', Array.from({ length: 60 }, () => ({ count: 2 })), false],
  ['no lines', [], false],
])('%s: nearly unique', (_, values, isUnique) => {
  expect(isNearlyUnique(values)).toBe(isUnique);
});
