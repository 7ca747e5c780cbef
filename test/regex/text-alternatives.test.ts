import { describe, expect, test } from '@jest/globals';
import { type LineAlternative, lineAlternatives } from '../../shared/language/regex/text-alternatives.ts';

const pattern = (text: string): LineAlternative => ({ pattern: text });
const text = (bytes: string): LineAlternative => ({ text: bytes });

describe('alternatives of a line filter', () => {
  test.each<[string, LineAlternative[]]>([
    ['', []],
    ['.*', []],
    ['|()', []],
    ['error', [pattern('error')]],
    ['error|warn', [pattern('error|warn')]],
    ['error|', [pattern('error')]],
    ['a.b|(c|)|(?i)dd', [pattern('a.b|(c|)|(?i)dd')]],
    ['a\\.b|\\||', [pattern('a\\.b|\\|')]],
    ['(?i)error|warn|', [pattern('(?i:ERROR|WARN)')]],
    ['(?i:error)|warn|', [pattern('(?i:ERROR)|warn')]],
    ['foo(aa|bb|).*|', [pattern('foo(?:aa|bb|(?:)).*')]],
    ['foo.*(aa|bb)|', [pattern('foo.*(?:aa|bb)')]],
    ['.+', [pattern('(?s:.+)')]],
    ['xx|.+|', [pattern('xx|(?s:.+)')]],
    ['\\x{FFFD}', [text('\ufffd')]],
    ['(?i).*\\x{FFFD}1', [text('\ufffd1')]],
    ['\\x{FFFD}|xx|', [text('\ufffd'), pattern('xx')]],
    ['^\\x{FFFD}', [pattern('^\\x{FFFD}')]],
    ['\\x{FFFD}|[ab]', [pattern('\\x{FFFD}|[ab]')]],
  ])('%s', (given, want) => {
    expect(lineAlternatives(given)).toEqual(want);
  });

  test('an invalid expression is refused with the words of Go', () => {
    expect(() => lineAlternatives('(')).toThrow('error parsing regexp: missing closing ): `(`');
  });

  test('an expression of the longest length keeps within it', () => {
    const names = Array.from({ length: 3_200 }, (_, i) => `${i}-pod-ABC`.slice(0, 9)).join('|');
    const [alternative] = lineAlternatives(`(?i)${names}|`);
    expect((alternative as { pattern: string }).pattern.length).toBeLessThan(32_768);
  });
});
