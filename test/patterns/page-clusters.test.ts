/** Clusters of split pages: the same as those of reading all lines, for any lines, and few lines are read. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineWords } from '../../shared/base/kernels/line-words.ts';
import { CLASS_IS_READ, mapTemplates } from '../../shared/base/kernels/row-classes.ts';
import { splitLines } from '../../shared/base/kernels/split-lines.ts';
import { templateBytes } from '../../shared/upkeep/pattern-mining/cluster.ts';
import { LEVEL_BITS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { mayHaveMessage, messagePart } from '../../shared/upkeep/pattern-mining/message-part.ts';
import { Miner } from '../../shared/upkeep/pattern-mining/miner.ts';
import { clustersOf } from '../../shared/upkeep/pattern-mining/page-clusters.ts';
import { pageOf } from '../kernels/hostile.ts';
import { CORPORA, makeCorpus } from './corpora.ts';

interface LeveledLine {
  readonly line: Buffer;
  readonly level: number;
}

type Pages = readonly (readonly LeveledLine[])[];

/**
 * Cluster of each row, and the template and the lines of each cluster.
 * @param minerOf miner of each page
 */
function minedPages(pages: Pages, isSplit: boolean, minerOf: (page: number) => number): unknown {
  const miners = [new Miner(), new Miner()];
  const words = new LineWords();
  const clusterOf = pages.map((lines, i) => {
    const page = pageOf(lines.map(({ line }) => line));
    const levels = Uint8Array.from(lines, ({ level }) => level);
    const split = isSplit ? splitLines(page) : undefined;
    const { numbers, keys } = clustersOf({ ...page, levels, split }, miners[minerOf(i)], words);
    return Array.from(numbers, number => (number === 0 ? -1 : keys[number] >> LEVEL_BITS));
  });
  const clusters = miners.flatMap(miner => miner.clusters);
  return { clusterOf, clusters: clusters.map(one => [templateBytes(one).latin1Slice(), one.lines]) };
}

function expectSame(pages: Pages): void {
  expectSameWith(() => 0, pages);
}

function expectSameWith(minerOf: (page: number) => number, pages: Pages): void {
  expect(minedPages(pages, true, minerOf)).toEqual(minedPages(pages, false, minerOf));
}

/** Number of rows that are read if no class is known, of classes, and of classes that are new or have other words that vary. */
function classesOf(texts: readonly string[], known: object = {}) {
  const page = pageOf(texts.map(text => Buffer.from(text)));
  const split = splitLines(page)!;
  const messages = mapTemplates(split.frame, mayHaveMessage, messagePart);
  const levels = new Uint8Array(page.rows);
  const { count, classOf, knownAs } = split.classRows({ messages, levels, known });
  const read = classOf.filter(found => found >= CLASS_IS_READ).length;
  return { count, read, changed: knownAs.subarray(1).filter(found => found >= CLASS_IS_READ).length };
}

const leveled = (texts: readonly string[]): LeveledLine[] =>
  texts.map((text, i) => ({ line: Buffer.from(text, 'latin1'), level: i % 2 }));

const PIECES = [
  ...['a', 'b', 'user', 'msg', 'log', '_msg', 'content', '1', '22', 'x7', '7x', '-', '\xe9', '\xff'],
  ...[
    '/p',
    '/p1',
    '/p?x=1',
    '/p?',
    '?',
    ':',
    '::',
    '1:2',
    '\\"',
    '\\\\',
    '(',
    ')',
    '[1 2]',
    '<',
    '>',
    '<x1>',
  ],
  ...[' ', ' ', ' ', '  ', '=', ',', '\n', ' msg=', ' msg=b', '{', '}', '"', '":"', '"msg":"', '\0'],
];
const message = fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }).map(pieces => pieces.join(''));
/** Few texts, so that lines repeat each other in all ways. */
const fewTexts = fc
  .array(fc.constantFrom('a', 'b', '1', '22', 'x1', '/a1', ':1', '/a?b=1', '/a?c=2'), {
    minLength: 1,
    maxLength: 4,
  })
  .map(pieces => pieces.join(' '));
