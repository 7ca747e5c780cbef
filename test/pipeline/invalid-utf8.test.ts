/**
 * Lines with bytes that are not UTF-8. Bytes are Latin-1 letters in the tables (`\xff`), so `\xef\xbf\xbd` is
 * U+FFFD itself. All results are the reference's.
 */
import { describe, expect, test } from '@jest/globals';
import { bytesOfText } from '../../shared/base/model/byte-text.ts';
import { passes, runLog } from './support.ts';

const raw = (text: string) => Buffer.from(text, 'latin1');
const shown = (text: string) => bytesOfText(text).toString('latin1');
const LINES = ['a\xffb', 'a\xef\xbf\xbdb', '\xff', 'caf\xc3\xa9', 'x \xe2\x82 y', '\xc3('];

describe('line filters', () => {
  test.each<[string, string[]]>([
    ['|= "\\xff"', ['a\xffb', '\xff']],
    ['!= "\\xff"', ['a\xef\xbf\xbdb', 'caf\xc3\xa9', 'x \xe2\x82 y', '\xc3(']],
    ['|= "\\xff" or "\\xe2\\x82"', ['a\xffb', '\xff', 'x \xe2\x82 y']],
    ['|= "\\ufffd"', ['a\xef\xbf\xbdb']],
    ['|= "\\xc3"', ['caf\xc3\xa9', '\xc3(']],
    ['|= "\\xa9"', ['caf\xc3\xa9']],
    ['|= "a\\xffb"', ['a\xffb']],
    // A text is searched for as bytes; to an expression each broken byte is U+FFFD.
    ['|~ "\\\\x{FFFD}"', ['a\xef\xbf\xbdb']],
    ['|~ "\ufffd"', ['a\xef\xbf\xbdb']],
    ['!~ "\\\\x{FFFD}"', LINES.filter(line => line !== 'a\xef\xbf\xbdb')],
    ['|~ "\\\\x{FFFD}.*|zzz|"', ['a\xef\xbf\xbdb']],
    ['|~ "^.\\\\x{FFFD}"', ['a\xffb', 'a\xef\xbf\xbdb']],
    ['|~ "a.b"', ['a\xffb', 'a\xef\xbf\xbdb']],
    ['|~ "a[^c]b"', ['a\xffb', 'a\xef\xbf\xbdb']],
    ['|~ " .. "', ['x \xe2\x82 y']],
    // A pattern ends before its first broken byte.
    ['|> "<_>\\xff<_>"', LINES],
    ['|> "a\\xff<_>"', []],
  ])('%s', (stages, want) => {
    const expected = LINES.map(line => want.includes(line));
    expect(passes(stages, LINES.map(raw))).toEqual(expected);
    expect(passes(`| line_format "{{__line__}}" ${stages}`, LINES.map(raw))).toEqual(expected);
  });

  test('a pattern that begins with a broken byte is refused', () => {
    expect(() => passes('|> "\\xff<_>"', [''])).toThrow(
      'parse error at line 1, col 1: syntax error: unexpected $end, expecting IDENTIFIER or LITERAL',
    );
  });
});

