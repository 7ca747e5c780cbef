/** Comments, test titles, messages and comments of shipped configuration follow the language guide. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { ROOT } from './pages.ts';
import { unplainWords } from './plain-words.ts';
import { commentsOf, messagesOf, sources } from './sources.ts';

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

/** The words of Loki, which clients compare. */
const OF_LOKI = new Set(['the request was cancelled by the client']);

test('messages use plain words', () => {
  const found = sources()
    .filter(([path]) => /^(bin|functions|lib|local|shared|ui)\//.test(path))
    .flatMap(([path, text]) =>
      messagesOf(text)
        .filter(message => !OF_LOKI.has(message))
        .flatMap(message => unplainWords(withoutCode(message)))
        .map(one => `${path}: ${one}`),
    );
  expect(found).toEqual([]);
});

test('messages of a source', () => {
  const template = ['`in $', '{told} parts`'].join('');
  const source = `// no 'such thing'\nlog('chunk stored', ${template});\nconst a = <p>No lines yet</p>;\n`;
  expect(messagesOf(source)).toEqual(['chunk stored', 'in parts', 'No lines yet']);
});

test.each(CONFIGURATION)('comments of %s use plain words', name => {
  const lines = readFileSync(join(ROOT, name), 'utf8').split('\n');
  const comments = lines.flatMap(line => /^\s*#(.*)$/.exec(line)?.[1] ?? []);
  expect(comments.length).toBeGreaterThan(0);
  expect(unplainWords(withoutCode(comments.join(' ')))).toEqual([]);
});
