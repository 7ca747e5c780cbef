/**
 * For any lines, each line counts for a pattern that matches it in `|>`, in its cluster and after templates are
 * joined.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineWords } from '../../shared/base/kernels/line-words.ts';
import { compilePatternFilter } from '../../shared/execution/pipeline/pattern-filter.ts';
import { templateBytes } from '../../shared/upkeep/pattern-mining/cluster.ts';
import { joinAll } from '../../shared/upkeep/pattern-mining/join.ts';
import { Miner } from '../../shared/upkeep/pattern-mining/miner.ts';
import { patternOf } from '../../shared/upkeep/pattern-mining/template.ts';
import { CORPORA, makeCorpus } from './corpora.ts';

/** For each line its pattern; undefined for the empty one, which has none. */
function patternsOf(lines: readonly Buffer[], rareBelow = 4): (string | undefined)[] {
  const words = new LineWords();
  const miner = new Miner();
  const clusterOf = lines.map(line => {
    if (line.length === 0) return -1;
    // The line follows other bytes, as in a page.
    words.begin(
      Buffer.concat([Buffer.from('{"msg":"'), line, Buffer.from('" x')]),
      Uint32Array.of(0, 8, 8 + line.length, 11 + line.length),
    );
    words.enter(1);
    return miner.add(words);
  });
  const found = miner.clusters.map(cluster => {
    const { group, lines: count } = cluster;
    return { key: templateBytes(cluster).latin1Slice(), group, lines: count };
  });
  const joined = joinAll(found, rareBelow);
  return clusterOf.map(cluster => (cluster < 0 ? undefined : patternOf(joined[cluster])));
}

const patterns = (...lines: string[]) => [
  ...new Set(
    patternsOf(
      lines.map(line => Buffer.from(line)),
      0,
    ),
  ),
];

function expectMatches(lines: readonly Buffer[], rareBelow?: number): void {
  const found = patternsOf(lines, rareBelow);
  const filters = new Map([...new Set(found)].map(one => [one, compilePatternFilter(one ?? '')]));
  const missed = lines.flatMap((line, i) =>
    line.length === 0 || filters.get(found[i])!.test(line, 0, line.length)
      ? []
      : [[line.toString(), found[i]]],
  );
  expect(missed).toEqual([]);
}

interface GroupedLine {
  readonly line: Buffer;
  readonly group: number;
}

/** Clusters of lines in pages: that of each row, then the template and the lines of each cluster. */
function minedPages(pages: readonly (readonly GroupedLine[])[], addsRows: boolean): unknown {
  const words = new LineWords();
  const miner = new Miner();
  const clusterOf: number[] = [];
  for (const page of pages) {
    const offsets = new Uint32Array(page.length + 1);
    for (const [i, { line }] of page.entries()) offsets[i + 1] = offsets[i] + line.length;
    words.begin(Buffer.concat(page.map(({ line }) => line)), offsets);
    miner.beginPage(Uint8Array.from(page, ({ group }) => group));
    for (const [row, { group }] of page.entries()) {
      if (addsRows) clusterOf.push(miner.addRow(words, row));
      else {
        words.enter(row, group);
        clusterOf.push(miner.add(words));
      }
    }
  }
  const clusters = miner.clusters.map(cluster => [templateBytes(cluster).latin1Slice(), cluster.lines]);
  return { clusterOf, clusters };
}

function expectSameClusters(pages: readonly (readonly GroupedLine[])[]): void {
  expect(minedPages(pages, true)).toEqual(minedPages(pages, false));
}

/** Few words and values, so that lines repeat each other in all ways. */
const fewWords = fc.array(
  fc.constantFrom(
    ...['a', 'b', '1', '22', '/a?b=1', '[1 2]', '"a b c d e f"', '\xff', '{"msg":"a 1"}', 'x='],
  ),
  { minLength: 1, maxLength: 5 },
);
const fewLines = fc.array(
  fc.record({
    line: fewWords.map(parts => Buffer.from(parts.join(' '), 'latin1')),
    group: fc.nat(1),
  }),
  { maxLength: 60 },
);

describe('rows of pages', () => {
  test('have the clusters of lines that are read one by one', () => {
    fc.assert(
      fc.property(fc.array(fewLines, { maxLength: 3 }), pages => expectSameClusters(pages)),
      { numRuns: 1_000 },
    );
  });

  test('have the same clusters for lines of logs', () => {
    for (const name of Object.keys(CORPORA)) {
      const lines = makeCorpus(name, 6_000).map(({ line }, i) => ({ line: Buffer.from(line), group: i % 3 }));
      expectSameClusters([lines.slice(0, 2_000), lines.slice(2_000)]);
    }
  });

  test('have the same clusters if more shapes and clusters occur than are remembered', () => {
    const letters = (i: number) => i.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
    const lines = Array.from({ length: 12_000 }, (_, i) => {
      const word = letters(Math.imul(i, 0x9e3779b1) >>> 20);
      return { line: Buffer.from(`${word} ${word}${word} took ${i % 7} of ${word}x`), group: 0 };
    });
    expectSameClusters([lines.slice(0, 7_000), lines.slice(7_000)]);
  });
});

