import { describe, expect, test } from '@jest/globals';
import { createLexer } from '../../shared/language/logql/lexer.ts';
import { TOKENS } from '../../shared/language/logql/token-names.ts';

/** Tokens as `NAME` or `NAME:value`, operators by their text. */
function tokens(text: string): string {
  const lexer = createLexer(text);
  const out: string[] = [];
  for (lexer.next(); lexer.token !== 0; lexer.next()) {
    const name = TOKENS[lexer.token];
    const plain = ['IDENTIFIER', 'STRING', 'NUMBER', 'DURATION', 'BYTES', 'RANGE'].includes(name);
    out.push(plain ? `${name}:${lexer.value}` : name);
  }
  return out.join(' ');
}

describe('tokens', () => {
  test.each([
    ['', ''],
    [' \t\r\n', ''],
    ['\ufeff1', 'NUMBER:1'],
    ['a _b 日本2', 'IDENTIFIER:a IDENTIFIER:_b IDENTIFIER:日本2'],
    ['a.b-c', 'IDENTIFIER:a DOT IDENTIFIER:b SUB IDENTIFIER:c'],
    ["'a' & @ ! ²", "IDENTIFIER:'a' IDENTIFIER:& IDENTIFIER:@ IDENTIFIER:! IDENTIFIER:²"],
    ['a # b\nc // d\ne /* f\n */ g', 'IDENTIFIER:a IDENTIFIER:c IDENTIFIER:e IDENTIFIER:g'],
    ['{}()[1m],.', 'OPEN_BRACE CLOSE_BRACE OPEN_PARENTHESIS CLOSE_PARENTHESIS RANGE:60000000000 COMMA DOT'],
    ['= == =~ != !~ !>', 'EQ CMP_EQ RE NEQ NRE NPA'],
    ['| |= |~ |>', 'PIPE PIPE_EXACT PIPE_MATCH PIPE_PATTERN'],
    ['> >= < <= + - * / % ^', 'GT GTE LT LTE ADD SUB MUL DIV MOD POW'],
    ['|==', 'PIPE_EXACT EQ'],
    ['"a\\tb" `a\\tb`', 'STRING:a\tb STRING:a\\tb'],
    // Numbers, durations and sizes (docs/dev/logql-semantics.md#numbers-and-durations).
    [
      '1 1.5 .5 5. 1e3 1E-3 1_000 010 0x1F 0x1p4',
      'NUMBER:1 NUMBER:1.5 NUMBER:.5 NUMBER:5. NUMBER:1e3 NUMBER:1E-3 NUMBER:1_000 NUMBER:010 NUMBER:0x1F NUMBER:0x1p4',
    ],
    ['1..2', 'NUMBER:1. NUMBER:.2'],
    [
      '5m 1h30m 1d 1.5h 1h1.5s 100µs',
      'DURATION:300000000000 DURATION:5400000000000 DURATION:86400000000000 DURATION:5400000000000 DURATION:3601500000000 DURATION:100000',
    ],
    ['1.5d', 'NUMBER:1.5 IDENTIFIER:d'],
    ['1s2', 'NUMBER:1 IDENTIFIER:s2'],
    [
      '-90m -1h30m -1d -5',
      'DURATION:-5400000000000 DURATION:-5400000000000 SUB DURATION:86400000000000 SUB NUMBER:5',
    ],
    ['-0 -0.0', 'DURATION:0 SUB NUMBER:0.0'],
    [
      '1B 1K 1k 1KB 1kB 1KiB 1kiB 1MB 1.5GiB 1PB',
      'BYTES:1 BYTES:1000 BYTES:1000 BYTES:1000 BYTES:1000 BYTES:1024 BYTES:1024 BYTES:1000000 BYTES:1610612736 BYTES:1000000000000000',
    ],
    [
      '1m 1mb 1Mb 20 MB 1z',
      'DURATION:60000000000 DURATION:60000000000 IDENTIFIER:b BYTES:1000000 IDENTIFIER:b NUMBER:20 IDENTIFIER:MB NUMBER:1 IDENTIFIER:z',
    ],
    ['[5m] [0] [1h30m]', 'RANGE:300000000000 RANGE:0 RANGE:5400000000000'],
    // Words (docs/dev/logql-semantics.md#keywords).
    ['BY Without json', 'BY WITHOUT JSON'],
    ['rate rate( rate (', 'IDENTIFIER:rate RATE OPEN_PARENTHESIS RATE OPEN_PARENTHESIS'],
    ['sum by (a)', 'SUM BY OPEN_PARENTHESIS IDENTIFIER:a CLOSE_PARENTHESIS'],
    ['SUM Without(', 'SUM WITHOUT OPEN_PARENTHESIS'],
    ['sum by a', 'IDENTIFIER:sum BY IDENTIFIER:a'],
    [
      'ip ip( label_replace label_replace(',
      'IDENTIFIER:ip IP OPEN_PARENTHESIS IDENTIFIER:label_replace LABEL_REPLACE OPEN_PARENTHESIS',
    ],
    [
      'bytes > 5 duration( duration_seconds (',
      'IDENTIFIER:bytes GT NUMBER:5 DURATION_CONV OPEN_PARENTHESIS DURATION_SECONDS_CONV OPEN_PARENTHESIS',
    ],
    [
      '--strict --keep-empty --strictly --x',
      'FUNCTION_FLAG FUNCTION_FLAG SUB SUB IDENTIFIER:strictly SUB SUB IDENTIFIER:x',
    ],
    ['Inf NaN', 'IDENTIFIER:Inf IDENTIFIER:NaN'],
  ])('%j', (text, want) => {
    expect(tokens(text)).toBe(want);
  });
});

