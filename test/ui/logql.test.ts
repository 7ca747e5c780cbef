import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { mistakeOf } from '../../ui/src/api/errors.ts';
import { contextAt } from '../../ui/src/logql/completion.ts';
import { type FieldCondition, selectorOf, selectorOfStream, withCondition } from '../../ui/src/logql/edit.ts';
import { highlightsOf, matchesIn } from '../../ui/src/logql/highlights.ts';
import { asksForLines, quoted, tokensOf, valueOfString } from '../../ui/src/logql/tokens.ts';
import { fillVariables } from '../../ui/src/logql/variables.ts';

describe('tokens', () => {
  test('are in order, do not overlap, and equal the text of the query', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}a="|~ `\\#\n1m([,') }), query => {
        let end = 0;
        for (const { text, from, to } of tokensOf(query)) {
          expect(from).toBeGreaterThanOrEqual(end);
          expect(query.slice(from, to)).toBe(text);
          end = to;
        }
      }),
      { numRuns: 100 },
    );
  });

  test('a text as a string means itself, to the store too', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), text => {
        const [token] = tokensOf(quoted(text));
        expect([token.kind, valueOfString(token)]).toEqual(['string', text]);
        expect(() => parseQuery(`{a=${quoted(text)}, b="c"}`)).not.toThrow();
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['{a="b"}', true],
    ['# first\n ({a="b"})', true],
    ['rate({a="b"}[1m])', false],
    ['1 + 2', false],
    ['', false],
  ])('%j returns lines: %s', (query, lines) => expect(asksForLines(query)).toBe(lines));
});

describe('suggestions at the cursor |', () => {
  const selector = '{a="b"}';
  test.each([
    ['|', { kind: 'expression', from: 0 }],
    ['ra|', { kind: 'expression', from: 0 }],
    ['{|', { kind: 'label', from: 1, selector: undefined }],
    ['{a="b", na|', { kind: 'label', from: 8, selector }],
    ['{na|, a="b"}', { kind: 'label', from: 1, selector }],
    ['{a|', { kind: 'label', from: 1, selector: undefined }],
    ['{a="b|', { kind: 'value', from: 4, label: 'a', selector: undefined, quote: '"' }],
    ['{a="b", c=~`x|', { kind: 'value', from: 12, label: 'c', selector, quote: '`' }],
    ['{a="b"} |', { kind: 'pipe', from: 8 }],
    ['{a="b"} ||', { kind: 'stage', from: 9, selector }],
    ['{a="b"} | js|', { kind: 'stage', from: 10, selector }],
    ['{a="b"} | json |', { kind: 'pipe', from: 15 }],
    ['{a="b"} | unwrap d|', { kind: 'field', from: 17, selector }],
    ['{a="b"} | json | x="1" or y|', { kind: 'field', from: 26, selector }],
    ['{a="b"} |= "x" or |', { kind: 'none' }],
    ['{a="b"} |= "x|', { kind: 'none' }],
    ['sum by (x|) (rate({a="b"}[1m]))', { kind: 'field', from: 8, selector }],
    ['sum(ra|', { kind: 'expression', from: 4 }],
    ['rate({a="b"}[5|', { kind: 'range', from: 13 }],
    ['{a="b"} # what |', { kind: 'pipe', from: 15 }],
    ['# what |', { kind: 'none' }],
    ['{a="b"} | status >= 50|', { kind: 'none' }],
  ])('%s', (text, context) => {
    // The last bar of the text is the cursor; the others are of the query.
    const cursor = text.lastIndexOf('|');
    const middle = text.indexOf('|');
    const at = text.endsWith('|') ? cursor : middle;
    expect(contextAt(text.slice(0, at) + text.slice(at + 1), at)).toEqual(context);
  });
});