test.each([
  [['user alice logged in', 'user bob logged in'], ['user <_> logged in']],
  [['took 12 ms', 'took 7 ms'], ['took <_> ms']],
  [['took 12 ms', 'took 12 ms'], ['took 12 ms']],
  [
    ['cache hit', 'cache miss'],
    ['cache hit', 'cache miss'],
  ],
  [['GET /a?b=1 200', 'GET /a?b=1&c=2 200'], ['GET <_> 200']],
  [['ids (1, 2)', 'ids (1)', 'ids (1, 2, 3)'], ['ids (<_>)']],
  [['agent "a b c d e f g"', 'agent "curl/8"'], ['agent "<_>"']],
  [['say "a b c"', 'say "a b d"'], ['say "a b <_>"']],
  [['{"a":1,"msg":"job 7 done"}', '{"msg":"job 8 done","b":2}'], ['<_>"msg":"job <_> done"<_>']],
  [['{"a":1,"msg": "job 7 done"}'], ['<_>"msg": "job 7 done"<_>']],
  [['{"a":{"log":"x y"},"msg":"z"}'], ['<_>"log":"x y"<_>']],
  [['{"a":1,"b":"x"}', '{"a":2,"b":"x"}'], ['{"a":<_>,"b":"x"}']],
  [['{"msg":7,"b":"x"}'], ['{"msg":7,"b":"x"}']],
  [['t=1 msg="job 7 done" x=1', 't=2 x=2 msg="job 8 done" y=2'], ['<_> msg="job <_> done"<_>']],
  [['msg="job 7 done"', 'msg="job 8 done"'], ['msg="job <_> done"']],
  [['t=1 msg=started x=1'], ['<_> msg=started <_>']],
  [['t=1 msg=audit(1:2) x=1'], ['t=1 msg=audit(1:2) x=1']],
  [['say msg="a b"'], ['say msg="a b"']],
  [['<user>bob</user>'], ['<<_>>bob</user>']],
  [['===='], ['====']],
  [['it failed\nat a', 'it failed\nat b\nat c'], ['it failed\n<_>']],
  [
    ['a  b', 'a b'],
    ['a  b', 'a b'],
  ],
])('%j', (lines, want) => {
  expect(patterns(...lines)).toEqual(want);
});

describe('each line is found by its pattern', () => {
  test.each(Object.keys(CORPORA))('%s', name => {
    expectMatches(makeCorpus(name, 800).map(({ line }) => Buffer.from(line)));
  });

  const piece = fc.constantFrom(
    ...[
      'a',
      'b',
      'user',
      'alice',
      '1',
      '22',
      '/p',
      '/p?x=1',
      ':',
      '::',
      '"',
      '\\"',
      '\\',
      '(',
      ')',
      '[',
      ']',
      ' ',
      '  ',
      '=',
    ],
    ...[
      'msg',
      'log',
      '"msg":"',
      '"log": "',
      ' msg=',
      ' msg="',
      '{',
      '}',
      ',',
      '<',
      '>',
      '<_>',
      '<x>',
      'ü',
      '\xff',
      '-',
      '\n',
    ],
  );
  const line = fc.oneof(
    fc.array(piece, { maxLength: 14 }).map(pieces => Buffer.from(pieces.join(''))),
    fc.array(piece, { maxLength: 10 }).map(pieces => Buffer.from(pieces.join(''), 'latin1')),
    fc.array(piece, { maxLength: 10 }).map(pieces => Buffer.from(`{"a":1,"msg":"${pieces.join('')}"}`)),
    fc.array(piece, { maxLength: 10 }).map(pieces => Buffer.from(`a=1 msg="${pieces.join('')}" b=2`)),
    fc.array(piece, { maxLength: 8 }).map(pieces => Buffer.from(pieces.join(' '))),
    fc.uint8Array({ maxLength: 12 }).map(bytes => Buffer.from(bytes)),
  );

  test('finds each line of any contents by its pattern', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 40 }), fc.constantFrom(0, 4, 1000), (lines, rareBelow) => {
        expectMatches(lines, rareBelow);
      }),
      { numRuns: 250 },
    );
  });

  test('however long it is', () => {
    const words = (n: number) => Array.from({ length: n }, (_, i) => `w${i} x`).join(' ');
    const long = [
      words(31),
      words(32),
      words(33),
      words(40),
      'a'.repeat(2047),
      'a'.repeat(2048),
      'a'.repeat(5000),
    ];
    const cut = Array.from({ length: 60 }, (_, i) => `${'ab '.repeat(670)}${'c'.repeat(i)} d`);
    const inside = [...long, ...cut].flatMap(one => [
      `{"x":1,"msg":"${one}","y":2}`,
      `a=1 msg="${one}"`,
      `"${one}"`,
    ]);
    expectMatches([...long, ...cut, ...inside].map(one => Buffer.from(one)));
  });
});
