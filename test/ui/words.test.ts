import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { formatExpr } from '../../shared/language/logql/printer.ts';
import { explainMistake } from '../../ui/src/logql/explain-mistake.ts';
import { isLogql } from '../../ui/src/logql/grammar.ts';
import { highlightsOf, matchesIn } from '../../ui/src/logql/highlights.ts';
import { nearestWord } from '../../ui/src/logql/nearest-word.ts';
import { alternativesOf, MAX_TERMS, readQuery } from '../../ui/src/logql/words.ts';
import { trees } from '../logql/trees.ts';

const SCOPE = '{service_name=~"a|b"}';

describe('a query in plain words', () => {
  test.each([
    ['connection refused', '|~ "(?i)connection" |~ "(?i)refused"'],
    ['"user 42" -health', '|= "user 42" !~ "(?i)health"'],
    ['-"GET /health"', '!= "GET /health"'],
    ['10.2.0.1', '|= "10.2.0.1"'],
    ['a.b(c)', '|~ `(?i)a\\.b\\(c\\)`'],
    ['timeout OR refused OR 502', '|~ "(?i:timeout)|(?i:refused)|502"'],
    ['timeout OR refused', '|~ "(?i)timeout|refused"'],
    ['"A" OR 502', '|= "A" or "502"'],
    ['a OR -b', '|~ "(?i)a" !~ "(?i)b"'],
    ['-a OR b', '!~ "(?i)a" |~ "(?i)b"'],
    ['OR', '|~ "(?i)OR"'],
    ['error - timeout --', '|~ "(?i)error" |~ "(?i)timeout"'],
    ['msg="user 42"', '|~ "(?i)msg=\\"user 42\\""'],
    ['"open end', '|= "open end"'],
    ['"say \\"hi\\""', '|= "say \\"hi\\""'],
    ['`raw " text`', '|= "raw \\" text"'],
    ["it's", '|~ "(?i)it\'s"'],
    ['rate limit', '|~ "(?i)rate" |~ "(?i)limit"'],
    ['error {', '|~ "(?i)error" |= "{"'],
    ['count', '|~ "(?i)count"'],
    ['C:\\temp', '|~ `(?i)C:\\\\temp`'],
    ['http://a?b=1', '|~ `(?i)http://a\\?b=1`'],
    ['#1234', '|= "#1234"'],
    ['""', ''],
  ])('%s', (text, filters) => {
    expect(readQuery(text, SCOPE)).toEqual({ kind: 'words', logql: `${SCOPE} ${filters}`.trimEnd() });
  });

  test.each([
    '',
    '  ',
    '{app="x"}',
    '{app="x"} | jsno',
    '{',
    '({app="x"} |= "a"',
    '| json',
    '|= "text"',
    '1 + 1',
    '502',
    '-5',
    'vector(1)',
    'sum(rate({app="x"}[5m]))',
    'sum by (app) (rate({app="x"}[$__auto])) / 2',
    'summ(rate({app="x"}[5m]))',
    'rate(',
    '# a comment\n{app="x"}',
    '{app="\\xff\\377"} |= "\\\\xff"',
  ])('%j is LogQL, whole or not', text => {
    expect(readQuery(text, SCOPE)).toEqual({ kind: 'logql', logql: text });
  });

  test('is LogQL for any text, and contains each of its words', () => {
    const unit = fc.oneof(
      fc.constantFrom(...' \t"`\\-{}()|=.*[]#/\u0000', ' OR ', 'rate', 'ab', '5'),
      fc.string({ unit: 'grapheme', maxLength: 2 }),
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), units => {
        const text = units.join('');
        const { kind, logql } = readQuery(text, SCOPE);
        if (kind === 'logql') return;
        expect(() => parseQuery(logql)).not.toThrow();
        expect(isLogql(logql)).toBe(true);
        for (const { text: word } of alternativesOf(text).flat())
          expect(text.toWellFormed()).toContain(unescaped(word, text));
      }),
      { numRuns: 300 },
    );
  });

  test('finds its own words in a line, in any case, and marks them', () => {
    const word = fc.string({ unit: fc.constantFrom(...'aB.*+?(){}[]|^$/:_é'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(word, found => {
        fc.pre(!isLogql(found));
        const { kind, logql } = readQuery(`zz ${found}`, SCOPE);
        expect(kind).toBe('words');
        const line = `x ${found.toUpperCase()} zz`;
        const marks = matchesIn(line, highlightsOf(logql));
        const shown = marks.flatMap((from, i) => (i % 2 === 0 ? [line.slice(from, marks[i + 1])] : []));
        expect(shown).toContain(found.toUpperCase());
      }),
      { numRuns: 200 },
    );
  });

  test('is never made of a text that the store takes as LogQL', () => {
    fc.assert(
      fc.property(trees, tree => {
        const text = formatExpr(tree);
        expect(readQuery(text, SCOPE)).toEqual({ kind: 'logql', logql: text });
      }),
      { numRuns: 300 },
    );
  });

  test('has a limited number of words', () => {
    expect(alternativesOf('ab '.repeat(100)).flat()).toHaveLength(MAX_TERMS);
    expect(alternativesOf('ab OR '.repeat(100)).flat()).toHaveLength(MAX_TERMS);
  });
});

