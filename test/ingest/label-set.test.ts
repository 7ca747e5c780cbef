import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { parseLabelSet } from '../../shared/write/ingest/label-set.ts';
import { holds, refusal } from './entries.ts';

describe('parseLabelSet', () => {
  // [text, canonical text]
  const rows: [string, string][] = [
    ['{}', '{}'],
    ['', '{}'],
    ['{a="b"}', '{a="b"}'],
    ['{b="2",a="1"}', '{a="1", b="2"}'],
    [' { a = "b" , c = "d" , } ', '{a="b", c="d"}'],
    ["{a='x\"y'}", '{a="x\\"y"}'],
    ['{a=`x\\n`}', '{a="x\\\\n"}'],
    ['{a="x\\ty\\"\\\\\\n\\a"}', '{a="x\\ty\\"\\\\\\n\\a"}'],
    ['{a="\\x41\\101\\u00e9\\U0001f680"}', '{a="AAé🚀"}'],
    ['{a="\\xc3\\xa9"}', '{a="é"}'],
    ['{a="", b="1"}', '{b="1"}'],
    ['{by="1", sum="2", _x1="3"}', '{_x1="3", by="1", sum="2"}'],
    ['{a="żółć 日本"}', '{a="żółć 日本"}'],
    ['{a="b" # a comment }\n, c="d"}', '{a="b", c="d"}'],
    ['up{a="b"}', '{__name__="up", a="b"}'],
    ['{"a.b"="c"}', '{a.b="c"}'],
    ['{"up", a="b"}', '{__name__="up", a="b"}'],
    // Validation, not the parser, refuses a name that comes twice.
    ['{a="2", a="1"}', '{a="2", a="1"}'],
  ];
  test.each(rows)('%s', (text, want) => {
    expect(formatLabels(parseLabelSet(text))).toBe(want);
  });

  // [text, message behind "couldn't parse labels: "]
  const bad: [string, string][] = [
    ['{a="', '1:4: parse error: unterminated quoted string'],
    ['{a="b', '1:4: parse error: unterminated quoted string'],
    ['{a="b\n"}', '1:4: parse error: unterminated quoted string'],
    ['{a=`b', '1:4: parse error: unterminated raw string'],
    ['{a="b\\', '1:4: parse error: escape sequence not terminated'],
    ['{a="\\q"}', "1:4: parse error: unknown escape sequence U+0071 'q'"],
    ['{a="\\x4g"}', "1:4: parse error: illegal character U+0067 'g' in escape sequence"],
    ['{a="\\x4', '1:4: parse error: escape sequence not terminated'],
    ['{a="\\400"}', '1:4: parse error: escape sequence is an invalid Unicode code point'],
    ['{a="\\ud800"}', '1:4: parse error: escape sequence is an invalid Unicode code point'],
    ['{', '1:2: parse error: unexpected end of input inside braces'],
    ['{a', '1:3: parse error: unexpected end of input inside braces'],
    ['{a="b"', '1:7: parse error: unexpected end of input inside braces'],
    ['{a}', '1:3: parse error: unexpected "}" in label set, expected "="'],
    ['{a=}', '1:4: parse error: unexpected "}" in label set, expected string'],
    ['{a=b}', '1:4: parse error: unexpected identifier "b" in label set, expected string'],
    ['{a=~"b"}', '1:3: parse error: unexpected "=~" in label set, expected "="'],
    ['{a!="b"}', '1:3: parse error: unexpected "!=" in label set, expected "="'],
    ['{a!b}', "1:3: parse error: unexpected character after '!' inside braces: 'b'"],
    ['{="b"}', '1:2: parse error: unexpected "=" in label set, expected identifier or "}"'],
    ['{,}', '1:2: parse error: unexpected "," in label set, expected identifier or "}"'],
    ['{a="b",,}', '1:8: parse error: unexpected "," in label set, expected identifier or "}"'],
    ['{a="b" c="d"}', '1:8: parse error: unexpected identifier "c" in label set, expected "," or "}"'],
    ['{a-b="c"}', "1:3: parse error: unexpected character inside braces: '-'"],
    ['{1a="c"}', "1:2: parse error: unexpected character inside braces: '1'"],
    ['{a="b"} x', "1:9: parse error: unexpected character: 'x'"],
    ['{é="c"}', "1:2: parse error: unexpected character inside braces: 'é'"],
    ['{a="é", b-c="d"}', "1:11: parse error: unexpected character inside braces: '-'"],
    ['{a="b",\nc-d="e"}', "2:2: parse error: unexpected character inside braces: '-'"],
    ['{{', "1:2: parse error: unexpected left brace '{'"],
  ];
  test.each(bad)('refuses %s', (text, message) => {
    expect(refusal(() => parseLabelSet(text))).toEqual([400, `couldn't parse labels: ${message}`]);
  });

  test('parses every canonical text back', () => {
    const name = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,8}$/);
    const value = fc.string({ minLength: 1, maxLength: 20, unit: 'binary' });
    fc.assert(
      fc.property(fc.dictionary(name, value, { maxKeys: 6 }), pairs => {
        const labels = labelsOf(pairs);
        expect(parseLabelSet(formatLabels(labels))).toEqual(labels);
      }),
    );
  });

  test('fails on random text only with a client error', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      'a',
      '=',
      '"',
      '\\',
      "'",
      '`',
      ',',
      ' ',
      '\n',
      'é',
      '!',
      '~',
      'x',
      '0',
      '#',
    );
    const text = fc.array(piece, { maxLength: 20 }).map(pieces => pieces.join(''));
    fc.assert(
      fc.property(text, written => holds(() => parseLabelSet(written))),
      { numRuns: 3000 },
    );
  });

  test('does not overflow the stack on texts of many megabytes', () => {
    const n = 8_000_000;
    for (const part of [' ', '#', '\n', ' #\n']) {
      const text = `{${part.repeat(n / part.length)}\n}`;
      expect(parseLabelSet(text)).toEqual([]);
    }
    expect(parseLabelSet(`{${'a'.repeat(n)}="${'b'.repeat(n)}"}`)[0].value).toHaveLength(n);
  });

  test('bounds the number of labels', () => {
    const [status, message] = refusal(() => parseLabelSet(`{${'a="b",'.repeat(10_002)}}`));
    expect([status, message]).toEqual([400, "couldn't parse labels: more than 10000 labels"]);
  });
});
