/** Pruning predicates of regular expressions and pipelines: a page with a matching line is never pruned. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { labelsPredicate, linePredicate } from '../../shared/execution/text-index/line-predicate.ts';
import {
  ANYTHING,
  allOf,
  countNeedles,
  NOTHING,
  type PruningPredicate,
} from '../../shared/execution/text-index/pruning-predicate.ts';
import { regexPredicate } from '../../shared/execution/text-index/regex-literals.ts';
import { parseLogQuery } from '../../shared/language/logql/parse.ts';
import { compileRegex } from '../../shared/language/regex/regex.ts';
import { passes } from '../pipeline/support.ts';
import { patterns, texts } from '../regex/patterns.ts';
import { ask, buildSection, cut, cutFrom, pages, piece } from './support.ts';

const quoteRegex = (text: string) => text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');

/** Expressions made of parts of lines, so that they match sometimes. */
const expression: fc.Arbitrary<string> = fc.letrec<{ node: string }>(tie => ({
  node: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    piece.map(quoteRegex),
    fc.constantFrom('.*', '.', '\\d+', '\\w+', '[^ ]', '^', '$', '\\b', '[ab]', '[kK]', '[sx]', '\\s*', ''),
    fc.array(tie('node'), { minLength: 2, maxLength: 4 }).map(nodes => nodes.join('')),
    fc.array(tie('node'), { minLength: 2, maxLength: 3 }).map(nodes => `(?:${nodes.join('|')})`),
    fc
      .tuple(tie('node'), fc.constantFrom('?', '*', '+', '{2}', '{1,3}', '+?'))
      .map(([node, count]) => `(?:${node})${count}`),
    tie('node').map(node => `(${node})`),
    tie('node').map(node => `(?i:${node})`),
  ),
})).node;

const flags = fc.constantFrom('', '(?i)', '(?s)', '(?im)');

/** The pages that the expression matches some line of are kept. */
function expectKept(pattern: string, lines: readonly Buffer[][]): void {
  const regex = compileRegex(pattern);
  const kept = ask(buildSection(lines), lines.length, regexPredicate(pattern));
  for (const [page, rows] of lines.entries()) {
    if (rows.some(row => regex.testBytes(row, 0, row.length))) expect(kept[page]).toBe(true);
  }
}

const ANY = 'anything';
/** The shape of a tree: needles as the number of their terms. */
function shapeOf(requirement: PruningPredicate): unknown {
  switch (requirement.kind) {
    case 'anything':
      return ANY;
    case 'nothing':
    case 'pages':
      return requirement.kind;
    case 'needle':
      if (requirement.since > 1) return 'value';
      return requirement.terms.length > 0 ? 'needle' : 'run';
    default:
      return { [requirement.kind]: requirement.of.map(shapeOf) };
  }
}

