/** Runs the commands on the pages for users, and compares their output with the one that the page shows. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, test } from '@jest/globals';
import { codeBlocks } from './code-blocks.ts';
import { missingLine } from './expected-output.ts';
import { PageSession } from './page-session.ts';
import { pathOf, ROOT, userPages } from './pages.ts';

const pages = userPages().map(page => {
  const text = readFileSync(pathOf(page), 'utf8');
  return { page, text, blocks: codeBlocks(text) };
});
const executed = pages.filter(({ blocks }) =>
  blocks.some(({ marks }) => marks.includes('run') || marks.includes('follow')),
);

/** Pages that compare no output share a store: entries of other pages change nothing for them. */
const compares = ({ blocks }: (typeof pages)[number]) => blocks.some(({ marks }) => marks.includes('output'));

let session: PageSession | undefined;
const close = async () => {
  await session?.close();
  session = undefined;
};

test.each(pages)('$page declares how each block is tested', ({ text, blocks }) => {
  expect(blocks.filter(({ marks }) => marks.length === 0).map(({ line }) => line)).toEqual([]);
  for (const [mark] of blocks.map(({ marks }) => marks)) {
    if (mark === 'untested') expect(text).toMatch(/\bnot\s+tested\b/i);
    if (mark.startsWith('tested=')) expect(existsSync(join(ROOT, mark.slice('tested='.length)))).toBe(true);
  }
});

describe('pages that show output', () => {
  afterEach(close);

  test.each(executed.filter(compares))('the commands of $page run and print it', async ({ blocks }) => {
    session = new PageSession();
    for (const block of blocks) await session.run(block);
  });
});

describe('pages that show no output', () => {
  afterAll(close);

  test.each(executed.filter(page => !compares(page)))('the commands of $page run', async ({ blocks }) => {
    session ??= new PageSession();
    for (const block of blocks) await session.run(block);
  });
});

describe('comparing output', () => {
  test.each([
    ['a\nb\n', 'a\nx\nb\n', undefined],
    ['a ... c\n', 'a 12 c\n', undefined],
    ['b\na\n', 'a\nb\n', 'a'],
    ['a.c\n', 'abc\n', 'a.c'],
    ['a\na\n', 'a\n', 'a'],
  ])('%j in %j', (expected, actual, missing) => {
    expect(missingLine(expected, actual)).toBe(missing);
  });
});