describe('labels', () => {
  test.each<[string, string, string | undefined]>([
    ['| regexp "(?P<x>a.b)"', 'a\xffb', 'a\xffb'],
    ['| regexp "(?P<x>a.b)"', 'a\xef\xbf\xbdb', 'a\xef\xbf\xbdb'],
    ['| regexp "x (?P<x>..) y"', 'x \xe2\x82 y', '\xe2\x82'],
    ['| regexp "(?P<x>.)"', '\xc3(', '\xc3'],
    ['| regexp "(?P<x>a.b)" | x="a\\xffb"', 'a\xffb', 'a\xffb'],
    ['| regexp "(?P<x>a.b)" | x="a\\ufffdb"', 'a\xffb', undefined],
    ['| regexp "(?P<x>a.b)" | x="a\\ufffdb"', 'a\xef\xbf\xbdb', 'a\xef\xbf\xbdb'],
    ['| regexp "(?P<x>a.b)" | x!="a\\xffb"', 'a\xffb', undefined],
    ['| regexp "(?P<x>a.b)" | x=~"a\\\\x{FFFD}b"', 'a\xffb', undefined],
    ['| regexp "(?P<x>a.b)" | x=~"a\\\\x{FFFD}."', 'a\xffb', 'a\xffb'],
    ['| regexp "(?P<x>a.b)" | x=~"a[^c]b"', 'a\xffb', 'a\xffb'],
    ['| pattern "<x>b"', 'a\xffb', 'a\xff'],
    ['| pattern "<x>b" | x="a\\xff"', 'a\xffb', 'a\xff'],
    ['| pattern "<x>\\xff<y>"', 'a\xffb', 'a\xffb'],
    ['| label_format x="{{__line__}}"', 'a\xffb', 'a\xffb'],
    ['| pattern "<y>b" | label_format x=y', 'a\xffb', 'a\xff'],
    ['| pattern "<x>b" | drop x="a\\xff"', 'a\xffb', undefined],
    ['| pattern "<x>b" | keep x="a\\xff"', 'a\xffb', 'a\xff'],
    [
      '| pattern "<x>b" | label_format x="{{.x}}{{urldecode `%fe`}}" | x="a\\xff\\xfe"',
      'a\xffb',
      'a\xff\xfe',
    ],
    // Halves of a character that come together again.
    [
      '| label_format x="{{trunc 4 __line__}}{{substr 4 5 __line__}}" | x="café"',
      'caf\xc3\xa9',
      'caf\xc3\xa9',
    ],
    // Parsers of structured lines show spaces.
    ['| logfmt', 'x=a\xffb', 'a b'],
    ['| logfmt', 'x="a\\t\xffb"', 'a\t b'],
    ['| logfmt', 'x=a\xef\xbf\xbdb', 'a b'],
    ['| logfmt x="x"', 'x=a\xffb', ''],
    ['| json', '{"x":"a\xff\\tb"}', 'a \tb'],
    ['| json', '{"x":"a\xef\xbf\xbdb"}', 'a b'],
    ['| logfmt | x="a\\xffb"', 'x=a\xffb', undefined],
  ])('%s on %j', (stages, line, want) => {
    const [row] = runLog(stages, [{ line: raw(line) }]);
    const value = row?.labels.x;
    expect(value === undefined ? undefined : shown(value)).toBe(want);
    // Rows of one page have separate label sets.
    const both = runLog(stages, [{ line: raw(line) }, { line: 'other' }, { line: raw(line) }]);
    if (want !== undefined)
      expect([both.at(0), both.at(-1)].map(result => result?.labels.x)).toEqual([value, value]);
  });

  test('values of different bytes are different values', () => {
    const rows = runLog('| pattern "<x>-"', [
      { line: raw('\xff-') },
      { line: raw('\xfe-') },
      { line: raw('\xef\xbf\xbd-') },
      { line: raw('\xff-') },
    ]);
    expect(rows.map(({ text }) => text)).toEqual([
      '{app="x", x="\\xff"}',
      '{app="x", x="\\xfe"}',
      '{app="x", x="\ufffd"}',
      '{app="x", x="\\xff"}',
    ]);
  });
});

