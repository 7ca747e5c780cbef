/** The pattern, regexp and unpack parsers. */
import { describe, expect, test } from '@jest/globals';
import { labelsAfter, runLog, samplesOf, type Texts } from './support.ts';

describe('pattern', () => {
  test.each<[string, string, Texts]>([
    ['<a> <b>', 'one two three', { a: 'one', b: 'two three' }],
    ['[<a>] <_> "<b>"', '[x] junk "y" rest', { a: 'x', b: 'y' }],
    ['[<a>]', ' [x]', {}],
    ['<a>-<b>', 'xy', { a: 'xy' }],
    ['<a>-<b>;<c>', 'x-y', { a: 'x', b: 'y' }],
    ['<a>-', 'x-y', { a: 'x' }],
    ['<a> <b>', ' x', { a: '', b: 'x' }],
    ['<a>', '', {}],
    ['<a><1b>', 'x<1b>', { a: 'x' }],
    ['<_> <a>', 'x y', { a: 'y' }],
    ['<app>,<a>', 'v,w', { app_extracted: 'v', a: 'w' }],
    ['é<a>é', 'éxé', { a: 'x' }],
    ['0123456789012345678901234567890123456789<a>', '0123456789012345678901234567890123456789x', { a: 'x' }],
    ['<a>0123456789012345678901234567890123456789', 'x0123456789012345678901234567890123456789', { a: 'x' }],
  ])('%s of %j', (pattern, line, want) => {
    expect(labelsAfter(`| pattern \`${pattern}\``, line)).toEqual(want);
  });

  test('the first value of a name stays', () => {
    expect(labelsAfter('| label_format a="1" | pattern `<a> <b>`', 'x y')).toEqual({ a: '1', b: 'y' });
  });
});

describe('regexp', () => {
  test.each<[string, string, Texts]>([
    ['(?P<a>\\d+) (?P<b>\\w+)', 'x 12 ab 34 cd', { a: '12', b: 'ab' }],
    ['(?P<a>x)|(?P<b>y)', 'y', { a: '', b: 'y' }],
    ['(?P<a>x)(y)', 'xy', { a: 'x' }],
    ['(?P<a>x)', 'y', {}],
    ['(?P<app>x)', 'x', { app_extracted: 'x' }],
    ['(?<a>é+)', 'zéé', { a: 'éé' }],
    ['(?P<1>x)', 'x', { _1: 'x' }],
    ['(?P<0a>x)(?P<9>y)', 'xy', { _0a: 'x', _9: 'y' }],
    ['(?P<1>x)(?P<_1>y)', 'xy', { _1: 'x' }],
    ['(?P<_1>x)(?P<1>y)', 'xy', { _1: 'x' }],
  ])('%s of %j', (pattern, line, want) => {
    expect(labelsAfter(`| regexp \`${pattern}\``, line)).toEqual(want);
  });
});

describe('unpack', () => {
  const OBJECT = "Value looks like object, but can't find closing '}' symbol";
  test.each<[string, string, Texts]>([
    ['{"a":"1","_entry":"the line"}', 'the line', { a: '1' }],
    ['{"_entry":"x","a.b":"1","n":2,"o":{"c":"3"},"l":["d"],"t":true}', 'x', { a_b: '1' }],
    ['{"_entry":"x","_entry":"y\\n"}', 'y\n', {}],
    ['{"a":"1"}', '{"a":"1"}', {}],
    ['{"a":"\\"","app":"z","_entry":""}', '', { a: '"', app_extracted: 'z' }],
    ['', '', {}],
    ['{"\\u005fentry":"x"}', 'x', {}],
    ['x', 'x', { __error__: 'JSONParserErr', __error_details__: 'expecting json object(6), but it is not' }],
    [
      ' {}',
      ' {}',
      { __error__: 'JSONParserErr', __error_details__: 'expecting json object(6), but it is not' },
    ],
    [
      '{"a":"1","_entry":"x" "b"}',
      '{"a":"1","_entry":"x" "b"}',
      { __error__: 'JSONParserErr', __error_details__: OBJECT },
    ],
    ['{"a":tru}', '{"a":tru}', { __error__: 'JSONParserErr', __error_details__: 'Unknown value type' }],
  ])('%j', (line, wantLine, want) => {
    const [result] = runLog('| unpack', [{ line }]);
    expect(result.line).toBe(wantLine);
    expect(result.labels).toEqual({ app: 'x', ...want });
  });

  test('the line keeps its bytes', () => {
    const broken = Buffer.from('{"_entry":"a#b","x":"c#d"}'.replaceAll('#', '\xff'), 'latin1');
    const [result] = runLog('| unpack', [{ line: broken }]);
    expect([result.line, result.labels.x]).toEqual(['a\udcffb', 'c d']);
    const replaced = runLog('| unpack', [{ line: '{"_entry":"a\\ufffdb\ufffd"}' }]);
    expect(replaced[0].line).toBe('a\ufffdb\ufffd');
  });

  test.each(['{"_entry":"\\q"}', '{"_entry":"\\ud800"}', '{"_entry":"\\q","_entry":"x","a":"1"}'])(
    '%s has a line that cannot be unescaped',
    line => {
      const [result] = runLog('| unpack', [{ line }]);
      expect(result.line).toBe(line);
      expect(result.parsed).toEqual({
        __error__: 'JSONParserErr',
        __error_details__: 'Encountered an invalid escape sequence in a string',
      });
    },
  );

  test('a key that replaced characters make a label of the stream takes the suffix', () => {
    const [{ labels }] = runLog('| unpack', [
      { line: '{"a b":"1","_entry":""}', stream: { app: 'x', a_b: 's' } },
    ]);
    expect(labels).toEqual({ app: 'x', a_b: 's', a_b_extracted: '1' });
  });

  test('later stages read the unpacked line', () => {
    const line = '{"pod":"p","_entry":"a=1 pod=q"}';
    expect(labelsAfter('| unpack | logfmt', line)).toEqual({ pod: 'p', a: '1' });
    expect(labelsAfter('| unpack |= "a=1"', line)).toEqual({ pod: 'p' });
    expect(labelsAfter('| unpack |= "_entry"', line)).toBe('dropped');
    expect(labelsAfter('|= "_entry" | unpack', line)).toEqual({ pod: 'p' });
  });

  test('a sum without labels needs nothing unpacked', () => {
    const query = 'sum(bytes_over_time({app="x"} | unpack [1m]))';
    expect(samplesOf(query, [{ line: '{"_entry":"ab"}' }])).toEqual([{ row: 0, labels: {}, value: 15 }]);
    const byPod = 'sum by (pod) (bytes_over_time({app="x"} | unpack [1m]))';
    expect(samplesOf(byPod, [{ line: '{"_entry":"ab","pod":"p"}' }])).toEqual([
      { row: 0, labels: { pod: 'p' }, value: 2 },
    ]);
  });
});
