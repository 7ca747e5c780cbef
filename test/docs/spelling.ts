/** American English by typo-js, and the words of this project in words.txt, one a line, as they are written. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Typo from 'typo-js';

export function readDictionary(): (word: string) => boolean {
  const typo = new Typo('en_US');
  const own = new Set(readFileSync(join(import.meta.dirname, 'words.txt'), 'utf8').split('\n'));
  const known = new Map<string, boolean>();
  return word => {
    const before = known.get(word);
    if (before !== undefined) return before;
    const isKnown = own.has(word) || own.has(word.toLowerCase()) || typo.check(word.replaceAll('’', "'"));
    known.set(word, isKnown);
    return isKnown;
  };
}
