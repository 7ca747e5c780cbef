/** Lists of reference pages that come from code. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { LISTS, withLists } from '../../scripts/reference-lists.ts';
import { ROOT } from './pages.ts';

test.each([...new Set(LISTS.map(({ page }) => page))])(
  '%s has the lists of the code: after a change, node scripts/make-lists-reference.ts',
  page => {
    const text = readFileSync(join(ROOT, page), 'utf8');
    expect(text).toBe(withLists(page, text));
  },
);

test('a page without the place of a list is an error', () => {
  const [{ page, name }] = LISTS;
  expect(() => withLists(page, `<!-- ${name}: begin -->\n`)).toThrow('has no place for the list');
});
