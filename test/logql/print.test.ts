import { describe, expect, test } from '@jest/globals';
import { formatGo } from '../../shared/language/logql/format-number.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { prettyPrint } from '../../shared/language/logql/pretty.ts';
import { formatExpr } from '../../shared/language/logql/printer.ts';
import { isTextRegex } from '../../shared/language/regex/text-alternatives.ts';

describe('canonical text (docs/dev/logql-semantics.md#canonical-text)', () => {
  test.each([
    ['{ a = "b" , c=~`d` }', '{a="b", c=~"d"}'],
    ['{a="b"}|="x" or "y"!~`\\d`', '{a="b"} |= "x" or "y" !~ "\\\\d"'],
    ['{a="b"} != "x" or "y"', '{a="b"} != "x" != "y"'],
    ['{a="b"} | logfmt --keep-empty --strict a,b="c"', '{a="b"} | logfmt --strict --keep-empty a="a",b="c"'],
    ['{a="\\xff\\u00e9\\x00\\u200b`"}', '{a="\\xffé\\x00\\u200b`"}'],
    ['{a="b"} | 日本 > 1 | keep 日本', '{a="b"} | 日本>1 | keep 日本'],
    ['{a="b"} | c=~"4.."', '{a="b"} | c=~`4..`'],
    ['{a="b"} | c=~"4`.."', '{a="b"} | c=~"4`.."'],
    ['{a="b"} | c=~"foo" | c!~"4.."', '{a="b"} | c=~"foo" | c!~"4.."'],
    ['{a="b"} | c=1e3 or c>-.5', '{a="b"} | ( c==1000 or c>-0.5 )'],
    ['{a="b"} | c>1d | c<100us | c>90s | c>0s', '{a="b"} | c>24h0m0s | c<100µs | c>1m30s | c>0s'],
    ['{a="b"} | c>1KB | c>500KB | c>9B | c>1.5GB', '{a="b"} | c>1.0kB | c>500kB | c>9B | c>1.5GB'],
    // Sizes that rounding would change stay exact (difference D6).
    ['{a="b"} | c>1KiB | c>1.5GiB | c>12345KB | c>0K', '{a="b"} | c>1KiB | c>1536MiB | c>12345kB | c>0kB'],
    ['{a="b"} | c>1234567B', '{a="b"} | c>1234567B'],
    ['rate({a="b"} [90m] offset 1d)', 'rate({a="b"}[1h30m] offset 24h0m0s)'],
    ['rate({a="b"} [365d])', 'rate({a="b"}[1y])'],
    ['rate({a="b"} [14d] offset 0s)', 'rate({a="b"}[2w])'],
    ['rate({a="b"} [0])', 'rate({a="b"}[0s])'],
    ['SUM(RATE({a="b"}[5m])) BY (x, y)', 'sum by (x,y)(rate({a="b"}[5m]))'],
    ['sum without () (vector(1))', 'sum without ()(vector(1.000000))'],
    ['sum by () (vector(.1234567))', 'sum(vector(0.1234567))'],
    [
      'avg_over_time({a="b"}|unwrap bytes(x)|y="z"[1m]) by ()',
      'avg_over_time({a="b"} | unwrap bytes(x) | y="z"[1m]) by ()',
    ],
    ['quantile_over_time(1e-7,{a="b"}|unwrap x[1m])', 'quantile_over_time(0.0000001,{a="b"} | unwrap x[1m])'],
    ['vector(1) / on (a,b) vector(2)', '(vector(1.000000) / on (a,b)  vector(2.000000))'],
    [
      'vector(1) > bool ignoring(a) group_right(c,d) vector(2)',
      '(vector(1.000000) > bool ignoring (a) group_right (c,d) vector(2.000000))',
    ],
    ['vector(1) + on() group_left vector(2)', '(vector(1.000000) + on () group_left vector(2.000000))'],
    [
      'vector(1) + on(a) group_left() (vector(2) + 1)',
      '(vector(1.000000) + on (a) group_left () (vector(2.000000) + 1))',
    ],
    ['1000000', '1e+06'],
    ['0 / 0', '(0 / 0)'],
    ['0 * -1', '-0.0'],
    ['label_replace(vector(1),"a",`b`,"c","d")', 'label_replace(vector(1.000000),"a","b","c","d")'],
  ])('%s', (text, want) => {
    expect(formatExpr(parseQuery(text))).toBe(want);
  });

  test.each([
    [0, '0'],
    [0.1, '0.1'],
    [0.0001, '0.0001'],
    [0.00001, '1e-05'],
    [100000, '100000'],
    [123456.75, '123456.75'],
    [1234567, '1.234567e+06'],
    [-1.5e300, '-1.5e+300'],
    [Number.NaN, 'NaN'],
    [-Infinity, '-Inf'],
  ])('%f as Go prints it', (value, want) => {
    expect(formatGo(value)).toBe(want);
  });
});

