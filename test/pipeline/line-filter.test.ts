import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { compileIp, containsIp } from '../../shared/execution/pipeline/ip.ts';
import { compilePatternFilter } from '../../shared/execution/pipeline/pattern-filter.ts';
import { passes, runLog } from './support.ts';

describe('operators', () => {
  const lines = ['', 'foo', 'bar foo', 'FOO', 'foobar', 'a\nb', '10.1.2.3 up', 'é'];
  test.each<[string, string[]]>([
    ['|= "foo"', ['foo', 'bar foo', 'foobar']],
    ['!= "foo"', ['', 'FOO', 'a\nb', '10.1.2.3 up', 'é']],
    ['|= ""', lines],
    ['!= ""', []],
    ['|~ "^foo"', ['foo', 'foobar']],
    ['|~ "(?i)^foo"', ['foo', 'FOO', 'foobar']],
    ['!~ "[o]"', ['', 'FOO', 'a\nb', '10.1.2.3 up', 'é']],
    ['|~ ".+"', ['foo', 'bar foo', 'FOO', 'foobar', 'a\nb', '10.1.2.3 up', 'é']],
    ['|> "<_>foo"', ['bar foo']],
    ['!> "<_>foo"', ['', 'foo', 'FOO', 'foobar', 'a\nb', '10.1.2.3 up', 'é']],
    ['|= ip("10.0.0.0/8")', ['10.1.2.3 up']],
    ['!= ip("10.0.0.0/8")', ['', 'foo', 'bar foo', 'FOO', 'foobar', 'a\nb', 'é']],
    ['|= "FOO" or "é"', ['FOO', 'é']],
    ['|= ip("10.1.2.3") or "é"', ['10.1.2.3 up', 'é']],
    ['|> "<_>bar" or "foo"', ['foo', 'bar foo', 'foobar']],
    ['!= "foo" or "é"', ['', 'FOO', 'a\nb', '10.1.2.3 up']],
    ['|= "foo" != "bar"', ['foo']],
    ['|= "foo" |~ "b.r"', ['bar foo', 'foobar']],
    ['|= "0123456789012345678901234567890123456789"', []],
  ])('%s', (stages, want) => {
    const expected = lines.map(line => want.includes(line));
    expect(passes(stages, lines)).toEqual(expected);
    // The same on lines that a stage has put there.
    expect(passes(`| line_format "{{__line__}}" ${stages}`, lines)).toEqual(expected);
    expect(passes(`| logfmt ${stages}`, lines)).toEqual(expected);
  });
});