describe('errors name the start of the token', () => {
  test.each([
    ['a "b', 'at line 1, col 3: literal not terminated'],
    ['"a\nb"', 'at line 1, col 1: literal not terminated'],
    ['`a', 'at line 1, col 1: literal not terminated'],
    ['"\\q"', 'at line 1, col 1: invalid char escape'],
    ['"\\x4"', 'at line 1, col 1: invalid char escape'],
    ['"\\\'"', 'at line 1, col 1: invalid char escape'],
    ['"\\400"', 'at line 1, col 1: invalid syntax'],
    ['"\\ud800"', 'at line 1, col 1: invalid syntax'],
    ["'ab'", 'at line 1, col 1: invalid char literal'],
    ['a\n /* b', 'at line 2, col 2: comment not terminated'],
    ['é\u{1f600} 08', "at line 1, col 4: invalid digit '8' in octal literal"],
    ['1e', 'at line 1, col 1: exponent has no digits'],
    ['1EB', 'at line 1, col 1: exponent has no digits'],
    ['0B ', 'at line 1, col 1: decimal literal has no digits'],
    ['0x', 'at line 1, col 1: hexadecimal literal has no digits'],
    ['0b12', "at line 1, col 1: invalid digit '2' in binary literal"],
    ['0o1.5', 'at line 1, col 1: invalid radix point in octal literal'],
    ['0x1.5', "at line 1, col 1: hexadecimal mantissa requires a 'p' exponent"],
    ['1__0', "at line 1, col 1: '_' must separate successive digits"],
    ['1_', "at line 1, col 1: '_' must separate successive digits"],
    ['[5m', "at line 1, col 1: missing closing ']' in duration"],
    ['[]', 'at line 1, col 1: empty duration string'],
    ['[5]', 'at line 1, col 1: not a valid duration string: "5"'],
    ['[-5m]', 'at line 1, col 1: not a valid duration string: "-5m"'],
    ['[1m1h]', 'at line 1, col 1: not a valid duration string: "1m1h"'],
    ['[0.5h]', 'at line 1, col 1: unknown unit "." in duration "0.5h"'],
    ['[5minutes]', 'at line 1, col 1: unknown unit "minutes" in duration "5minutes"'],
    ['[1000000y]', 'at line 1, col 1: duration out of range'],
    ['a b\0', 'at line 1, col 3: invalid character NUL'],
    ['"\0"', 'at line 1, col 1: invalid character NUL'],
    ['a "\ud800"', 'at line 1, col 3: invalid UTF-8 encoding'],
  ])('%j', (text, want) => {
    expect(() => tokens(text)).toThrow(new Error(`parse error ${want}`));
  });
});
