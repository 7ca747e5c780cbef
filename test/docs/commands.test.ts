/** Runs the commands on the pages for users, and compares their output with the one that the page shows. */
import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { isFastSuite } from '../support/suite.ts';
import { codeBlocks } from './code-blocks.ts';
import { missingLine } from './expected-output.ts';
import { PageSession } from './page-session.ts';
import { pathOf, userPages } from './pages.ts';

/** The fast suite runs the first page that a new user meets; all pages take a process for each command. */
const FAST_PAGES = new Set(['quick-start.md']);

const marked = userPages()
  .map(page => ({
    page,
    blocks: codeBlocks(readFileSync(pathOf(page), 'utf8')).filter(({ marks }) => marks.length > 0),
  }))
  .filter(({ page, blocks }) => blocks.length > 0 && (!isFastSuite || FAST_PAGES.has(page)));

let session: PageSession;
afterEach(() => session?.close());

test.each(marked)('the commands of $page run and print what it shows', async ({ blocks }) => {
  session = new PageSession();
  expect(blocks.some(({ marks }) => marks[0] === 'run')).toBe(true);
  for (const block of blocks) await session.run(block);
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
