import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ParseError } from '../../shared/language/logql/errors.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { prettyPrint } from '../../shared/language/logql/pretty.ts';
import { formatExpr } from '../../shared/language/logql/printer.ts';
import { trees } from './trees.ts';

/** Parses and prints; anything thrown but a ParseError fails. What parses must print and read back. */
function survives(text: string): void {
  let tree: ReturnType<typeof parseQuery>;
  try {
    tree = parseQuery(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ParseError);
    expect((error as ParseError).status).toBe(400);
    return;
  }
  expect(parseQuery(formatExpr(tree))).toEqual(tree);
  expect(parseQuery(prettyPrint(tree))).toEqual(tree);
}

const WORDS = (
  '{ } ( ) [5m] [5 [ ] , . = != =~ !~ !> |= |~ |> | == > >= < <= + - * / % ^ # // /* */ "a" "( ` \' \\ 5m 1KB 0B 08 1e9 ' +
  '-5m --strict --keep-empty a rate sum by without bool on ignoring group_left or and unless json logfmt regexp pattern ' +
  'unpack unwrap bytes offset ip vector label_replace topk quantile_over_time decolorize drop keep line_format ' +
  '{a="b"} count_over_time({a="b"}[1m]) \n \t \0 é \ufeff \ud800'
).split(' ');

describe('no text does more than be refused', () => {
  test('random text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 60 }), survives), { numRuns: 1000 });
  });

  test('random words of the language', () => {
    const words = fc.array(fc.constantFrom(...WORDS), { maxLength: 25 });
    fc.assert(
      fc.property(words, fc.constantFrom(' ', ''), (list, gap) => survives(list.join(gap))),
      { numRuns: 800 },
    );
  });

  test('queries with a part removed or inserted', () => {
    fc.assert(
      fc.property(
        trees,
        fc.nat(),
        fc.nat(10),
        fc.constantFrom('', ...WORDS),
        (tree, offset, length, word) => {
          const text = formatExpr(tree);
          const at = offset % (text.length + 1);
          survives(text.slice(0, at) + word + text.slice(at + length));
        },
      ),
      { numRuns: 800 },
    );
  });
});

describe('long and deep queries are read or refused, and never overflow the stack', () => {
  const series = 'count_over_time({a="b"}[1m])';
  const tooDeep = /^parse error.*: query is nested too deeply$/;

  /** `unit` as often as fits in 131,000 characters around `start` and `end`. */
  function filled(start: string, unit: string, end = ''): string {
    return start + unit.repeat(Math.floor((131_000 - start.length - end.length) / unit.length)) + end;
  }

  test.each([
    ['open parentheses', '('.repeat(131_000)],
    ['pairs of parentheses', `${'('.repeat(65_000)}1${')'.repeat(65_000)}`],
    ['aggregations', filled('', 'sum(')],
    ['sums of vectors', filled('vector(1)', '+vector(1)')],
    ['powers of vectors', filled('vector(1)', '^vector(1)')],
    ['label filters with and', filled('{a="b"} | a=1', ' and a=1')],
    ['label filters with nothing between', filled('{a="b"} | a=1', ' a=1')],
    ['or operands', filled('{a="b"} |= "a"', ' or "a"')],
  ])('refused: %s', (_name, text) => {
    expect(() => parseQuery(text)).toThrow(tooDeep);
  });

  test.each([
    ['literals', filled('1', '+1')],
    ['stages', filled('{a="b"}', '|json')],
    ['line filters', filled('{a="b"}', '|="a"')],
    ['matchers', filled('{a="b"', ',a="b"', '}')],
    ['one string', `{a="${'x'.repeat(130_000)}"}`],
    ['escapes', filled('{a="', '\\xff', '"}')],
    ['comments', filled(series, '/**/')],
    ['groupings', filled('sum by (a', ',a', `)(${series})`)],
    ['900 parentheses', `${'('.repeat(900)}${series}${')'.repeat(900)}`],
    ['900 aggregations', `${'sum('.repeat(900)}${series}${')'.repeat(900)}`],
    ['900 sums', `${series}${` + ${series}`.repeat(900)}`],
    ['900 label filters', `{a="b"} | a=1${' and a=1'.repeat(900)}`],
    ['900 label_replace', `${'label_replace('.repeat(900)}${series}${',"a","b","c","d")'.repeat(900)}`],
  ])('read and printed: %s', (_name, text) => {
    const tree = parseQuery(text);
    expect(formatExpr(tree).length).toBeGreaterThan(0);
    expect(prettyPrint(tree).length).toBeGreaterThan(0);
  });

  test('the size limit counts bytes of UTF-8', () => {
    const at = (bytes: number) => `{a="${'é'.repeat((bytes - 7) / 2)}"} `;
    expect(Buffer.byteLength(at(131_071))).toBe(131_071);
    expect(parseQuery(at(131_071)).kind).toBe('log');
    expect(() => parseQuery(at(131_073))).toThrow('parse error : input size too long (131073 > 131072)');
    expect(() => parseQuery('x'.repeat(131_072))).toThrow('input size too long (131072 > 131072)');
  });
});
