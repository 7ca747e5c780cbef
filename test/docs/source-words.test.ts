/** Comments, test titles and comments of shipped configuration follow the language guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from './pages.ts';
import { unplainWords } from './plain-words.ts';
import { commentsOf, sources } from './sources.ts';

/** These quote the words. */
const OWN = /^test\/docs\//;
const CONFIGURATION = [
  ...['bench', 'local', 'steady'].map(name => `config/${name}.yaml`),
  ...['Dockerfile', 'compose.yaml', 'logboom.service', 'logboom.yaml'].map(name => `packaging/${name}`),
  ...['one-machine', 'over-s3'].map(name => `packaging/kubernetes/${name}.yaml`),
];

const withoutCode = (comment: string): string => comment.replace(/`[^`]*`/g, '``');

test('comments and test titles use plain words', () => {
  const found = sources()
    .filter(([path]) => !OWN.test(path))
    .flatMap(([path, text]) =>
      commentsOf(text)
        .flatMap(comment => unplainWords(withoutCode(comment)))
        .map(one => `${path}: ${one}`),
    );
  expect(found).toEqual([]);
});

test.each(CONFIGURATION)('comments of %s use plain words', name => {
  const lines = readFileSync(join(ROOT, name), 'utf8').split('\n');
  const comments = lines.flatMap(line => /^\s*#(.*)$/.exec(line)?.[1] ?? []);
  expect(comments.length).toBeGreaterThan(0);
  expect(unplainWords(withoutCode(comments.join(' ')))).toEqual([]);
});