describe('layout (docs/dev/logql-semantics.md#layout)', () => {
  const a = 'a'.repeat(32);
  const b = 'b'.repeat(35);
  const long = 'x'.repeat(60);
  test.each([
    [
      'the range moves in',
      `sum by (a)(rate({app="${a}", ns="${b}"} | json | lvl="e"[5m] offset 1h0m0s))`,
      `sum by (a)(\n  rate(\n    {app="${a}", ns="${b}"} | json | lvl="e" [5m] offset 1h\n  )\n)`,
    ],
    ['100 bytes fit on a line', `{a="${'x'.repeat(94)}"}`, `{a="${'x'.repeat(94)}"}`],
    ['a selector never splits', `{a="${'x'.repeat(120)}"}`, `{a="${'x'.repeat(120)}"}`],
    ['bytes count, not characters', `{a="${'é'.repeat(48)}"} | json`, `{a="${'é'.repeat(48)}"}\n  | json`],
    [
      'line filters stay together, decolorize is not indented',
      `{a="${long}"} |= "b" != "c" | decolorize | json | unpack | drop abcdefgh`,
      `{a="${long}"}\n  |= "b" != "c"\n| decolorize\n  | json\n  | unpack\n  | drop abcdefgh`,
    ],
    [
      'long line filters keep their alternatives (difference D6)',
      `{a="b"} |= "${long}" or "c" != "${long}"`,
      `{a="b"}\n  |= "${long}" or "c"\n  != "${long}"`,
    ],
    [
      'unwrap has its own lines',
      `max_over_time({a="${long}"} | unwrap bytes(x) | y="z" | v>1 [1m]) without (k, l)`,
      `max_over_time(\n  {a="${long}"}\n    | unwrap bytes(x)\n    | y="z"\n    | v>1 [1m]\n) without (k, l)`,
    ],
    [
      'parameters',
      `topk(1000000, quantile_over_time(0.0000001, {a="${long}${long}"} | unwrap x [1m] offset -1h30m))`,
      `topk(\n  1000000,\n  quantile_over_time(\n    1e-07,\n    {a="${long}${long}"}\n      | unwrap x [1m] offset -1h30m\n  )\n)`,
    ],
    [
      'an offset that Prometheus cannot write stays in Go form (difference D6)',
      `rate({a="${long}${long}"}[1m] offset -24h)`,
      `rate(\n  {a="${long}${long}"} [1m] offset -24h0m0s\n)`,
    ],
    [
      'empty clauses stay where they say something (difference D6)',
      `sum without () (avg_over_time({a="${long}${long}"} | unwrap x [1m]) by ())`,
      `sum without ()(\n  avg_over_time(\n    {a="${long}${long}"}\n      | unwrap x [1m]\n  ) by ()\n)`,
    ],
    [
      'operators, without a space at the end (difference D6)',
      `rate({a="${long}"}[1m]) / on (c, d) rate({b="${long}"}[1m])`,
      `  rate({a="${long}"}[1m])\n/ on (c, d)\n  rate({b="${long}"}[1m])`,
    ],
    [
      'parentheses only where they are needed (difference D6)',
      `(rate({a="${long}"}[1m]) + rate({b="${long}"}[1m])) * 2`,
      `  (\n      rate({a="${long}"}[1m])\n    +\n      rate({b="${long}"}[1m])\n  )\n*\n  2`,
    ],
    [
      'no parentheses where precedence says it',
      `rate({a="${long}"}[1m]) * rate({b="${long}"}[1m]) + bool ignoring (c) group_left (d) 2`,
      `    rate({a="${long}"}[1m])\n  *\n    rate({b="${long}"}[1m])\n+ bool ignoring (c) group_left (d)\n  2`,
    ],
    [
      'label_replace',
      `label_replace(rate({a="${long}"}[1m]), "dst", "replacement", "src", "(.*)")`,
      `label_replace(\n  rate({a="${long}"}[1m]),\n  "dst",\n  "replacement",\n  "src",\n  "(.*)"\n)`,
    ],
  ])('%s', (_name, text, want) => {
    expect(prettyPrint(parseQuery(text))).toBe(want);
  });
});

describe('regular expressions that the reference tests as text (docs/dev/logql-semantics.md#plain-texts)', () => {
  test.each([
    ['foo', true],
    ['(?i)foo', true],
    ['', true],
    ['.*', true],
    ['.+', true],
    ['foo.*', true],
    ['.*foo.*', true],
    ['foo|qux', true],
    ['foo|', true],
    ['(foo)', true],
    ['(?P<a>foo|qux)', true],
    ['a\\.b', true],
    ['prod-eu|prod-us', true],
    ['bar|b|buzz', true],
    ['prod-.*', true],
    ['foo(bar|qux).*', true],
    ['foo.*(bar|qux)', true],
    ['foo(?:a1|b2)(?:c3|d4)', true],
    ['foo(bar.*|.*qux|)', true],
    ['(?i)foo(bar|qux)', true],
    ['(?P<a>xx)|(?P<a>yy)', true],
    ['.{0,}', true],
    ['a{0}|b{1}', true],
    ['foo.+', false],
    ['f.o', false],
    ['4..', false],
    ['^foo', false],
    ['[ab]', false],
    ['a{2}', false],
    ['ab+', false],
    ['bar|baz', false],
    ['foo.*(bar|baz)', false],
    ['foo((bar|qux))', false],
    ['foo(?i:bar)', false],
    ['[^\\n]*', false],
    ['(?s).*', false],
    ['(.*){2}', false],
    ['(?P<a>x)(?P<a>yy|zz)', true],
    ['foo.*bar', false],
    ['foo|4..', false],
    ['\\d', false],
    ['(?:a(?:b|cd)){2}', false],
  ])('%s', (pattern, want) => {
    expect(isTextRegex(pattern)).toBe(want);
  });
});