const text = fc.oneof({ weight: 3, arbitrary: fewTexts }, { weight: 1, arbitrary: message });
const other = fc.oneof(fc.constantFrom('info', 'x', '1', '2.5', 'a b', 'b msg=1 c', ''), message);
const line = fc
  .tuple(fc.nat(13), other, text)
  .map(
    ([shape, a, b]) =>
      [
        `{"msg":"${b}"}`,
        `{"a":"${a}","msg":"${b}","c":1}`,
        `{"a":${a},"message": "${b}"}`,
        `{"a":"${a}","log":"${b}","msg":"${b}"}`,
        `{"a":"${a}","b":{"msg":"","content":"${b}"}}`,
        `{"a":"x","amsg":"${a}","msg":"${b}`,
        `msg="${b}" a=${a}`,
        `a=${a} msg="${b}"`,
        `a="${a}" b=1 msg="${b}" c="${a}"`,
        `a=1 msg=${b} log="${b}"`,
        `a=1 x_msg="${a}" msg="${b}"`,
        `a=1 :msg="${a}" msg="${b}"`,
        `${a} msg="${b}"`,
        `${a} ${b}`,
      ][shape],
  );
const lines = fc.array(fc.record({ line: line.map(one => Buffer.from(one, 'latin1')), level: fc.nat(1) }), {
  maxLength: 60,
});

/** Words, and bytes that begin or end a group of words, or a path with a query. */
const group = fc
  .array(
    fc.constantFrom(
      'a',
      'b',
      'c',
      '1',
      '22',
      'x1',
      '/p',
      '/p1',
      '/p1?x=1',
      'p1?',
      '(',
      ')',
      '[',
      ']',
      '=',
      '\xff',
      ':',
      '"',
    ),
    { maxLength: 9 },
  )
  .map(pieces => pieces.join(' '));
const part = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '1',
      '22',
      '/1',
      'x7',
      'a',
      '-',
      'a b c d e 1',
      'a b c d e f',
      'a (1 2) b c d',
      '',
    ),
  },
  { weight: 1, arbitrary: group },
);
/** Lines without a message, of few templates. */
const plainLine = fc
  .tuple(fc.nat(11), part, part, part)
  .map(
    ([shape, a, b, c]) =>
      [
        `10.0.0.1 - [1 2] "${a}" 200 "${b}" "${c}"`,
        `${a} - "${b}" "${c}"`,
        `1 "${a}" "${b}" "${c}"`,
        `x (1 "${a}") "${b}" "${c}"`,
        `1 "x ( 2 " "${a}" ) "${b}"`,
        `a=${a} b="${b}"`,
        `{"a":"${a}","b":"${b}","c":${c}}`,
        `1=1 "${a}" "msg=${b}" "${c}"`,
        `job ${a} done\n${b}`,
        `${a}\n"${b}" ${c}`,
        `1?${a} "${b}"?x=1 "${c}"`,
        `"${a}" ${b} msg=1`,
      ][shape],
  );
const plainLines = fc.array(
  fc.record({ line: plainLine.map(one => Buffer.from(one, 'latin1')), level: fc.nat(1) }),
  { maxLength: 60 },
);

/** Texts that differ in a number, and others, so that columns are dictionaries, or have affixes. */
const affix = fc
  .array(
    fc.constantFrom(
      '',
      'a',
      'GET /p/',
      '/',
      '1 ',
      ' 2',
      ':',
      '.',
      '-',
      ' (x) ',
      '[',
      '] ',
      '/p?x=',
      ' HTTP/1.1',
      ' HTTP/2',
      ' msg=',
      '"',
      'a b c d ',
    ),
    { maxLength: 4 },
  )
  .map(pieces => pieces.join(''));
