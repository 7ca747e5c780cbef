import { describe, expect, test } from '@jest/globals';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { ParseError } from '../../shared/language/logql/errors.ts';
import { parseQuery, parseSelector } from '../../shared/language/logql/parse.ts';

function messageOf(text: string): string {
  try {
    parseQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ParseError);
    return (error as ParseError).message.replace(/^parse error /, '');
  }
  return 'no error';
}

const TOO_WIDE =
  ': queries require at least one regexp or equality matcher that does not have an empty-compatible value. ' +
  'For instance, app=~".*" does not meet this requirement, but app=~".+" will';

describe('names of matchers', () => {
  const refused = (name: string) =>
    `: invalid label name ${JSON.stringify(name)}: use ASCII letters, digits and underscores, and do not begin with a digit`;
  test.each([
    ['{日本="x"}', '日本'],
    ['{é="x"}', 'é'],
    ['{a="b", größe=~"x"}', 'größe'],
    ['{&="x"}', '&'],
    ['{a="b"} | json | größe!="x"', 'größe'],
    ['{a="b"} | drop é="x"', 'é'],
    ['rate({aé!~"x", a="b"}[1m])', 'aé'],
  ])('%s is refused', (text, name) => {
    expect(messageOf(text)).toBe(refused(name));
  });
  test.each(['{日本="x"}', '{é!="x"}'])('refuses %s if only a selector is accepted', text => {
    expect(() => parseSelector(text)).toThrow('invalid label name');
    expect(() => parseSelector(text, { allowEmpty: true })).toThrow('invalid label name');
  });
  test.each(['{a="é"}', '{a="b"} | é > 1', 'sum by (é) (rate({a="b"}[1m]))', '{a="b"} | label_format é=a'])(
    '%s is not',
    text => {
      expect(messageOf(text)).toBe('no error');
    },
  );
});

describe('syntax errors (docs/dev/logql-semantics.md#expected-tokens), with the true line (difference D7)', () => {
  test.each([
    ['', ': syntax error: unexpected $end'],
    [' ', 'at line 1, col 2: syntax error: unexpected $end'],
    ['\n\n', 'at line 3, col 1: syntax error: unexpected $end'],
    ['{', 'at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }'],
    ['{app="a"', 'at line 1, col 9: syntax error: unexpected $end, expecting } or ,'],
    ['{app="a",}', 'at line 1, col 10: syntax error: unexpected }, expecting IDENTIFIER'],
    ['{app=a}', 'at line 1, col 6: syntax error: unexpected IDENTIFIER, expecting STRING'],
    ['{app.b="a"}', 'at line 1, col 5: syntax error: unexpected ., expecting = or =~ or !~ or !='],
    ['{app=="x"}', 'at line 1, col 5: syntax error: unexpected ==, expecting = or =~ or !~ or !='],
    ['{by="y"}', 'at line 1, col 2: syntax error: unexpected by, expecting IDENTIFIER or }'],
    ['{app="a"} |', 'at line 1, col 12: syntax error: unexpected $end'],
    ['{app="a"} |= ', 'at line 1, col 14: syntax error: unexpected $end, expecting STRING or ip'],
    ['{app="a"} |= "a" or', 'at line 1, col 20: syntax error: unexpected $end, expecting STRING or ip'],
    ['{foo="bar"} foo', 'at line 1, col 13: syntax error: unexpected IDENTIFIER'],
    ['{foo="bar"}\n  |~', 'at line 2, col 5: syntax error: unexpected $end, expecting STRING or ip'],
    ['rate({app="a"})', 'at line 1, col 15: syntax error: unexpected )'],
    ['rate({app="a"}[5m) ', "at line 1, col 15: missing closing ']' in duration"],
    ['rate({app="a"}\n[5])', 'at line 2, col 1: not a valid duration string: "5"'],
    ['rate({a="b"}[5m]) by', 'at line 1, col 21: syntax error: unexpected $end, expecting ('],
    [
      'rate({a="b"}[5m] offset x',
      'at line 1, col 25: syntax error: unexpected IDENTIFIER, expecting DURATION',
    ],
    ['rate({a="b"}[5m] offset -1d)', 'at line 1, col 25: syntax error: unexpected -, expecting DURATION'],
    ['rate({a="b"}[5m]', 'at line 1, col 17: syntax error: unexpected $end, expecting )'],
    ['rate({a="b"} | json [5m] |= "x")', 'at line 1, col 26: syntax error: unexpected |=, expecting )'],
    ['rate({a="b"} | unwrap x [5m] |= "x")', 'at line 1, col 30: syntax error: unexpected |=, expecting )'],
    ['rate({a="b"}[5m])[5m]', 'at line 1, col 18: syntax error: unexpected RANGE'],
    [
      'sum(rate({a="b"}[5m])) by (',
      'at line 1, col 28: syntax error: unexpected $end, expecting IDENTIFIER or )',
    ],
    ['sum by (a,)(x)', 'at line 1, col 11: syntax error: unexpected ), expecting IDENTIFIER'],
    ['rate(foo)', 'at line 1, col 6: syntax error: unexpected IDENTIFIER, expecting NUMBER or { or ('],
    ['rate(1)', 'at line 1, col 7: syntax error: unexpected ), expecting ,'],
    [
      '{a="b"} | label_format x=',
      'at line 1, col 26: syntax error: unexpected $end, expecting IDENTIFIER or STRING',
    ],
    ['{a="b"} | label_format x=y,', 'at line 1, col 28: syntax error: unexpected $end, expecting IDENTIFIER'],
    [
      'rate({a="b"} | unwrap [5m])',
      'at line 1, col 23: syntax error: unexpected RANGE, expecting IDENTIFIER or BYTES_CONV or DURATION_CONV or ' +
        'DURATION_SECONDS_CONV',
    ],
    ['{a="b"} | unwrap x', 'at line 1, col 11: syntax error: unexpected unwrap'],
    ['topk(-1, rate({a="b"}[5m]))', 'at line 1, col 8: syntax error: unexpected ,'],
    ['5s', 'at line 1, col 1: syntax error: unexpected DURATION'],
    ['sum', 'at line 1, col 1: syntax error: unexpected IDENTIFIER'],
    ['{a="b"} | json --strict', 'at line 1, col 16: syntax error: unexpected FUNCTION_FLAG'],
    ['1 1', 'at line 1, col 3: syntax error: unexpected NUMBER'],
    ['(1))', 'at line 1, col 4: syntax error: unexpected )'],
    ['{a="b"} offset 5m', 'at line 1, col 9: syntax error: unexpected offset'],
    // A syntax error further right wins over an error of meaning.
    ['sum(3, rate({a="b"}[5m])) + ', 'at line 1, col 29: syntax error: unexpected $end'],
  ])('%j', (text, want) => {
    expect(messageOf(text)).toBe(want);
  });
});