describe('templates count as Go does', () => {
  const A = 'a\xffb';
  const B = 'x \xe2\x82 y';
  const C = 'caf\xc3\xa9';
  test.each<[string, string, string]>([
    ['{{__line__}}', A, A],
    ['{{len __line__}}', A, '3'],
    ['{{len __line__}}', B, '6'],
    ['{{len __line__}}', 'a\xef\xbf\xbdb', '5'],
    ['{{index __line__ 1}}', A, '255'],
    ['{{slice __line__ 1 2}}', A, '\xff'],
    ['{{trunc 2 __line__}}', A, 'a\xff'],
    ['{{trunc -2 __line__}}', A, '\xffb'],
    ['{{trunc 4 __line__}}', C, 'caf\xc3'],
    ['{{substr 1 3 __line__}}', B, ' \xe2'],
    ['{{trunc 4 __line__}}{{substr 4 5 __line__}}', C, C],
    ['{{alignLeft 2 __line__}}', A, 'a\xef\xbf\xbd'],
    ['{{alignLeft 5 __line__}}|', A, 'a\xffb  |'],
    ['{{alignRight 2 __line__}}', A, '\xef\xbf\xbdb'],
    ['{{alignRight 8 __line__}}', B, '  x \xe2\x82 y'],
    ['{{upper __line__}}', A, 'A\xef\xbf\xbdB'],
    ['{{ToLower __line__}}', B, 'x \xef\xbf\xbd\xef\xbf\xbd y'],
    ['{{title __line__}}', A, 'A\xef\xbf\xbdb'],
    ['{{trim __line__}}', '\xff ', '\xff'],
    ['{{trimAll "a" __line__}}', A, '\xffb'],
    ['{{trimAll "\\xff" __line__}}', '\xc3(\xff', '('],
    ['{{Trim __line__ "\\ufffd"}}', '\xc3(', '('],
    ['{{trimPrefix "a" __line__}}', A, '\xffb'],
    ['{{trimPrefix "a\\xff" __line__}}', A, 'b'],
    ['{{trimSuffix "\\xa9" __line__}}', C, 'caf\xc3'],
    ['{{contains "\\xff" __line__}} {{contains "\\ufffd" __line__}}', A, 'true false'],
    [
      '{{contains "\\xa9" __line__}} {{hasSuffix "\\xa9" __line__}} {{hasPrefix "\\xa9" __line__}}',
      C,
      'true true false',
    ],
    ['{{replace "\\xff" "<>" __line__}}', A, 'a<>b'],
    ['{{replace "\\xa9" "\\xaa" __line__}}', C, 'caf\xc3\xaa'],
    ['{{replace "b" "\\xfe" __line__}}', A, 'a\xff\xfe'],
    ['{{replace "" "-" __line__}}', A, '-a-\xff-b-'],
    ['{{repeat 2 __line__}}', A, A + A],
    ['{{regexReplaceAll "a(.)b" __line__ "<$1>"}}', A, '<\xff>'],
    ['{{regexReplaceAll "\\\\x{FFFD}" __line__ "?"}}', B, 'x ?? y'],
    ['{{regexReplaceAllLiteral "." __line__ "."}}', B, '......'],
    ['{{count "." __line__}}', B, '6'],
    [
      '{{printf "%s|%5s|%.2s|%-4s|" __line__ __line__ __line__ __line__}}',
      A,
      'a\xffb|  a\xffb|a\xff|a\xffb |',
    ],
    [
      '{{printf "%q %+q %#q %x % X" __line__ __line__ __line__ __line__ __line__}}',
      A,
      '"a\\xffb" "a\\xffb" "a\\xffb" 61ff62 61 FF 62',
    ],
    ['{{print __line__ 1}}', A, 'a\xffb1'],
    [
      '{{html __line__}} {{js __line__}} {{urlquery __line__}} {{urlencode __line__}}',
      A,
      'a\xffb a\xffb a%FFb a%FFb',
    ],
    ['{{urldecode "%ff%c3%a9"}}', A, '\xff\xc3\xa9'],
    ['{{b64enc __line__}} {{b64dec "/w=="}}', A, 'Yf9i \xff'],
    ['{{eq __line__ "a\\xffb"}} {{eq __line__ "a\\ufffdb"}}', A, 'true false'],
    ['{{(fromJson __line__).x}}', '{"x":"a\xffb\\udc80"}', 'a\xef\xbf\xbdb\xef\xbf\xbd'],
  ])('%j on %j', (template, line, want) => {
    const quoted = JSON.stringify(template);
    const asLine = runLog(`| line_format ${quoted}`, [{ line: raw(line) }]);
    expect(asLine.map(row => shown(row.line))).toEqual([want]);
    const asLabel = runLog(`| label_format x=${quoted}`, [{ line: raw(line) }]);
    expect(asLabel.map(row => shown(row.labels.x))).toEqual([want]);
  });

  test('a template can hold bytes itself', () => {
    const [row] = runLog('| line_format "\\xff{{\\"\\\\xfe\\"}}{{`\\xfd`}}"', [{ line: '' }]);
    expect(shown(row.line)).toBe('\xff\xfe\xfd');
  });

  test('an error quotes the bytes', () => {
    const [row] = runLog('| line_format "{{unixToTime __line__}}"', [{ line: raw('a\xffb') }]);
    expect(shown(row.labels.__error_details__)).toContain(
      'unable to parse time \'a\xffb\': strconv.ParseInt: parsing "a\\xffb": invalid syntax',
    );
  });
});