const numbered = fc.tuple(affix, affix, fc.constantFrom(1, 2, 3, 40, 5_000));
const alikeLines = fc
  .record({
    shapes: fc.array(
      fc.constantFrom(
        '10.1.1.1 - [@] "@" 200 "@"',
        '@ - "@"',
        'at @ (@)',
        'x "@" y "@"\nz',
        '{"a":"@","b":@}',
        '{"a":"@","msg":"@"}',
        '{"a":@,"b":"@","log":"x @"}',
        'a=@ msg="@"',
        'a="@" b=@ msg="@" c=@',
      ),
      {
        minLength: 1,
        maxLength: 2,
      },
    ),
    texts: fc.array(numbered, { minLength: 1, maxLength: 5 }),
    picks: fc.array(fc.nat(), { minLength: 60, maxLength: 150 }),
  })
  .map(({ shapes, texts, picks }) =>
    picks.map((pick, i) => {
      let value = pick;
      const line = shapes[i % shapes.length].replaceAll('@', () => {
        const [before, after, numbers] = texts[value % texts.length];
        value = Math.floor(value / 3);
        return `${before}${value % numbers}${after}`;
      });
      return { line: Buffer.from(line), level: pick % 41 === 0 ? 1 : 0 };
    }),
  );

describe('clusters are those of reading all lines', () => {
  test('for lines of few templates whose values differ in numbers', () => {
    fc.assert(fc.property(fc.array(alikeLines, { maxLength: 2 }), expectSame), { numRuns: 800 });
  });

  test('for pages of lines like those of earlier pages, of one miner or two', () => {
    const pages = fc
      .tuple(
        alikeLines,
        fc.array(fc.tuple(fc.nat(4), fc.nat(150), fc.nat(40)), { minLength: 2, maxLength: 7 }),
      )
      .map(([all, parts]) =>
        parts.map(([digit, from, rows]) =>
          all.slice(from, from + rows).map(({ line, level }) => ({
            // Some words vary from page to page only.
            line: Buffer.from(line.toString().replaceAll('1', digit < 2 ? '1' : `${digit}`)),
            level,
          })),
        ),
      );
    fc.assert(
      fc.property(pages, fc.boolean(), (all, hasTwo) =>
        expectSameWith(i => (hasTwo ? (i >> 1) % 2 : 0), all),
      ),
      { numRuns: 1_000 },
    );
  });

  test('for access logs of many pages', () => {
    const text = (i: number, page: number) =>
      `10.0.${page}.${i % 7} - - [2${page % 3}/Nov/2026] "${['GET', 'PUT', 'POST'][i % 3]} /${'abcdef'[i % (page + 2)]}/${i} ` +
      `HTTP/1.${page > 3 && i === 9 ? 0 : 1}" ${i % 4 ? 200 : 404} "${['-', 'http://a/', 'b1'][i % 5] ?? ''}" ` +
      `"${i % 11 ? 'Mozilla/5.0 (X11; Linux; rv:1) Gecko Firefox' : 'curl/8'}"`;
    const pages = Array.from({ length: 6 }, (_, page) =>
      leveled(Array.from({ length: 200 }, (__, i) => text(i, page))),
    );
    expectSame(pages);
    expectSameWith(i => i % 2, pages);
  });

  test.each([3, 4, 5, 7])(
    'for lines with %i texts, more combinations of which occur than are remembered',
    texts => {
      const form = (n: number) =>
        ['-', 'a b', 'x', `${n}`, 'c (d)', `y ${n % 3}`, `a/${n}`, 'a b c d e f g'][n % 8];
      const noise = (n: number) => Math.imul(n + 1, 0x9e37_79b1) >>> 8;
      const page = (first: number) =>
        Array.from({ length: 6_000 }, (_, i) => {
          const values = Array.from({ length: texts }, (__, k) => form(noise((first + i) * texts + k) % 90));
          return `at ${i} ${values.map(value => `"${value}"`).join(' ')} of HTTP/1.1`;
        });
      expectSame([page(0), page(1), page(9_000)].map(leveled));
    },
  );

  test('for templates without values, and words that vary after many rows', () => {
    const texts = (word: number) =>
      Array.from({ length: 900 }, (_, i) => [
        'the same text',
        i % 3 ? 'another text' : 'a text',
        `1.2.3.4 "${'xyz'[i % 3]} /a/${i} HTTP/1.${i === 700 ? word : 1}" "${'ab'[i % 2]}"`,
        `1.2.3.4 "${'xyz'[i % 3]} /a HTTP/1.1 b${i === 800 ? word : 1}" "${'ab'[i % 2]}"`,
      ]).flat();
    expectSame([texts(1), texts(0), texts(1), texts(2)].map(leveled));
  });

  test('for pages with more than the miner takes, and then with less', () => {
    const letters = (i: number) => i.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
    const free = (page: number) =>
      Array.from(
        { length: 1_400 },
        (_, i) => `at ${page} "${letters(i * 977 + page)} ${letters(i)}" ${i % 3} x`,
      );
    const few = (page: number) =>
      Array.from(
        { length: 3_000 },
        (_, i) => `at ${page} "${letters(i % 3)} ${letters(i % 4)}" ${page} ${'xyz'[i % 3]}`,
      );
    expectSame([free(1), free(2), few(3), few(4), free(5), few(6), few(6), free(5), few(7)].map(leveled));
  });

  test('for lines without a message', () => {
    fc.assert(fc.property(fc.array(plainLines, { maxLength: 3 }), expectSame), { numRuns: 1_500 });
  });

  test('for words that a question mark makes a path', () => {
    const texts = Array.from({ length: 200 }, (_, i) => [
      `at ${i} "GET /a${i % 3}?b=${i} x"`,
      `at ${i} "GET a${i % 3}?b=${i} x"`,
      `at ${i} "/abcdefghijklmnop${i}?b" x`,
      `at ${i} "abcdefghijklmnopq${i}?b" x`,
    ]).flat();
    expectSame([texts.map(text => ({ line: Buffer.from(text), level: 0 }))]);
  });

  test('for lines that have no template, because those before have too many', () => {
    const letters = (i: number) => i.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
    const texts = Array.from({ length: 1_500 }, (_, i) => [
      `job ${i} ${i % 3 === 0 ? 'failed' : 'done'}\nat ${letters(i * 977).repeat(250)}`,
      `job ${i} at ${letters(i % 5)} took ${i % 7} s`,
      `\n${letters(i % 5)} ${i}\n`,
      `word\n`,
      `word\n${i}`,
      `{"a":${i}}\n`,
      `a=${i} b=${letters(i % 7)}\nmsg=${i}`,
    ]).flat();
    // These messages do not end with the first line of text.
    const messages = Array.from({ length: 100 }, (_, i) => {
      const rest = `${['c d', 'c (d)', 'c, d e', 'x1'][i % 4]}`;
      return [
        `z=${i} msg="b ${i}\n${rest}" e${'x'.repeat(1_100)}`,
        `{"z":${i},"msg":"b ${i}\n${rest}"}${'x'.repeat(1_100)}`,
        `z {"msg":"${i}\n${rest}"}${'x'.repeat(1_100)}`,
      ];
    }).flat();
    const pages = [texts.slice(0, 5_000), texts.slice(5_000)];
    expectSame(pages.map(page => leveled([...page, ...messages])));
  });

  test('for any lines', () => {
    fc.assert(fc.property(fc.array(lines, { maxLength: 3 }), expectSame), { numRuns: 1_500 });
  });

  test.each(Object.keys(CORPORA))('for lines of logs: %s', name => {
    const all = makeCorpus(name, 6_000).map((one, i) => ({ line: Buffer.from(one.line), level: i % 3 }));
    expectSame([all.slice(0, 2_000), all.slice(2_000)]);
  });

  test('for lines near the limits of mining', () => {
    const long = [2030, 2040, 2047, 2048, 2049, 3000].flatMap(length => [
      `{"a":"${'x'.repeat(length)}","msg":"job 1 x"}`,
      `{"msg":"job ${'1'.repeat(length)} x"}`,
      `{"msg":"job ${'a '.repeat(length / 2)} 1"}`,
    ]);
    const words = [40, 60, 61, 62, 63, 64, 65, 80].flatMap(count => [
      `{"a":"${'x '.repeat(count)}","msg":"job 1 x"}`,
      `a="${'x '.repeat(count)}" msg="job 1 x"`,
      `{"msg":"${'7 '.repeat(count)}"}`,
      `{"msg":"${'7 '.repeat(count)}8"}`,
      `{${Array.from({ length: count }, (_, i) => `"k":${i},`).join('')}"msg":"job ${count}"}`,
    ]);
    expectSame([leveled([...long, ...words, ...long, ...words])]);
  });

  test('for more clusters, templates and classes than are remembered', () => {
    const letters = (i: number) => i.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
    const texts = Array.from(
      { length: 30_000 },
      (_, i) => `{"n":${i},"msg":"${letters(i)} took ${i % 7} s"}`,
    );
    expectSame([leveled(texts)]);
    expectSame([leveled(Array.from({ length: 2_000 }, (_, i) => `{"${letters(i)}":1,"msg":"a ${i}"}`))]);
  });
});

