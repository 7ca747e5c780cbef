import { describe, expect, test } from '@jest/globals';
import { messageOf } from '../../shared/base/model/errors.ts';
import {
  MAX_PATTERN_LENGTH,
  MAX_REPEATED_PARTS,
  validateRegex,
} from '../../shared/language/regex/validate.ts';

function refusalOf(pattern: string): string | undefined {
  try {
    validateRegex(pattern);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

describe('validateRegex', () => {
  test.each([
    '',
    'a|b|',
    '(|a)*',
    '^*',
    '\\b+',
    'x{2}{',
    'a{,3}',
    'a{-1}',
    'a{01}',
    'a{0,0}',
    'a{1000}',
    'a{2,}',
    '(?i)(?-i)a',
    'a(?i)*',
    'a\\Q\\E*',
    '\\Qunclosed (',
    '\\Q\\E',
    '(?P<n>a)(?P<n>b)',
    '(?<first_1>a)',
    '[]a]',
    '[^]a]',
    '[a-z-9]',
    '[--a]',
    '[\\d-a]',
    '[[.a.]]',
    '[[:word:]\\pN]',
    '\\pN\\p{^Greek}\\P{Lu}',
    '(?s-i:a)(?U)a+?',
    '\\x{10FFFF}\\x41\\101\\0',
    '\\a\\f\\t\\n\\r\\v\\-\\"',
    '\\A\\z\\b\\B',
    '((a{100}){10}){1}',
    '{',
    '}',
    ']',
  ])('accepts %j', pattern => {
    expect(() => validateRegex(pattern)).not.toThrow();
  });

  test.each([
    ['[', 'missing closing ]: `[`'],
    ['x[a', 'missing closing ]: `[a`'],
    ['[^]', 'missing closing ]: `[^]`'],
    ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
    ['(?!a)', 'invalid or unsupported Perl syntax: `(?!`'],
    ['(?>a)', 'invalid or unsupported Perl syntax: `(?>`'],
    ['(?P=n)', 'invalid or unsupported Perl syntax: `(?P`'],
    ['(?z)', 'invalid or unsupported Perl syntax: `(?z`'],
    ['(?i-)', 'invalid or unsupported Perl syntax: `(?i-)`'],
    ['(?i', 'invalid or unsupported Perl syntax: `(?i`'],
    ['(?<=a)', 'invalid named capture: `(?<=a)`'],
    ['(?P<1-a>b)', 'invalid named capture: `(?P<1-a>`'],
    ['(?P<>a)', 'invalid named capture: `(?P<>`'],
    ['(?P<n', 'invalid named capture: `(?P<n`'],
    ['*', 'missing argument to repetition operator: `*`'],
    ['a|+', 'missing argument to repetition operator: `+`'],
    ['(?i)*', 'missing argument to repetition operator: `*`'],
    ['a**', 'invalid nested repetition operator: `**`'],
    ['a++', 'invalid nested repetition operator: `++`'],
    ['a{1,2}{3}', 'invalid nested repetition operator: `{1,2}{3}`'],
    ['a{1001}', 'invalid repeat count: `{1001}`'],
    ['a{2,1}', 'invalid repeat count: `{2,1}`'],
    ['a{99999999999}', 'invalid repeat count: `{99999999999}`'],
    ['(a{1000}){2}', 'invalid repeat count: `{2}`'],
    ['(a{1000}){1000}', 'invalid repeat count: `{1000}`'],
    ['(a', 'missing closing ): `(a`'],
    ['a)', 'unexpected ): `a)`'],
    ['a\\', 'trailing backslash at end of expression: ``'],
    ['\\1', 'invalid escape sequence: `\\1`'],
    ['\\8', 'invalid escape sequence: `\\8`'],
    ['\\Z', 'invalid escape sequence: `\\Z`'],
    ['\\C', 'invalid escape sequence: `\\C`'],
    ['\\u0041', 'invalid escape sequence: `\\u`'],
    ['\\é', 'invalid escape sequence: `\\é`'],
    ['\\xg', 'invalid escape sequence: `\\xg`'],
    ['[b-a]', 'invalid character class range: `b-a`'],
    ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
    ['\\p{Foo}', 'invalid character class range: `\\p{Foo}`'],
    ['[a-\\d]', 'invalid escape sequence: `\\d`'],
  ])('refuses %j with Go’s words', (pattern, message) => {
    expect(refusalOf(pattern)).toBe(`error parsing regexp: ${message}`);
  });

  test('refuses patterns that nest too deeply, and quotes them completely', () => {
    const pattern = '('.repeat(1001) + ')'.repeat(1001);
    expect(refusalOf(pattern)).toBe(`error parsing regexp: expression nests too deeply: \`${pattern}\``);
  });

  test('refuses patterns over its own limits with figures', () => {
    expect(() => validateRegex('a'.repeat(MAX_PATTERN_LENGTH))).not.toThrow();
    expect(() => validateRegex('a'.repeat(MAX_PATTERN_LENGTH + 1))).toThrow(
      `error parsing regexp: expression too large: ${MAX_PATTERN_LENGTH + 1} characters, the limit is ${MAX_PATTERN_LENGTH}`,
    );
    expect(() => validateRegex('a{900}b{900}')).toThrow(
      `error parsing regexp: expression too large: counted repetitions make 1798 parts, the limit is ${MAX_REPEATED_PARTS}`,
    );
    expect(() => validateRegex('a{1000}'.repeat(4_000))).toThrow('expression too large');
    expect(() => validateRegex('(?:(?:a{10}b){10}){10}')).toThrow('expression too large');
  });

  test('survives hostile nesting', () => {
    for (const pattern of [
      '('.repeat(30_000),
      '(?:'.repeat(9_000) + ')'.repeat(9_000),
      `a${'(?i)*'.repeat(6_000)}`,
    ]) {
      expect(() => validateRegex(pattern)).toThrow('error parsing regexp: ');
    }
  });
});
