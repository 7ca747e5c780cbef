import { describe, expect, test } from '@jest/globals';
import type { LogExpr, MetricExpr, RangeAggregationExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { formatExpr } from '../../shared/language/logql/printer.ts';

const selector = [{ name: 'a', op: '=', value: 'b' }];

function stagesOf(text: string) {
  return (parseQuery(`{a="b"} ${text}`) as LogExpr).stages;
}

describe('trees', () => {
  test('parses a log query', () => {
    expect(parseQuery('({a="b"} |= "x" or ip("1.2.3.4") or "y" | json)')).toEqual({
      kind: 'log',
      selector,
      stages: [
        {
          kind: 'lineFilter',
          op: '|=',
          operand: { kind: 'text', value: 'x' },
          alternatives: [
            { kind: 'ip', value: '1.2.3.4' },
            { kind: 'text', value: 'y' },
          ],
        },
        { kind: 'json', extractions: [] },
      ],
    });
  });

  test('a negated `or` chain is a conjunction of stages', () => {
    expect(
      stagesOf('!= "x" or "y" or ip("z") |= "v"').map(
        stage => 'op' in stage && [stage.op, stage.operand.value],
      ),
    ).toEqual([
      ['!=', 'x'],
      ['!=', 'y'],
      ['!=', 'z'],
      ['|=', 'v'],
    ]);
  });

  test('parsers, formats and names', () => {
    expect(
      stagesOf(
        '| json | json a, b="c.d" | logfmt --keep-empty x | logfmt --strict | regexp "(?P<n>.)" | pattern "<p>" | unpack ' +
          '| line_format "l" | label_format a=b, c="{{.d}}" | decolorize | drop a, b=~"c" | keep d',
      ),
    ).toEqual([
      { kind: 'json', extractions: [] },
      {
        kind: 'json',
        extractions: [
          { name: 'a', expression: 'a' },
          { name: 'b', expression: 'c.d' },
        ],
      },
      { kind: 'logfmt', strict: false, keepEmpty: true, extractions: [{ name: 'x', expression: 'x' }] },
      { kind: 'logfmt', strict: true, keepEmpty: false, extractions: [] },
      { kind: 'regexp', pattern: '(?P<n>.)' },
      { kind: 'pattern', pattern: '<p>' },
      { kind: 'unpack' },
      { kind: 'lineFormat', template: 'l' },
      {
        kind: 'labelFormat',
        items: [
          { kind: 'rename', name: 'a', source: 'b' },
          { kind: 'template', name: 'c', template: '{{.d}}' },
        ],
      },
      { kind: 'decolorize' },
      {
        kind: 'drop',
        items: [
          { kind: 'name', name: 'a' },
          { kind: 'matcher', matcher: { name: 'b', op: '=~', value: 'c' } },
        ],
      },
      { kind: 'keep', items: [{ kind: 'name', name: 'd' }] },
    ]);
  });

  test('parses each kind of label filter', () => {
    const filters = stagesOf('| n=5 | n>=-1.5 | d!=1h | s<1KiB | t="x" | i=ip("y") | i!=ip("z")').map(
      stage => stage.kind === 'labelFilter' && stage.filter,
    );
    expect(filters).toEqual([
      { kind: 'number', name: 'n', op: '==', value: 5 },
      { kind: 'number', name: 'n', op: '>=', value: -1.5 },
      { kind: 'duration', name: 'd', op: '!=', ns: 3_600_000_000_000n },
      { kind: 'bytes', name: 's', op: '<', bytes: 1024 },
      { kind: 'string', matcher: { name: 't', op: '=', value: 'x' } },
      { kind: 'ip', name: 'i', op: '=', pattern: 'y' },
      { kind: 'ip', name: 'i', op: '!=', pattern: 'z' },
    ]);
  });

  test('parses aggregations', () => {
    expect(
      parseQuery(
        'topk(3, quantile_over_time(0.9, {a="b"} | unwrap duration(x) | y="z" [5m] offset -1h) by (c)) by (d)',
      ),
    ).toEqual({
      kind: 'vectorAggregation',
      op: 'topk',
      parameter: 3,
      grouping: { without: false, labels: ['d'] },
      expr: {
        kind: 'rangeAggregation',
        op: 'quantile_over_time',
        parameter: 0.9,
        grouping: { without: false, labels: ['c'] },
        range: {
          log: { kind: 'log', selector, stages: [] },
          unwrap: {
            label: 'x',
            conversion: 'duration',
            filters: [{ kind: 'string', matcher: { name: 'y', op: '=', value: 'z' } }],
          },
          rangeNs: 300_000_000_000n,
          offsetNs: -3_600_000_000_000n,
        },
      },
    });
  });

  test('parses binary operations', () => {
    expect(parseQuery('vector(1) / on (a, b) group_left (c) vector(2)')).toEqual({
      kind: 'binary',
      op: '/',
      left: { kind: 'vector', value: 1 },
      right: { kind: 'vector', value: 2 },
      bool: false,
      matching: { on: true, labels: ['a', 'b'], group: 'left', include: ['c'] },
    });
    expect(parseQuery('vector(1) > bool 2')).toEqual({
      kind: 'binary',
      op: '>',
      left: { kind: 'vector', value: 1 },
      right: { kind: 'literal', value: 2 },
      bool: true,
    });
  });

  test('clauses without effect are not in the tree', () => {
    expect(parseQuery('sum by () (vector(1))')).not.toHaveProperty('grouping');
    expect(parseQuery('sum without () (vector(1))')).toHaveProperty('grouping', {
      without: true,
      labels: [],
    });
    expect(parseQuery('vector(1) + ignoring () vector(2)')).not.toHaveProperty('matching');
    expect(parseQuery('vector(1) + on () vector(2)')).toHaveProperty('matching');
    expect(parseQuery('avg_over_time({a="b"} | unwrap x [1m]) by ()')).toHaveProperty('grouping');
  });

  test('are frozen through and through', () => {
    const query = parseQuery('sum by (l) (rate({a="b"} | json x | y="z" or k=1 [1m]))');
    const seen: unknown[] = [query];
    for (const node of seen) {
      expect(Object.isFrozen(node)).toBe(true);
      for (const child of Object.values(node as object)) if (typeof child === 'object') seen.push(child);
    }
    expect(seen.length).toBeGreaterThan(10);
  });
});

describe('positions of range, offset and unwrap (docs/dev/logql-semantics.md#order-of-range-offset-and-unwrap)', () => {
  const whole = (query: string) =>
    formatExpr(parseQuery(`rate(${query})`) as RangeAggregationExpr as MetricExpr);
  const bare = 'rate({a="b"}[5m] offset 1h0m0s)';
  const piped = 'rate({a="b"} | json[5m] offset 1h0m0s)';
  const unwrapped = 'rate({a="b"} | unwrap x[5m] offset 1h0m0s)';
  const both = 'rate({a="b"} | json | unwrap x[5m] offset 1h0m0s)';
  test.each([
    ['{a="b"}[5m] offset 1h', bare],
    ['({a="b"})[5m] offset 1h', bare],
    ['(({a="b"}[5m] offset 1h))', bare],
    ['{a="b"}[5m] offset 1h | unwrap x', unwrapped],
    ['({a="b"})[5m] offset 1h | unwrap x', unwrapped],
    ['{a="b"} | unwrap x [5m] offset 1h', unwrapped],
    ['({a="b"} | unwrap x)[5m] offset 1h', unwrapped],
    ['{a="b"} | json [5m] offset 1h', piped],
    ['({a="b"} | json)[5m] offset 1h', piped],
    ['{a="b"} | json | unwrap x [5m] offset 1h', both],
    ['({a="b"} | json | unwrap x)[5m] offset 1h', both],
    ['{a="b"}[5m] offset 1h | json', piped],
    ['{a="b"}[5m] offset 1h | json | unwrap x', both],
    ['{a="b"}[5m] | json | unwrap x', 'rate({a="b"} | json | unwrap x[5m])'],
  ])('%s', (query, want) => {
    expect(whole(query)).toBe(want);
  });
});

describe('precedence', () => {
  const v = (name: string) => `label_replace(vector(1),"${name}","","","")`;
  const shape = (text: string) =>
    formatExpr(parseQuery(text.replace(/\b[a-d]\b/g, v)))
      .replaceAll('.000000', '')
      .replace(/label_replace\(vector\(1\),"([a-d])","","",""\)/g, '$1');
  test.each([
    ['a or b and c', '(a or (b and c))'],
    ['a and b unless c', '((a and b) unless c)'],
    ['a and b == c', '(a and (b == c))'],
    ['a == b + c', '(a == (b + c))'],
    ['a - b - c', '((a - b) - c)'],
    ['a + b * c', '(a + (b * c))'],
    ['a * b / c % d', '(((a * b) / c) % d)'],
    ['a ^ b ^ c', '(a ^ (b ^ c))'],
    ['a * b ^ c', '(a * (b ^ c))'],
    ['(a + b) * c', '((a + b) * c)'],
    ['a > bool b + 1', '(a > bool (b + 1))'],
  ])('%s', (text, want) => {
    expect(shape(text)).toBe(want);
  });

  test.each([
    ['a=1 and b=2 or c=3', '( ( a==1 , b==2 ) or c==3 )'],
    ['a=1 or b=2 and c=3', '( a==1 or ( b==2 , c==3 ) )'],
    ['a=1 , b=2 or c=3', '( a==1 , ( b==2 or c==3 ) )'],
    ['a=1 b=2 or c=3', '( a==1 , ( b==2 or c==3 ) )'],
    ['a=1 or b=2 , c=3', '( a==1 or ( b==2 , c==3 ) )'],
    ['(a=1 or b=2) c=3', '( ( a==1 or b==2 ) , c==3 )'],
    ['a=1 or b=2 or c=3', '( ( a==1 or b==2 ) or c==3 )'],
  ])('label filter %s', (text, want) => {
    expect(formatExpr(parseQuery(`{a="b"} | ${text}`))).toBe(`{a="b"} | ${want}`);
  });

  test.each([
    ['2 ^ 3 ^ 2', 512],
    ['1 / 0', Number.NaN],
    ['1 % 0', Number.NaN],
    ['-7 % 3', -1],
    ['-1 ^ 2', 1],
    ['1 ^ (0 / 0)', 1],
    ['-1 ^ (1e308 * 10)', 1],
    ['(1 + 2) * 3', 9],
    ['1 > 2', 0],
    ['2 > bool 1', 1],
    ['1 != 1', 0],
    ['3 - +2', 1],
    ['1_000 + 010 + .5 + 5. + 0x1p4', 1031.5],
  ])('literals fold: %s', (text, value) => {
    expect(parseQuery(text)).toEqual({ kind: 'literal', value });
  });
});