describe('few lines are read', () => {
  const repeated = (make: (i: number) => string) => classesOf(Array.from({ length: 500 }, (_, i) => make(i)));

  test('of JSON and logfmt: the first of a class', () => {
    expect(
      repeated(i => `{"ts":"t${i}","level":"info","msg":"job ${i} of ${i >> 8} done","x":${i}}`),
    ).toEqual({ count: 1, read: 1, changed: 1 });
    expect(repeated(i => `ts=${i} msg="job ${i} ${i % 2 ? 'done' : 'failed'}" err="x ${i}"`)).toEqual({
      count: 2,
      read: 2,
      changed: 2,
    });
    expect(repeated(i => `{"msg":"always the same","x":${i}}`)).toEqual({ count: 1, read: 1, changed: 1 });
  });

  test('of other text: the first of a class', () => {
    expect(repeated(i => `job ${i} done`)).toEqual({ count: 1, read: 1, changed: 1 });
    expect(repeated(i => `at ${i % 7} "${i % 2 ? 'GET' : 'PUT'} /a/${i}"`)).toEqual({
      count: 2,
      read: 2,
      changed: 2,
    });
  });

  test('of text with long quotes, whatever is in them', () => {
    const word = (i: number) => 'abcdefghij'[i % 10];
    expect(
      repeated(i => `${i} - "${word(i)} ${word(i >> 1)} (${word(i >> 2)}; b) ${word(i >> 3)} d e" 1`),
    ).toEqual({ count: 1, read: 1, changed: 1 });
  });

  test('of text of several lines: the first one counts', () => {
    expect(repeated(i => `job ${i} failed\n${'at x.y(z) '.repeat(i % 9)}`)).toEqual({
      count: 2,
      read: 2,
      changed: 2,
    });
  });

  test('of later pages: none, unless other words vary', () => {
    const known = {};
    const changed = (make: (i: number) => string) =>
      classesOf(
        Array.from({ length: 100 }, (_, i) => make(i)),
        known,
      ).changed;
    const access = (i: number, version: number, day: number) =>
      `10.0.0.${i} - [${day}/Nov] "${i % 2 ? 'GET' : 'PUT'} /a/${i} HTTP/1.${version}" ${i} "${i % 3 ? '-' : 'b'}"`;
    expect(changed(i => access(i, 1, 28))).toBe(4);
    expect(changed(i => access(i + 100, 1, 28))).toBe(0);
    expect(changed(i => access(i, 0, 28))).toBe(4);
    expect(changed(i => access(i, 2, 28))).toBe(0);
    // The day is part of the template while all rows of a page have the same.
    expect(changed(i => access(i, 1, 29))).toBe(4);
    expect(changed(i => `{"a":"x${i}","msg":"job ${i} of 7 done"}`)).toBe(1);
    expect(changed(i => `{"a":"x${i}","msg":"job ${i} of 7 done"}`)).toBe(0);
    expect(changed(i => `{"a":"x${i}","msg":"job ${i} of 8 done"}`)).toBe(1);
    expect(changed(i => `{"a":"x${i}","msg":"job ${i} of 9 done"}`)).toBe(0);
    expect(changed(i => `{"b":"x${i}","msg":"job ${i} of 9 done"}`)).toBe(1);
    expect(changed(i => `job ${i} failed\n${'at x.y(z) '.repeat(i % 9)}`)).toBe(2);
    expect(changed(i => `job ${i} failed\n${'at z.y(x) '.repeat(i % 7)}`)).toBe(0);
    expect(
      classesOf(
        Array.from({ length: 100 }, (_, i) => access(i, 1, 28)),
        {},
      ).changed,
    ).toBe(4);
  });

  test('of later pages: the first of each class if the memory is full', () => {
    const known = {};
    const letters = (i: number) => i.toString(26).replace(/[0-9]/g, digit => 'qrstuvwxyz'[Number(digit)]);
    const page = (number: number) =>
      Array.from(
        { length: 1_000 },
        (_, i) => `{"a":${i},"msg":"${letters(i)} ${letters(number)} ${i} is done"}`,
      );
    const first = classesOf(page(1), known);
    expect(first.changed).toBe(first.count);
    expect(classesOf(page(1), known).changed).toBe(0);
    for (let i = 2; i < 12; i++) classesOf(page(i), known);
    expect(classesOf(page(1), known).changed).toBe(0);
    const last = classesOf(page(12), known);
    expect(classesOf(page(12), known).changed).toBe(last.count);
  });

  test('but each if a value before the message may be one', () => {
    expect(repeated(i => `a="b msg=${i}" msg="job ${i}"`)).toEqual({ count: 0, read: 500, changed: 0 });
  });
});