describe('marks', () => {
  test.each([
    ['{a="b"} |= "err"', 'an err and err', ['err', 'err']],
    ['{a="b"} |= "a.c" or "x"', 'abc a.c x', ['a.c', 'x']],
    ['{a="b"} |~ `(?i)time[d ]+out`', 'Timed out', ['Timed out']],
    ['{a="b"} |= "ab" |= "bc"', 'abc', ['abc']],
    ['{a="b"} != "err" !~ "x"', 'err x', []],
    ['{a="err"} | json | x="err"', 'err', []],
    ['{a="b"} |~ "(?P<n>x)("', 'x(', []],
    ['{a="b"} |= ""', 'x', []],
    ['{a="b"} |= ip("1.2.3.4")', '1.2.3.4', []],
  ])('%s in %s', (query, line, marked) => {
    const offsets = matchesIn(line, highlightsOf(query));
    const parts = [];
    for (let i = 0; i < offsets.length; i += 2) parts.push(line.slice(offsets[i], offsets[i + 1]));
    expect(parts).toEqual(marked);
  });
});

describe('one more condition', () => {
  const x = (source: FieldCondition['source'], op: FieldCondition['op'] = '='): FieldCondition => ({
    name: 'x',
    value: '1',
    op,
    source,
  });
  test.each([
    ['{a="b"}', x('stream'), '{a="b", x="1"}'],
    ['{x="0"}', x('stream'), '{x="1"}'],
    ['{x="1"} |= "y"', x('stream', '!='), '{x=~".+", x!="1"} |= "y"'],
    ['{x!="0"}', x('stream', '!='), '{x!="0", x=~".+", x!="1"}'],
    ['{x="1", a="b"}', x('stream', '!='), '{a="b", x!="1"}'],
    ['{x=~"0|1"}', x('stream'), '{x=~"0|1", x="1"}'],
    ['{}', x('stream'), '{x="1"}'],
    ['{a="b"}', x('entry'), '{a="b"} | x="1"'],
    ['{a="b"} | x!="1"', x('entry'), '{a="b"} | x="1"'],
    ['{a="b"} | x="1"', x('entry'), '{a="b"} | x="1"'],
    ['{a="b"}', x('json'), '{a="b"} | json | x="1"'],
    ['{a="b"} | json', x('json', '!='), '{a="b"} | json | x!="1"'],
    ['{a="b"} |= "json"', x('logfmt'), '{a="b"} |= "json" | logfmt | x="1"'],
    ['sum(rate({a="b"} |= "y"[5m]))', x('entry'), 'sum(rate({a="b"} |= "y" | x="1" [5m]))'],
    ['{a="b"}', { ...x('json'), numeric: true }, '{a="b"} | json | x=1'],
    ['{a="b"} | x=1', { ...x('entry', '!='), numeric: true }, '{a="b"} | x!="1"'],
    ['{a="b"} | x!="1"', { ...x('entry'), numeric: true }, '{a="b"} | x=1'],
    ['{a="b"} | x=15', { ...x('entry'), numeric: true }, '{a="b"} | x=15 | x=1'],
    ['{a="b"}', { ...x('entry'), numeric: true, value: '007' }, '{a="b"} | x="007"'],
    ['{a="b"} # note', x('entry'), '{a="b"} | x="1" # note'],
  ])('%s', (query, condition, wanted) => {
    expect(withCondition(query, condition)).toBe(wanted);
    expect(() => parseQuery(wanted)).not.toThrow();
  });

  test('reads and writes selectors of other queries and streams', () => {
    expect(selectorOf('sum(rate({a="b}"} [5m]))')).toBe('{a="b}"}');
    expect(selectorOf('1 + 1')).toBeUndefined();
    expect(selectorOfStream({ a: 'b', c: '"' })).toBe('{a="b", c="\\""}');
  });
});

test('fills in variables of dashboards', () => {
  const values = { rangeMs: 3_600_000, stepMs: 12_000 };
  const query = 'rate({a="$x"}[$__auto]) > $__range_s + $__interval_ms offset $' + '{__range}';
  expect(fillVariables(query, values)).toBe('rate({a="$x"}[12s]) > 3600 + 12000 offset 3600s');
});

test.each([
  ['parse error at line 1, col 5: syntax error: unexpected }', '{a=}', { from: 4, message: 'unexpected }' }],
  ['parse error at line 2, col 1: no', '{a="b"}\n| x', { from: 8, message: 'no' }],
  ['parse error at line 1, col 99: end', '{', { from: 1, message: 'end' }],
  ['too many outstanding requests', '{', undefined],
])('%s', (message, query, mistake) => expect(mistakeOf(message, query)).toEqual(mistake));
