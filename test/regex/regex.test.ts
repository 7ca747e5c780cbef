// biome-ignore-all lint/suspicious/noTemplateCurlyInString: templates of Go look like this.
import { describe, expect, test } from '@jest/globals';
import { compileRegex, requiredLiteral } from '../../shared/language/regex/regex.ts';

describe('test', () => {
  test.each<[string, string, boolean]>([
    ['error', 'an error', true],
    ['^error', 'an error', false],
    ['', '', true],
    ['a.c', 'a\nc', false],
    ['(?s)a.c', 'a\nc', true],
    ['a.c', 'a😀c', true],
    ['a..c', 'a😀c', false],
    ['a$', 'a\n', false],
    ['(?m)a$', 'a\nb', true],
    ['(?m)^b', 'a\nb', true],
    ['(?m)^b', 'a\rb', false],
    ['(?m)a$', 'a\u2028', false],
    ['\\Aa\\z', 'a', true],
    ['(?i)straße', 'STRAßE', true],
    ['(?i)straße', 'STRAẞE', true],
    ['(?i)kelvin', '\u212aELVIN', true],
    ['(?i)[k]', '\u212a', true],
    ['(?i)ſ', 'S', true],
    ['(?i)σ', 'ς', true],
    ['(?i)é', 'É', true],
    ['(?i)a(?-i)b', 'AB', false],
    ['(?i:a)b', 'Ab', true],
    ['\\d', '٣', false],
    ['\\w', 'é', false],
    ['\\s', '\u00a0', false],
    ['\\s', '\v', false],
    ['[[:space:]]', '\v', true],
    ['\\bb', 'éb', true],
    ['\\pL', 'é', true],
    ['\\p{Greek}', 'σ', true],
    ['\\PN', '5', false],
    ['[[:^alpha:]]', 'a', false],
    ['\\Qa.b\\E', 'axb', false],
    ['\\Qa.b', 'xa.b', true],
    ['[^\\x00-\\x{10FFFF}]', 'a', false],
    ['a{,2}', 'a{,2}', true],
    ['.*error.*', 'x error y', true],
    ['(.*)error(.*)', 'x\nerror\n', true],
    ['(a+)+$', 'aab', false],
    ['\\s+$', 'a  b', false],
  ])('%j on %j', (pattern, text, want) => {
    expect(compileRegex(pattern).test(text)).toBe(want);
    const bytes = Buffer.from(`(${text})`);
    expect(compileRegex(pattern).testBytes(bytes, 1, bytes.length - 1)).toBe(want);
  });

  test.each<[string, string, boolean, boolean]>([
    // pattern, text, label filter, selector
    ['prod', 'prod', true, true],
    ['prod', 'prod-1', false, false],
    ['prod-.*', 'nonprod-1', false, false],
    ['prod|', '', true, true],
    ['foo|bar', 'foobar', false, false],
    ['.*', 'a\nb', false, true],
    ['.+', '\n', false, true],
    ['a.*c', 'a\nc', false, true],
    ['.*foo.*', 'x\nfoo\ny', false, true],
    ['a\\z|b', 'a', true, true],
    ['(?i)prod', 'PROD', true, true],
    ['\\Qa.*', 'a.*', true, true],
  ])('anchored: %j on %j', (pattern, text, filter, selector) => {
    expect(compileRegex(pattern, { anchored: true }).test(text)).toBe(filter);
    expect(compileRegex(pattern, { anchored: true, dotMatchesNewline: true }).test(text)).toBe(selector);
  });

  test('a pattern that is whole only between the anchors is refused', () => {
    expect(() => compileRegex('a)(b', { anchored: true })).toThrow('unexpected )');
  });

  test('every invalid byte is one U+FFFD', () => {
    const cut = Buffer.from([0x61, 0xe2, 0x84, 0x62, 0xff, 0xc3]);
    const match = (pattern: string, start = 0, end = cut.length) =>
      compileRegex(pattern).testBytes(cut, start, end);
    expect(match('^a..b..$')).toBe(true);
    expect(match('^a.b..$')).toBe(false);
    expect(match('\ufffd{2}b')).toBe(true);
    expect(match('^\\x{FFFD}$', 4, 5)).toBe(true);
    expect(match('b[^a]', 3, 5)).toBe(true);
    const overlong = Buffer.from([0xc0, 0xaf, 0xed, 0xa0, 0x80, 0xf5, 0xe2, 0x82, 0xac]);
    expect(compileRegex('^\ufffd{6}€$').testBytes(overlong, 0, overlong.length)).toBe(true);
  });
});