/** Templates with `@` for each value. */
test.each([
  ['{"a":@,"msg":"@"}', { value: 1, words: 3 }],
  ['{"msg": "@"}', { value: 0, words: 0 }],
  ['{"msg":"","log":"@"}', undefined],
  ['{"msg":@}', undefined],
  ['{"msg@":"@"}', undefined],
  ['{"m@sg":"@"}', undefined],
  ['{"a":@,\n"msg":"@"}', undefined],
  ['{"xmsg":"@"}', undefined],
  ['a=@ msg="@" b=@', { value: 1, words: 2 }],
  ['msg="@"', { value: 0, words: 0 }],
  ['a=@ msg=@', undefined],
  ['a=@ m@sg="@"', undefined],
  ['a=@ @msg="@"', undefined],
  ['a=@ xmsg="@" msg="@"', { value: 2, words: 4 }],
  ['a=@ x@msg="@" msg="@"', undefined],
  ['a=@,msg="@"', undefined],
  ['at @ msg="@"', undefined],
  ['@a=b msg="@"', undefined],
])('the message of %j', (template, want) => {
  const literals = template.split('@');
  const values = literals.slice(0, -1).map((_, i) => literals.slice(0, i + 1).join('').length);
  const first = Buffer.from(literals[0]);
  const found = mayHaveMessage(first, 0, first.length)
    ? messagePart({ text: literals.join(''), values })
    : undefined;
  expect(found).toEqual(want);
});
