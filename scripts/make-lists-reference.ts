/**
 * Updates the lists of reference pages that are otherwise written by hand: run `node scripts/make-lists-reference.ts` after changing
 * what they show.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { LISTS, withLists } from './reference-lists.ts';

for (const page of new Set(LISTS.map(list => list.page))) {
  const file = new URL(`../${page}`, import.meta.url);
  writeFileSync(file, withLists(page, readFileSync(file, 'utf8')));
  process.stdout.write(`${page} is up to date\n`);
}
