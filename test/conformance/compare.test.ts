/** The comparison accepts equal results, and detects wrong ones. */
import { describe, expect, test } from '@jest/globals';
import { explain, failures, table, type Verdict } from './check.ts';
import { mismatch, textMismatch } from './compare.ts';
import type { RecordedCase } from './recorded.ts';

const CASE: RecordedCase = {
  id: 'x#1',
  category: 'x',
  method: 'GET',
  path: '/loki/api/v1/query_range',
  query: {},
  tenant: 't',
  compare: 'data',
  status: 200,
  body: null,
};

const data = (resultType: string, result: unknown, more = {}) => ({
  status: 'success',
  data: { resultType, ...more, result },
});
const stream = (labels: object, ...values: unknown[]) => ({ stream: labels, values });
const series = (metric: object, ...values: unknown[]) => ({ metric, values });
const sample = (metric: object, ...value: unknown[]) => ({ metric, value });
const list = (...items: unknown[]) => ({ status: 'success', data: items });
const [a, b] = [{ a: '1', b: '2' }, { a: '2' }];

describe('mismatch', () => {
  // [what, recorded, answer, whether it is right]
  const rows: [string, unknown, unknown, boolean][] = [
    ['the same', data('streams', [stream(a, ['1', 'x'])]), data('streams', [stream(a, ['1', 'x'])]), true],
    [
      'order of keys',
      data('streams', [stream(a, ['1', 'x'])]),
      data('streams', [stream({ b: '2', a: '1' }, ['1', 'x'])]),
      true,
    ],
    [
      'order of streams',
      data('streams', [stream(a, ['1', 'x']), stream(b)]),
      data('streams', [stream(b), stream(a, ['1', 'x'])]),
      true,
    ],
    [
      'order of ties',
      data('streams', [stream(a, ['1', 'x'], ['1', 'y'])]),
      data('streams', [stream(a, ['1', 'y'], ['1', 'x'])]),
      true,
    ],
    [
      'order of entries',
      data('streams', [stream(a, ['1', 'x'], ['2', 'y'])]),
      data('streams', [stream(a, ['2', 'y'], ['1', 'x'])]),
      false,
    ],
    ['a line', data('streams', [stream(a, ['1', 'x'])]), data('streams', [stream(a, ['1', 'y'])]), false],
    [
      'an entry too few',
      data('streams', [stream(a, ['1', 'x'], ['1', 'x'])]),
      data('streams', [stream(a, ['1', 'x'])]),
      false,
    ],
    ['a label', data('streams', [stream(a, ['1', 'x'])]), data('streams', [stream(b, ['1', 'x'])]), false],
    ['a stream too many', data('streams', [stream(a)]), data('streams', [stream(a), stream(b)]), false],
    ['a stream twice', data('streams', [stream(a)]), data('streams', [stream(a), stream(a)]), false],
    [
      'the third element',
      data('streams', [stream(a, ['1', 'x', { parsed: a }])]),
      data('streams', [stream(a, ['1', 'x', {}])]),
      false,
    ],
    [
      'no third element',
      data('streams', [stream(a, ['1', 'x', {}])]),
      data('streams', [stream(a, ['1', 'x'])]),
      false,
    ],
    ['flags', data('streams', [], { encodingFlags: ['x'] }), data('streams', []), false],
    ['the type', data('streams', []), data('matrix', []), false],
    [
      'a close value',
      data('matrix', [series(a, [1, '0.1'])]),
      data('matrix', [series(a, [1, '0.10000000000000001'])]),
      true,
    ],
    [
      'another value',
      data('matrix', [series(a, [1, '0.1'])]),
      data('matrix', [series(a, [1, '0.1000001'])]),
      false,
    ],
    ['infinities', data('matrix', [series(a, [1, '+Inf'])]), data('matrix', [series(a, [1, '1'])]), false],
    ['no number', data('vector', [sample(a, 1, 'NaN')]), data('vector', [sample(a, 1, 'NaN')]), true],
    ['a number for none', data('vector', [sample(a, 1, 'NaN')]), data('vector', [sample(a, 1, '0')]), false],
    ['a time', data('matrix', [series(a, [1, '1'])]), data('matrix', [series(a, [2, '1'])]), false],
    [
      'a point too many',
      data('matrix', [series(a, [1, '1'])]),
      data('matrix', [series(a, [1, '1'], [2, '1'])]),
      false,
    ],
    ['a scalar', data('scalar', [1, '2']), data('scalar', [1, '2']), true],
    ['another scalar', data('scalar', [1, '2']), data('scalar', [1, '3']), false],
    ['lists as sets', list('a', 'b'), list('b', 'a'), true],
    ['absent and empty', list(), { status: 'success' }, true],
    ['a name too many', list('a'), list('a', 'b'), false],
    ['an item twice', list(a), list(a, a), false],
    ['series as sets', list(a, b), list(b, { b: '2', a: '1' }), true],
    ['the word of status', list(), { status: 'error' }, false],
  ];
  test.each(rows)('%s', (_, body, answer, right) => {
    const got = { status: 200, text: JSON.stringify(answer) };
    expect(mismatch({ ...CASE, body }, got) === undefined).toBe(right);
  });

  test('order counts if the case requires it', () => {
    const body = data('vector', [sample(a, 1, '2'), sample(b, 1, '1')]);
    const text = JSON.stringify(data('vector', [sample(b, 1, '1'), sample(a, 1, '2')]));
    expect(mismatch({ ...CASE, body }, { status: 200, text })).toBeUndefined();
    expect(mismatch({ ...CASE, body, ordered: true }, { status: 200, text })).toMatch(/^order: /);
  });

  test('a formatted query counts by the byte', () => {
    const format = { ...CASE, compare: 'format', body: { status: 'success', data: '{a="b"} ' } } as const;
    const answer = (text: string) => ({
      status: 200,
      text: JSON.stringify({ status: 'success', data: text }),
    });
    expect(mismatch(format, answer('{a="b"} '))).toBeUndefined();
    expect(mismatch(format, answer('{a="b"}'))).toContain('want');
  });

  test('volumes and cardinalities are estimates', () => {
    const volume = {
      ...CASE,
      path: '/loki/api/v1/index/volume',
      body: data('vector', [sample(a, 1, '1000')]),
    };
    const answer = (value: string) => ({
      status: 200,
      text: JSON.stringify(data('vector', [sample(a, 1, value)])),
    });
    expect(mismatch(volume, answer('1200'))).toBeUndefined();
    expect(mismatch(volume, answer('1500'))).toContain('want 1000');
    const field = (cardinality: number, type: string) => ({
      fields: [{ label: 'x', type, cardinality, parsers: null }],
    });
    const fields = { ...CASE, path: '/loki/api/v1/detected_fields', body: field(100, 'int') };
    const described = (body: object) => mismatch(fields, { status: 200, text: JSON.stringify(body) });
    expect(described(field(105, 'int'))).toBeUndefined();
    expect(described(field(130, 'int'))).toContain('cardinality 130');
    expect(described(field(100, 'float'))).toContain('missing');
    expect(described({})).toContain('missing');
  });

  test('the status counts, texts of errors do not', () => {
    const refused = { ...CASE, status: 400, body: 'parse error at line 0, col 1: x' };
    expect(mismatch(refused, { status: 400, text: 'other' })).toBeUndefined();
    expect(mismatch(refused, { status: 500, text: 'x' })).toMatch(/^status 500/);
    expect(mismatch({ ...CASE, body: list() }, { status: 200, text: '<html>' })).toMatch(/^no JSON/);
    expect(textMismatch(refused, { status: 400, text: 'other' })).toContain('want parse error');
    expect(textMismatch(refused, { status: 400, text: 'parse error at line 1, col 1: x' })).toBeUndefined();
  });
});

describe('verdicts', () => {
  const right: Verdict = { recorded: { ...CASE, id: 'x#1', body: list() } };
  const wrong: Verdict = { recorded: { ...CASE, id: 'x#2' }, problem: 'it is wrong' };
  const excepted: Verdict = { ...wrong, exception: 'D5' };
  const stale: Verdict = { ...right, exception: 'D5' };

  test('a wrong response fails, and so does an unneeded exception', () => {
    expect(failures([right, wrong, excepted, stale])).toEqual([wrong, stale]);
    expect(explain(wrong)).toContain('it is wrong');
    expect(explain(stale)).toContain('excepted as D5');
  });

  test('the table counts by category', () => {
    const rows = table([right, wrong, excepted])
      .split('\n')
      .map(row => row.split(/\s{2,}/));
    expect(rows).toEqual([
      ['category', 'passed', 'total', 'exceptions'],
      ['x', '1', '3', 'D5: 1'],
      ['all', '1', '3', 'D5: 1'],
    ]);
  });
});