describe('errors of meaning (docs/dev/logql-semantics.md#checks-after-parsing)', () => {
  const unwrapped = '{a="b"} | unwrap x [5m]';
  const plain = '{a="b"}[5m]';
  test.each([
    ['{}', TOO_WIDE],
    ['{a=""}', TOO_WIDE],
    ['{a!="b", c!~"d"}', TOO_WIDE],
    ['{a=~".*"}', TOO_WIDE],
    ['{a=~"x|"}', TOO_WIDE],
    ['{a=~"\\n?"}', TOO_WIDE],
    ['{a=~"(?P<n>x)?(?P<n>y)?"}', TOO_WIDE],
    ['{a=~"(?P<n>x)(?P<n>y)"}', 'no error'],
    ['rate({a="b"}[1m]) + rate({a!="b"}[1m])', TOO_WIDE],
    ['{a=~".+"}', 'no error'],
    ['{a=~".*", b="c"}', 'no error'],
    ['{a!=""}', 'no error'],
    ['{a!~".*"}', 'no error'],
    ['{a=~"["}', ': error parsing regexp: missing closing ]: `[`'],
    ['{a="b"} | c=~"("', ': error parsing regexp: missing closing ): `(`'],
    ['{a="b"} | keep c=~"("', ': error parsing regexp: missing closing ): `(`'],
    // An invalid matcher ends the parsing immediately.
    ['{a=~"(" } | nonsense nonsense', ': error parsing regexp: missing closing ): `(`'],
    ['{a=~"\\xff"}', ': error parsing regexp: invalid UTF-8: `\ufffd`'],
    [`sum_over_time(${plain})`, ': invalid aggregation sum_over_time without unwrap'],
    [`count_over_time(${unwrapped})`, ': invalid aggregation count_over_time with unwrap'],
    [`rate(${unwrapped})`, 'no error'],
    [`rate(${plain}) by (a)`, ': grouping not allowed for rate aggregation'],
    [`sum_over_time(${unwrapped}) by (a)`, ': grouping not allowed for sum_over_time aggregation'],
    [`avg_over_time(${unwrapped}) by (a)`, 'no error'],
    [`rate(5, ${plain})`, ': parameter 5 not supported for operation rate'],
    [`quantile_over_time(${unwrapped})`, ': parameter required for operation quantile_over_time'],
    [`topk(rate(${plain}))`, ': parameter required for operation topk'],
    [`topk(1.5, rate(${plain}))`, ': invalid parameter topk(1.5,'],
    [`topk(0x5, rate(${plain}))`, ': invalid parameter topk(0x5,'],
    [`topk(99999999999999999999, rate(${plain}))`, ': invalid parameter topk(99999999999999999999,'],
    [`bottomk(0, rate(${plain}))`, ': invalid parameter (must be greater than 0) bottomk(0'],
    [`sum(3, rate(${plain}))`, ': unsupported parameter for operation sum(3,'],
    [`approx_topk(3, rate(${plain})) by (a)`, ': grouping not allowed for approx_topk aggregation'],
    [`sort(rate(${plain})) by (a)`, ": sort and sort_desc doesn't allow grouping by "],
    ['{a="b"} + 1', ': unexpected type for left leg of binary operation (+): *syntax.MatchersExpr'],
    ['1 > {a="b"} | json', ': unexpected type for right leg of binary operation (>): *syntax.PipelineExpr'],
    ['1 and 2', ': unexpected literal for left leg of logical/set binary operation (and): 1.000000'],
    [
      `rate(${plain}) or 1e21`,
      ': unexpected literal for right leg of logical/set binary operation (or): 1000000000000000000000.000000',
    ],
    [
      `label_replace(rate(${plain}), "a", "b", "c", "(")`,
      ': invalid regex in label_replace: error parsing regexp: missing closing ): `^(?:()$`',
    ],
    ['0x1F', ': unable to parse literal as a float: strconv.ParseFloat: parsing "0x1F": invalid syntax'],
    [
      '1e999 + 1',
      ': unable to parse literal as a float: strconv.ParseFloat: parsing "1e999": value out of range',
    ],
    [
      '{a="b"} | c>0x1F',
      ': unable to parse literal as a float: strconv.ParseFloat: parsing "0x1F": invalid syntax',
    ],
    ['{a="b"} | regexp "("', ': invalid regexp parser: error parsing regexp: missing closing ): `(`'],
    [
      '{a="b"} | regexp "(a)[(?P<b>]"',
      ': invalid regexp parser: at least one named capture must be supplied',
    ],
    ['{a="b"} | regexp `\\(?P<b>x`', ': invalid regexp parser: at least one named capture must be supplied'],
    [
      '{a="b"} | regexp `\\Q(?P<b>x)\\E`',
      ': invalid regexp parser: at least one named capture must be supplied',
    ],
    ['{a="b"} | regexp "(?P<x>a)|(?P<x>b)"', ": invalid regexp parser: duplicate extracted label name 'x'"],
    ['{a="b"} | regexp "(?P<1a>x)"', 'no error'],
    ['{a="b"} | regexp "(?<a>x)"', 'no error'],
    [
      '{a="b"} | pattern ""',
      ': invalid pattern parser: parse error at line 1, col 1: syntax error: unexpected $end, expecting IDENTIFIER or ' +
        'LITERAL',
    ],
    ['{a="b"} | pattern "<_> <1a>"', ': invalid pattern parser: at least one capture is required'],
    [
      '{a="b"} | pattern "<a><b>"',
      ": invalid pattern parser: found consecutive capture '<a><b>': invalid expression",
    ],
    [
      '{a="b"} | pattern "<a> <_> <_> <a>"',
      ': invalid pattern parser: duplicate capture name (a): invalid expression',
    ],
    // Outermost first.
    [`topk(sum_over_time(${plain}))`, ': parameter required for operation topk'],
    [
      `sum(sum_over_time(${plain})) + sum(3, rate(${plain}))`,
      ': invalid aggregation sum_over_time without unwrap',
    ],
    // Errors that are found only when the pipeline is built.
    ['{a="b"} |~ "("', 'no error'],
    ['{a="b"} |> "<a>"', 'no error'],
    ['{a="b"} |= ip("nonsense") | c=ip("nonsense")', 'no error'],
    ['{a="b"} | json a="b[" | line_format "{{" | label_format a=b,a=c', 'no error'],
  ])('%j', (text, want) => {
    expect(messageOf(text)).toBe(want);
  });
});

describe('plain selectors', () => {
  test('give their matchers', () => {
    expect(parseSelector(' ({a="b", c!~"d"}) ')).toEqual([
      { name: 'a', op: '=', value: 'b' },
      { name: 'c', op: '!~', value: 'd' },
    ]);
    expect(parseSelector('{}', { allowEmpty: true })).toEqual([]);
    expect(parseSelector('{a!="b"}', { allowEmpty: true })).toEqual([{ name: 'a', op: '!=', value: 'b' }]);
  });

  test.each([
    ['{a="b"} |= "c"', 'only label matchers are supported'],
    ['rate({a="b"}[1m])', 'only label matchers are supported'],
    ['1', 'only label matchers are supported'],
    ['{a!="b"}', `parse error ${TOO_WIDE}`],
    ['{', 'parse error at line 1, col 2: syntax error: unexpected $end, expecting IDENTIFIER or }'],
  ])('%j is refused', (text, want) => {
    expect(() => parseSelector(text)).toThrow(new BadRequestError(want));
  });
});
