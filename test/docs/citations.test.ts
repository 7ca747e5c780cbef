/** Comments and test titles name a page and an anchor, so that a reader can follow them. */
import { expect, test } from '@jest/globals';
import { bareCitations, brokenCitations } from './citations.ts';
import { commentsOf, sources } from './sources.ts';

/** This file and its neighbors quote what they look for. */
const OWN = /^test\/docs\/citations/;

function found(look: (comment: string) => string[]): string[] {
  return sources()
    .filter(([path]) => !OWN.test(path))
    .flatMap(([path, text]) =>
      commentsOf(text)
        .flatMap(look)
        .map(one => `${path}: ${one}`),
    );
}

test('no comment cites a section by its number alone', () => {
  expect(found(bareCitations)).toEqual([]);
});

test('every page and anchor that a comment cites exists', () => {
  expect(found(brokenCitations)).toEqual([]);
});

test.each([
  'parsers do not run (10.2).',
  'errors (3.2, 3.3), with a line',
  'streams (wire-format 1.5, step 6)',
  'paths (logql reference 7.2)',
  'targets (contract, 1)',
  'blocks (docs/dev/format.md, 4.7)',
  'the format, section 10',
  'the table (docs/dev/format.md, "Blocks")',
  'see issue 9',
])('%j is a bare citation', comment => {
  expect(bareCitations(comment)).toHaveLength(1);
});

test.each([
  '0.5 s for 1 MiB',
  '(0.123 ms)',
  '(RFC 3629, section 4)',
  'TLS 1.2',
  'docs/dev/format.md#47-split-lines',
])('%j is not', comment => {
  expect(bareCitations(comment)).toEqual([]);
});

test('missing pages and anchors are found', () => {
  const comment = 'see docs/dev/format.md#2-blocks, #no-such and docs/dev/none.md#a';
  expect(brokenCitations(comment)).toEqual([
    'docs/dev/format.md#no-such: no anchor',
    'docs/dev/none.md: no file',
  ]);
});

test('finds the comments and titles of a source', () => {
  const source =
    "/**\n * One\n * (logql\n * reference 7.2) */\nconst a = '(1.2)'; // two\ntest('three', () => {\n";
  expect(commentsOf(source)).toEqual(['One (logql reference 7.2) */', 'two', 'three']);
});