describe('an empty alternative', () => {
  const lines = ['error', '', '\n', 'health ok', 'warn', 'a', 'foo bar', 'foobar', 'ERROR', 'a.b', '\ufffd'];
  const errors = ['error'];
  const none: string[] = [];
  test.each<[string, string[]]>([
    // Dropped next to others that are texts.
    ['|~ "error|"', errors],
    ['|~ "|error"', errors],
    ['|~ "error||warn"', ['error', 'warn']],
    ['|~ "(error|)"', errors],
    ['|~ "((error|)|warn)"', ['error', 'warn']],
    ['|~ "(?:error|)|warn"', ['error', 'warn']],
    ['|~ "(?P<x>error|)"', errors],
    ['|~ "(?i)error|"', ['error', 'ERROR']],
    ['|~ "error|(?i:ERR|)"', ['error', 'ERROR']],
    ['|~ "error|err|"', errors],
    ['|~ "error|()"', errors],
    ['|~ "error|(?:)"', errors],
    ['|~ "error|a{0}"', errors],
    ['|~ "error|.*"', errors],
    ['|~ "error|.*?|"', errors],
    ['|~ "error|.{0,}"', errors],
    ['|~ "error.*|"', errors],
    ['|~ ".*error.*|zzz|"', errors],
    ['|~ "[e]rror|"', errors],
    ['|~ "a\\\\.b|"', ['a.b']],
    ['|~ "\\\\Qa.b\\\\E|"', ['a.b']],
    ['|~ "(?:error|warn){1}|"', ['error', 'warn']],
    ['|~ "foo(bar|)|"', ['foo bar', 'foobar']],
    ['|~ "foo( bar|qux)|"', ['foo bar']],
    ['|~ ".+|"', lines.filter(line => line !== '')],
    ['|~ "error|.+"', lines.filter(line => line !== '')],
    ['|~ "\\ufffd|"', ['\ufffd']],
    ['!~ "health|"', lines.filter(line => line !== 'health ok')],
    ['!~ "health|.*"', lines.filter(line => line !== 'health ok')],
    // Counts if an alternative is more than text, also by the common part of alternatives.
    ['|~ "a|b|"', lines],
    ['|~ "err|ers|"', lines],
    ['|~ "error\\\\d|"', lines],
    ['|~ "err.r|"', lines],
    ['|~ "error?|"', lines],
    ['|~ "^error|"', lines],
    ['|~ "foo.*bar|"', lines],
    ['|~ "error|(?s).*"', lines],
    ['|~ "error|[^\\n]*"', lines],
    ['|~ "(error|)(warn|)"', lines],
    ['!~ "a|b|"', none],
    ['|~ "error|^$"', ['error', '']],
    // Alone.
    ['|~ ""', lines],
    ['|~ "|"', lines],
    ['|~ "||()"', lines],
    ['|~ ".*"', lines],
    ['!~ ""', none],
    ['!~ "|"', none],
    ['!~ ".*"', none],
    // Errors of operands.
    ['|= "" or "error"', errors],
    ['|= "error" or ""', errors],
    ['|= "" or "error" or "" or "warn"', ['error', 'warn']],
    ['|= "" or ""', lines],
    ['|= "" or ip("1.2.3.4")', none],
    ['|= ip("1.2.3.4") or ""', none],
    ['!= "" or "error"', none],
    ['!= "error" or ""', none],
    ['|~ "" or "error"', errors],
    ['|~ "error" or ".*"', errors],
    ['|~ "error|" or "warn|"', ['error', 'warn']],
    ['|~ "" or "|"', lines],
    ['|~ "a|b|" or "error"', lines],
    ['!~ "error|" or "warn|"', lines.filter(line => line !== 'error' && line !== 'warn')],
    ['!~ "" or "error"', none],
    ['|> "" or "error"', ['error', '']],
    ['|> "error" or ""', ['error', '']],
    ['!> "" or "error"', lines.filter(line => line !== 'error' && line !== '')],
    // A text that is not an alternative stays an expression, although the reference tests for less
    // (difference D1).
    ['|~ "foo.*(bar|qux)"', ['foo bar', 'foobar']],
    ['|~ "foo.*(bar|qux)|"', ['foo bar', 'foobar']],
  ])('%s', (stages, want) => {
    const expected = lines.map(line => want.includes(line));
    expect(passes(stages, lines)).toEqual(expected);
    expect(passes(`| line_format "{{__line__}}" ${stages}`, lines)).toEqual(expected);
    expect(passes(`| decolorize ${stages}`, lines)).toEqual(expected);
  });
});

test.each<[string, boolean]>([
  ['|~ ".+"', true],
  ['!~ ".+"', false],
  ['|~ "(?P<all>.+)"', true],
  ['|~ "^.+"', false],
  // Next to texts it is a test for any byte, next to a class an expression.
  ['|~ "xx|.+"', true],
  ['|~ "xx|.+|[ab]"', false],
])('%s on a lone newline', (stages, want) => {
  expect(passes(stages, ['\n'])).toEqual([want]);
  expect(passes(`| line_format "{{__line__}}" ${stages}`, ['\n'])).toEqual([want]);
});

describe('patterns', () => {
  test.each<[string, string, boolean]>([
    ['foo', 'xfoo', true],
    ['foo', 'foox', false],
    ['<_>foo<_>', 'xfoox', true],
    ['<_>foo<_>', 'foox', false],
    ['<_>foo<_>', 'xfoo', false],
    ['<_>ab', 'abab', false],
    ['<_>ab', 'xab', true],
    ['foo <_>', 'zz foo bar', true],
    ['a<_>a', 'aa', false],
    ['a<_>a', 'axa', true],
    ['<_>', 'x', true],
    ['<_>', '', false],
    ['', '', true],
    ['', 'x', false],
    ['x', '', false],
    ['<_> <_> é<_>', 'a b éc', true],
  ])('%s on %j: %s', (pattern, line, want) => {
    const bytes = Buffer.from(line);
    expect(compilePatternFilter(pattern).test(bytes, 0, bytes.length)).toBe(want);
    expect(passes(`|> \`${pattern}\``, ['other', line, ' '])[1]).toBe(want);
    expect(passes(`!> \`${pattern}\``, ['other', line, ' '])[1]).toBe(!want);
  });

  test.each([
    ['<a>', "named captures are not allowed: found '<a>'"],
    ['<_><_>', "found consecutive capture '<_><_>': invalid expression"],
  ])('%s is refused', (pattern, message) => {
    expect(() => compilePatternFilter(pattern)).toThrow(new Error(message));
  });
});