/** A text in quotes has its escapes taken away. */
function unescaped(word: string, text: string): string {
  return text.toWellFormed().includes(word) ? word : word.replace(/["\\]/g, '\\$&');
}

describe('a mistake is explained, with a query that the store takes', () => {
  test.each([
    ['{a="b"} | jsno', '“jsno” is not a stage. Did you mean “json”?', '{a="b"} | json'],
    ['{a="b"} | logfm | x="y"', '“logfm” is not a stage. Did you mean “logfmt”?', '{a="b"} | logfmt | x="y"'],
    ['summ(rate({a="b"}[5m]))', '“summ” is not a function. Did you mean “sum”?', 'sum(rate({a="b"}[5m]))'],
    [
      'rate({a="b"})',
      'rate needs a range such as [5m]. [$__auto] adapts to the chart.',
      'rate({a="b"}[$__auto])',
    ],
    ['{a=b-c, d="e"}', 'The value of a matcher is written in quotes: "b-c".', '{a="b-c", d="e"}'],
    [
      '{a=="b"}',
      'A selector compares with = (equal), != (not equal), =~ or !~ (regular expression).',
      '{a="b"}',
    ],
    [
      '{a="b" and c="d"}',
      'Matchers of a selector are separated by commas, and all of them apply.',
      '{a="b", c="d"}',
    ],
    ["{a='b'}", 'LogQL strings use double quotes or backquotes, not single quotes.', '{a="b"}'],
    ['{a="b', 'The text that starts with “"b” has no closing ".', '{a="b"}'],
    ['{a="b"', 'A bracket is not closed: } is missing.', '{a="b"}'],
    ['sum(rate({a="b"}[5m]', 'Brackets are not closed: )) is missing.', 'sum(rate({a="b"}[5m]))'],
    [
      '{}',
      'A selector needs at least one matcher that does not match the empty text.',
      '{service_name=~".+"}',
    ],
    [
      '| json',
      'A query starts with a selector, which names the streams to read.',
      '{service_name=~".+"} | json',
    ],
    [
      '{a="b"} "text"',
      'A text after a selector needs a line filter before it, such as |= for lines that contain it.',
      '{a="b"} |= "text"',
    ],
    ['{a="b"} time out', 'To search for a text, write it in quotes after |=.', '{a="b"} |= "time out"'],
    [
      'rate({a="b"}[5min])',
      '“[5min]” is not a duration. Units are ms, s, m, h, d, w, and y, without spaces.',
      'rate({a="b"}[5m])',
    ],
    [
      'sum by a (rate({a="b"}[5m]))',
      'Labels after by are written in parentheses: (a).',
      'sum by (a) (rate({a="b"}[5m]))',
    ],
    ['{a="b"} | x == "y"', 'Text is compared with =, and numbers with ==.', '{a="b"} | x = "y"'],
  ])('%s', (query, sentence, meant) => {
    expect(explainMistake(query)).toEqual({ sentence, query: meant });
  });

  test('explains a mistake without a guess if there is none', () => {
    expect(explainMistake('{a="b"} | frobnicate')?.sentence).toMatch(
      /^“frobnicate” is not a stage. Stages are json, /,
    );
    expect(explainMistake('{a="b"} | frobnicate')?.query).toBeUndefined();
    expect(explainMistake('{a="b"} |= "c"')).toBeUndefined();
  });

  test('any text: a query is offered only if the store takes it', () => {
    const unit = fc.constantFrom(
      ...'{}()[]|="\'`,',
      'a',
      'json',
      'jsno',
      'rate',
      'sum',
      ' by ',
      '5',
      'm',
      ' ',
      '=~',
      '"b"',
    );
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 14 }), units => {
        const query = units.join('');
        const meant = explainMistake(query)?.query;
        if (meant === undefined) return;
        expect(meant).not.toBe(query);
        expect(isLogql(meant)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});

test.each([
  ['jsno', 'json'],
  ['JSON', 'json'],
  ['lgfmt', 'logfmt'],
  ['xx', undefined],
  ['frobnicate', undefined],
])('the word nearest to %s is %s', (word, nearest) => {
  expect(nearestWord(word, ['json', 'logfmt', 'unwrap'])).toBe(nearest);
});