describe('exec', () => {
  test.each<[string, string, readonly (string | undefined)[] | undefined]>([
    ['(\\w+)=(\\w+)', ' a=1 b=2', ['a=1', 'a', '1']],
    ['(a)|(b)', 'b', ['b', undefined, 'b']],
    ['(?P<x>a)?b', 'b', ['b', undefined]],
    ['a*?', 'aaa', ['']],
    ['(?U)a+', 'aaa', ['a']],
    ['(?U)a+?', 'aaa', ['aaa']],
    ['a|ab', 'ab', ['a']],
    ['(|a)b', 'ab', ['ab', 'a']],
    // Go keeps what an earlier iteration caught; V8 alone would not.
    ['(?:(a)|b)*', 'ab', ['ab', 'a']],
    ['(a*)*', 'b', ['', '']],
    ['(a*)+', 'b', ['', '']],
    ['.*level=(\\w+).*', 'x\ny level=warn z', ['y level=warn z', 'warn']],
    ['(?s).*level=(\\w+)', 'x\ny level=warn z', ['x\ny level=warn', 'warn']],
    ['.*?(\\d)', 'a\nb1', ['b1', '1']],
    ['x', 'y', undefined],
  ])('%j on %j', (pattern, text, want) => {
    const got = compileRegex(pattern).exec(text);
    expect(got === undefined ? undefined : [...got]).toEqual(want);
  });

  test('names of groups', () => {
    expect(compileRegex('(?P<a>x)(y)(?<b>z)(?P<a>w)').groupNames).toEqual([
      undefined,
      'a',
      undefined,
      'b',
      'a',
    ]);
    const selector = compileRegex('(?P<a>x)', { anchored: true, dotMatchesNewline: true });
    expect(selector.groupNames).toEqual([undefined, 'a']);
  });
});

describe('replaceAll and count', () => {
  test.each<[string, string, string, string]>([
    ['a', 'banana', '<$0>', 'b<a>n<a>n<a>'],
    ['(a)(n)', 'banana', '$2$1', 'bnanaa'],
    ['(a)(n)', 'banana', '$1x$2', 'bnna'],
    ['(a)(n)', 'banana', '${1}x', 'baxaxa'],
    ['(?P<first>a)', 'ab', '${first}$first$$', 'aa$b'],
    ['(?P<n>a)|(?P<n>b)', 'ab', '[$n]', '[a][b]'],
    ['a', 'a', '$', '$'],
    ['a', 'a', '${', '${'],
    ['a', 'a', '$-1', '$-1'],
    ['(a)', 'a', '$01', ''],
    ['a', 'a', '$é.', '.'],
    ['a', 'a', '$9', ''],
    ['', 'ab', '-', '-a-b-'],
    ['a*', 'baac', '-', '-b-c-'],
    ['b*', '😀é', '-', '-😀-é-'],
    ['\\b', 'ab c', '|', '|ab| |c|'],
    ['^a', 'aaa', '', 'aa'],
    ['(?m)^', 'a\nb', '> ', '> a\n> b'],
  ])('%j in %j by %j', (pattern, text, template, want) => {
    expect(compileRegex(pattern).replaceAll(text, template)).toBe(want);
  });

  test('a literal replacement is not a template', () => {
    expect(compileRegex('(a)').replaceAll('aba', '$1', true)).toBe('$1b$1');
  });

  test.each<[string, string, number]>([
    ['a', 'banana', 3],
    ['ana', 'banana', 1],
    ['', 'ab', 3],
    ['', '😀', 2],
    ['a*', 'baac', 3],
    ['\\w+', 'one two', 2],
    ['x', '', 0],
    ['$', 'ab', 1],
    ['(?m)$', 'a\nb', 2],
  ])('count of %j in %j', (pattern, text, want) => {
    expect(compileRegex(pattern).count(text)).toBe(want);
  });
});

describe('known properties of a pattern', () => {
  test.each<[string, readonly string[] | undefined, string]>([
    ['prod|staging', ['prod', 'staging'], ''],
    ['prod-(eu|us)', ['prod-eu', 'prod-us'], 'prod-'],
    ['ba[rz]', ['bar', 'baz'], 'ba'],
    ['a|', ['a', ''], ''],
    ['', [''], ''],
    ['a?b{2}', ['bb', 'abb'], ''],
    ['(?i)ab', ['AB', 'Ab', 'aB', 'ab'], ''],
    ['a|a', ['a'], ''],
    ['api-.*', undefined, 'api-'],
    ['.*', undefined, ''],
    ['a\\b', undefined, 'a'],
    ['[^a]', undefined, ''],
    ['\\d{4}', undefined, ''],
  ])('%j: set matches and prefix', (pattern, set, prefix) => {
    const regex = compileRegex(pattern, { anchored: true, dotMatchesNewline: true });
    expect(regex.setMatches).toEqual(set);
    expect(regex.prefix).toBe(prefix);
    expect(compileRegex(pattern).setMatches).toBeUndefined();
  });

  test.each<[string, string | undefined, boolean]>([
    ['error', 'error', false],
    ['.*error.*timeout: x', 'timeout: x', false],
    ['(?i)error', 'error', true],
    ['(?i)task', 'ta', true],
    ['(?i)error 42', 'error 42', true],
    ['(?i)ab(?-i)xyz', 'xyz', false],
    ['(?i)abcd(?-i)xyz', 'abcd', true],
    ['a|b', undefined, false],
    ['(a|b)cd+e', 'cd', false],
    ['(?:ab){3}', 'ababab', false],
    ['(?:ab){3,}', 'ababab', false],
    ['(foo)?bar', 'bar', false],
    ['x(foo)*y', 'x', false],
    ['\ufffd', undefined, false],
    ['ab\ufffdcde', 'cde', false],
    ['^ab$', 'ab', false],
    ['\\d+', undefined, false],
    ['é€', 'é€', false],
  ])('required literal of %j', (pattern, text, foldCase) => {
    const got = requiredLiteral(pattern);
    expect(got === undefined ? undefined : got.bytes.toString()).toBe(text);
    if (got !== undefined) expect(got.foldCase).toBe(foldCase);
    expect(compileRegex(pattern).requiredLiteral).toEqual(got);
  });
});