describe('addresses', () => {
  test.each<[string, string, boolean]>([
    ['192.168.4.5', 'from 192.168.4.5 to', true],
    ['192.168.4.5', '1192.168.4.5', true],
    ['192.168.4.5', '192.168.4.5.', false],
    ['192.168.4.5', '192.168.4.5:80', true],
    ['192.168.4.5', '192.168.4.55', false],
    ['1.2.3.4', '01.2.3.4', false],
    ['1.2.3.4', '::ffff:1.2.3.4', false],
    ['10.0.0.0/8', '10.255.255.255', true],
    ['10.0.0.0/8', '11.0.0.0', false],
    ['0.0.0.0/0', '8.8.8.8', true],
    ['10.0.0.1-10.0.0.9', '10.0.0.9', true],
    ['10.0.0.1-10.0.0.9', '10.0.0.10', false],
    ['2001:db8::1', '[2001:db8::1]:80', true],
    ['2001:db8::1', '2001:0db8:0:0:0:0:0:1', true],
    ['2001:db8::/32', 'x 2001:db8:ffff::7 y', true],
    ['2001:db8::/32', '2001:db9::7', false],
    ['::1', '::1', true],
    ['fe80::-fe80::ff', 'fe80::10', true],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', '10', false],
    ['10.0.0.0/8', '1.1.1.1.1 10.0.0.1', true],
    ['2001:db8::1', '10.0.0.1', false],
  ])('%s in %j: %s', (pattern, text, want) => {
    const bytes = Buffer.from(`--${text}`);
    expect(containsIp(compileIp(pattern), bytes, 2, bytes.length)).toBe(want);
  });

  test.each([
    '',
    'foo',
    '1.2.3',
    '1.2.3.4/33',
    '1.2.3.4/99',
    '1.2.3.4/',
    '01.2.3.4',
    '1.2.3.4 - 1.2.3.5',
    '1.2.3.5-1.2.3.4',
    '1.2.3.4-::1',
    '::1/129',
    '[::1]',
    'fe80::1%eth0',
  ])('%j is not a pattern', pattern => {
    expect(() => compileIp(pattern)).toThrow(new Error(`ip: invalid pattern: ${JSON.stringify(pattern)}`));
  });
});

test('filters on a page agree with filters on single lines', () => {
  const line = fc.stringMatching(/^[ab1. \n]{0,12}$/);
  const filter = fc.constantFrom(
    '|= "a"',
    '!= "ab"',
    '|~ "a.b"',
    '!~ "b$"',
    '|> "<_>a<_>"',
    '!> "a<_>"',
    '|= "a" or "b1"',
    '|~ "^a" or "1$"',
    '|= ip("1.1.1.1") or "bb"',
  );
  fc.assert(
    fc.property(
      fc.array(line, { minLength: 1, maxLength: 20 }),
      fc.array(filter, { minLength: 1, maxLength: 3 }),
      (lines, filters) => {
        const stages = filters.join(' ');
        const alone = lines.map(text => runLog(stages, [{ line: text }]).length === 1);
        expect(passes(stages, lines)).toEqual(alone);
        const expected = lines.map(text =>
          filters.every(single => runLog(single, [{ line: text }]).length === 1),
        );
        expect(alone).toEqual(expected);
      },
    ),
  );
});

test('a line of 100,000 near misses is searched in bounded time', () => {
  const line = 'aaaaaaaaa'.repeat(100_000);
  expect(passes(`|> "<_>${'a'.repeat(5000)}b<_>"`, [line])).toEqual([false]);
  expect(passes(`|= ip("1.2.3.4")`, ['1.'.repeat(100_000)])).toEqual([false]);
});
