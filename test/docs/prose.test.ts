/** Rules for every page of the documentation: links work, pages are short, words follow the language guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { anchorsOf, brokenLinks } from './links.ts';
import { allPages, pathOf, ROOT, userPages } from './pages.ts';
import { unplainWords } from './plain-words.ts';
import { countWords, plainWords, proseOf } from './prose.ts';
import { readDictionary } from './spelling.ts';

/** An afternoon of reading. */
const MAX_WORDS = 20_000;
const MAX_PAGE_WORDS = 1_500;
const OTHER_TEXTS = [
  ...['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md'],
  ...['shared/README.md', 'shared/base/kernels/README.md'],
];

/** Maximum words of a page for developers. The chunk format is one specification. */
const MAX_DEV_WORDS = 4000;
const LONG_PAGES = new Set(['docs/dev/format.md']);
/** Pages with separate limits, words. */
const SHORT_PAGES: Readonly<Record<string, number>> = { 'docs/dev/benchmarks.md': 3000 };

/** Numbers of issues mean nothing to a reader. */
const ISSUE = /\bissues? #?\d+|(?<![\w&/])#\d+\b/i;

const texts = new Map([
  ...allPages().map(page => [`docs/${page}`, readFileSync(pathOf(page), 'utf8')] as const),
  ...OTHER_TEXTS.map(name => [name, readFileSync(join(ROOT, name), 'utf8')] as const),
]);

test.each([...texts.keys()])('every link of %s leads to a file and an anchor', name => {
  expect(brokenLinks(join(ROOT, name))).toEqual([]);
});

test.each([...texts])('%s names no issue', (_name, text) => {
  expect(proseOf(text).match(ISSUE)?.[0]).toBeUndefined();
});

test.each([...texts])('%s uses plain words', (_name, text) => {
  expect(unplainWords(proseOf(text))).toEqual([]);
});

test.each([...texts].filter(([name]) => name.startsWith('docs/dev/') && !LONG_PAGES.has(name)))(
  '%s is short enough to read in one sitting',
  (name, text) => {
    expect(countWords(text)).toBeLessThanOrEqual(SHORT_PAGES[name] ?? MAX_DEV_WORDS);
  },
);

test('a word that has a plainer one is found in prose, and not in code', () => {
  expect(unplainWords(proseOf('A page tells of it'))).toEqual([expect.stringContaining('tells: reports')]);
  expect(unplainWords(proseOf('`tell` and\n\n```\nanew\n```\n'))).toEqual([]);
});

describe('the pages for users', () => {
  test(`have at most ${MAX_WORDS} words together, and ${MAX_PAGE_WORDS} each`, () => {
    const counts = userPages().map(page => [page, countWords(texts.get(`docs/${page}`)!)] as const);
    expect(counts.filter(([, words]) => words > MAX_PAGE_WORDS)).toEqual([]);
    expect(counts.reduce((sum, [, words]) => sum + words, 0)).toBeLessThanOrEqual(MAX_WORDS);
  });

  describe('spelling', () => {
    let isWord: (word: string) => boolean;
    beforeAll(() => {
      isWord = readDictionary();
    });

    test.each([...texts])('%s', (_name, text) => {
      const unknown = new Set(plainWords(text).filter(word => !isWord(word)));
      expect([...unknown]).toEqual([]);
    });

    test('knows words of the project, and finds a mistake', () => {
      expect(['LogQL', 'receiver', 'tenant', 'loggs', 'colour'].map(isWord)).toEqual([
        true,
        true,
        true,
        false,
        false,
      ]);
    });
  });
});

test('headings have the anchors of GitHub', () => {
  const page = '# One `two` (three)\n\n```\n# no\n```\n## A, B: c_d\n## A, B: c_d\n';
  expect([...anchorsOf(page)]).toEqual(['one-two-three', 'a-b-c_d', 'a-b-c_d-1']);
});

test('words of a page exclude code, links and tables of numbers', () => {
  const page =
    "# Set `x`\n\n| A GB's | 10 |\n|---|---|\n[the link](a/b.md) don't re-read fooBar a_b\n\n```\ncode here\n```\n";
  expect(plainWords(page)).toEqual(['Set', 'the', 'link', "don't", 're', 'read']);
  expect(countWords(page)).toBe(11);
});
