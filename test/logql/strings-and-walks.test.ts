import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { bytesOfText } from '../../shared/base/model/byte-text.ts';
import { quote } from '../../shared/base/model/quote.ts';
import type { MetricExpr } from '../../shared/language/logql/ast.ts';
import { formatSelector, formatStage } from '../../shared/language/logql/format-log.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { captureNames } from '../../shared/language/logql/regex-checks.ts';
import { scanQuoted, unquote } from '../../shared/language/logql/string-literal.ts';
import { logExprsOf, selectorsOf, walkExpr } from '../../shared/language/logql/walk.ts';

describe('string literals', () => {
  test.each([
    ['"\\a\\b\\f\\n\\r\\t\\v\\\\\\""', '\u0007\b\f\n\r\t\v\\"'],
    ['"\\101\\x41\\u0041\\U00000041"', 'AAAA'],
    ['"\\xc3\\xa9"', 'é'],
    ['"\\303é"', '\udcc3é'],
    ['"\\xff"', '\udcff'],
    ['`a\\n"\r\nb`', 'a\\n"\nb'],
  ])('%s', (literal, want) => {
    expect(unquote(literal)).toBe(want);
  });

  test.each(['"\\400"', '"\\udc00"', '"\\U00110000"'])('%s names nothing', literal => {
    expect(unquote(literal)).toBeUndefined();
  });

  test('any bytes survive: bytes, escapes, text, quoted text, text, bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), bytes => {
        const escapes = Array.from(bytes, byte => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
        const text = unquote(`"${escapes}"`)!;
        expect(bytesOfText(text)).toEqual(Buffer.from(bytes));
        const quoted = quote(text);
        expect(scanQuoted(quoted, 0)).toEqual({ end: quoted.length });
        expect(unquote(quoted)).toBe(text);
      }),
    );
  });
});

describe('parts that others print and walk', () => {
  const query = parseQuery(
    'sum(rate({a="b"} | json [1m])) / label_replace(count_over_time({c="d"}[2m]), "x", "", "", "") + 1',
  ) as MetricExpr;

  test('walks go from the outside and from the left', () => {
    const kinds: string[] = [];
    walkExpr(query, node => {
      kinds.push(node.kind);
    });
    expect(kinds).toEqual([
      'binary',
      'binary',
      'vectorAggregation',
      'rangeAggregation',
      'log',
      'labelReplace',
      'rangeAggregation',
      'log',
      'literal',
    ]);
    expect(logExprsOf(query).map(({ stages }) => stages.map(formatStage))).toEqual([['| json'], []]);
    expect(selectorsOf(query).map(formatSelector)).toEqual(['{a="b"}', '{c="d"}']);
  });

  test.each([
    ['(?P<a>x)(y)(?<b>z)', ['a', 'b']],
    ['\\(?P<a>', []],
    ['[(?P<a>]', []],
    ['[](?P<a>]x', []],
    ['[^](?P<a>]x', []],
    ['[[:alpha:](?P<a>]', []],
    ['[a\\](?P<a>]', []],
    ['\\Q(?P<a>\\E(?P<b>x)', ['b']],
    ['((?P<a>(?P<b>x)))', ['a', 'b']],
  ])('names of captures in %s', (pattern, want) => {
    expect(captureNames(pattern)).toEqual(want);
  });
});