describe('regular expressions', () => {
  test('random expressions prune no matching line', () => {
    fc.assert(
      fc.property(flags, expression, pages, (flag, pattern, lines) => expectKept(flag + pattern, lines)),
      { numRuns: 400 },
    );
  });

  test('ones around a needle cut from a line, folded and changed in case', () => {
    const around = fc.constantFrom('', '.*', '\\w*', 'x?', '(?:zebra|)', '[^z]*');
    fc.assert(
      fc.property(pages, cut, around, around, fc.boolean(), (lines, where, before, after, swap) => {
        const text = cutFrom(lines, where).toString();
        const needle = swap ? text.toUpperCase() : text;
        expectKept(`(?i)${before}${quoteRegex(needle)}${after}`, lines);
        expectKept(`${before}(?:${quoteRegex(needle)}|absent)${after}`, lines);
      }),
      { numRuns: 250 },
    );
  });

  test('prunes no match of the whole dialect, on lines that repeat a matching text', () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { maxLength: 4 }), (pattern, lines) => {
        expectKept(pattern, [lines.map(text => Buffer.from(text)), []]);
      }),
      { numRuns: 300 },
    );
  });

  // KELVIN SIGN and LATIN SMALL LETTER LONG S fold to k and s.
  test.each([
    ['(?i)kelvin', '\u212aelvin'],
    ['(?i)session', '\u017fe\u017f\u017fion'],
    ['(?i)task', 'TA\u017f\u212a'],
    ['[k\u212a]elvins', '\u212aelvins'],
    ['ab\ufffdcdefgh', Buffer.from([0x61, 0x62, 0xff, 0x63, 0x64, 0x65, 0x66, 0x67, 0x68])],
    ['(?i)ÉTÉ session', 'été session'],
  ])('%s finds its odd line', (pattern, line) => {
    const lines = [[Buffer.from(line)]];
    expect(compileRegex(pattern).testBytes(lines[0][0], 0, lines[0][0].length)).toBe(true);
    expectKept(pattern, lines);
  });

  test.each<[string, unknown]>([
    ['timeout', 'needle'],
    ['.*timeout.*', 'needle'],
    ['timeout|deadlock', { any: ['needle', 'needle'] }],
    ['timeout|.*', ANY],
    ['(dead|live)lock', { any: ['needle', 'needle'] }],
    ['user=\\d+ failed', { all: ['needle', 'needle'] }],
    ['(timeout)+', { all: ['needle', 'needle'] }],
    ['(timeout)*', ANY],
    ['(timeout)?', ANY],
    ['timeout(s)?', { any: ['needle', 'needle'] }],
    ['(?i)handshake timeout', 'needle'],
    ['[a-z]+', ANY],
    ['', ANY],
    ['4bf92f3577b34da6a3ce', 'needle'],
    ['4bf92f3577b3', 'run'],
  ])('%s requires', (pattern, shape) => {
    expect(shapeOf(regexPredicate(pattern))).toEqual(shape);
  });

  test('the predicate is bounded for huge and deeply nested patterns', () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `service-${i}`).join('|');
    expect(countNeedles(regexPredicate(names))).toBeLessThanOrEqual(64);
    const nested = `${'('.repeat(200)}timeout${')+'.repeat(200)}`;
    expect(countNeedles(regexPredicate(nested))).toBeLessThanOrEqual(64);
    const wide = '[ab][cd][ef][gh][ij][kl]'.repeat(50);
    expect(countNeedles(regexPredicate(wide))).toBeLessThanOrEqual(64);
  });
});

const quoted = (text: string) => JSON.stringify(text);
const requirementOf = (text: string, stored: readonly string[] = []) => {
  const { stages } = parseLogQuery(`{app="x"} ${text}`);
  const knowledge = {
    stored: ({ name }: { readonly name: string }) => (stored.includes(name) ? ANYTHING : NOTHING),
    field: () => ANYTHING,
  };
  return allOf([linePredicate(stages), labelsPredicate(stages, knowledge)]);
};

describe('pipelines', () => {
  const filter = fc
    .tuple(fc.constantFrom('|=', '!=', '|~', '!~', '|>'), fc.array(piece, { minLength: 1, maxLength: 2 }))
    .map(([op, parts]) => {
      const text = parts.join('').replaceAll('\ufffd', '');
      if (op === '|>') return `|> ${quoted(`<_>${text || 'x'}<_>`)} or ${quoted(text)}`;
      return `${op} ${quoted(op.endsWith('~') ? quoteRegex(text) : text)}`;
    });
  const value = fc.constantFrom(
    'Task',
    'café',
    'connection refused',
    '4711',
    'a b',
    'ta\u017fk7',
    '0a1b2c3d',
  );
  const stage = fc.oneof(
    { weight: 3, arbitrary: filter },
    fc.constantFrom('| json', '| logfmt', '| regexp "(?P<a>[a-z0-9]+)"', '| pattern "<a> <b>"', '| unpack'),
    fc.constantFrom('| decolorize', '| line_format "x{{.a}}"', '| label_format a=b', '| drop b', '| keep a'),
    fc.constantFrom('| json a="a"', '| logfmt a="b"', '| a > 5'),
    value.map(text => `| a=${quoted(text)}`),
    fc.tuple(value, value).map(([a, b]) => `| a=${quoted(a)} or b=${quoted(b)}`),
  );
  const raw = fc.tuple(value, fc.constantFrom(0, 1, 2, 3, 4, 5)).map(([text, way]) => {
    const escaped = `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}${text.slice(1)}`;
    const broken = Buffer.from(JSON.stringify({ a: text.replace(' ', '~') }));
    if (broken.includes('~')) broken[broken.indexOf('~')] = 0xff;
    const ways = [
      `{"a":"${text}","b":{"c":1}}`,
      `{"b":"${escaped}","a":"${escaped}"}`,
      `a="${text}" b=7`,
      `a="${escaped}" b=${text}`,
      `{"a":${/^\d+$/.test(text) ? text : 'true'}}`,
    ];
    return way === 5 ? broken : Buffer.from(ways[way]);
  });
  const rows = fc.array(
    fc.array(
      fc.oneof(
        raw,
        raw,
        piece.map(text => Buffer.from(text)),
      ),
      { maxLength: 3 },
    ),
    {
      minLength: 1,
      maxLength: 3,
    },
  );

  test('matching lines are never on a pruned page', () => {
    let survivors = 0;
    fc.assert(
      fc.property(fc.array(stage, { minLength: 1, maxLength: 4 }), rows, (stages, lines) => {
        const text = stages.join(' ');
        const kept = ask(buildSection(lines), lines.length, requirementOf(text, ['app']));
        for (const [page, entries] of lines.entries()) {
          if (entries.length === 0 || !passes(text, entries).some(Boolean)) continue;
          survivors++;
          expect(kept[page]).toBe(true);
        }
      }),
      { numRuns: 600 },
    );
    expect(survivors).toBeGreaterThan(50);
  });

  test.each<[string, unknown]>([
    ['|= "timeout"', 'needle'],
    ['!= "timeout"', ANY],
    ['!~ "timeout"', ANY],
    ['|= "timeout" or "deadlock"', { any: ['needle', 'needle'] }],
    ['|= "timeout" |= "deadlock"', { all: ['needle', 'needle'] }],
    ['|= ""', ANY],
    ['|= "" or "timeout"', 'needle'],
    ['|= "" or ""', ANY],
    ['|~ "timeout|"', 'needle'],
    ['|~ "(timeout|)" or "deadlock|"', { any: ['needle', 'needle'] }],
    ['|~ "timeout\\\\d|"', ANY],
    ['| json | status > 5 |= "timeout"', 'needle'],
    ['| line_format "x" |= "timeout"', ANY],
    ['| decolorize |= "timeout"', ANY],
    ['| unpack |= "timeout"', ANY],
    ['|> "<_> timeout <_> refused"', { all: ['needle', 'needle'] }],
    ['|= ip("10.168.13.7")', 'needle'],
    ['|= ip("10.168.13.0/24")', ANY],
    ['| json | a="connection refused"', { all: ['needle', 'needle'] }],
    ['| json | a="timeout"', { all: ['value', 'needle'] }],
    ['| json | a="u-1"', { all: ['value', 'run'] }],
    ['| json | a="4711"', { all: ['needle', 'run'] }],
    ['| json | a="{\\"b\\":\\"timeout\\"}"', ANY],
    [
      '| json | a="timeout" or a="deadlock"',
      { any: [{ all: ['value', 'needle'] }, { all: ['value', 'needle'] }] },
    ],
    ['| json | logfmt | a="GET"', { any: ['value', 'value'] }],
    ['| json | regexp "(?P<a>.*)" | a="GET"', ANY],
    ['| json | regexp "(?P<a>.*)" | a="timeout"', { any: [{ all: ['value', 'needle'] }, 'needle'] }],
    ['| json | a > 5', ANY],
    ['| json | line_format "x" | a="GET"', 'value'],
    ['| json | line_format "x" | logfmt | a="u-1"', ANY],
    ['| json | a="timeout" or a!="deadlock"', ANY],
    ['| json | stored="timeout"', ANY],
    ['| a="timeout"', 'nothing'],
    ['| a!="timeout"', ANY],
    ['| stored="timeout"', ANY],
    ['| json | label_format a=b | a="timeout"', ANY],
    ['| json a="b" | a="timeout"', { all: ['value', 'needle'] }],
    ['| json a="b" | b="timeout"', 'nothing'],
    ['| json a="b[0]" | a="timeout"', ANY],
    ['| logfmt a="b" | a="GET"', { any: ['value', 'value'] }],
  ])('%s requires', (stages, shape) => {
    expect(shapeOf(requirementOf(stages, ['stored']))).toEqual(shape);
  });
});
