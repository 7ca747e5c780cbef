/** Messages in the tables of symptoms are those that the store prints. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { pathOf, userPages } from './pages.ts';
import { sources } from './sources.ts';

/** First columns of tables that quote messages. */
const HEAD = /^\| (?:you see|response|message) \|/;

const code = sources()
  .filter(([path]) => /^(bin|functions|local|shared|ui)\//.test(path))
  .map(([, text]) => text)
  .join('\n');

/** Messages in the first columns, cut at `...`, capitals that stand for a value, and numbers of a default. */
function messagesOf(page: string): string[] {
  const lines = readFileSync(pathOf(page), 'utf8').split('\n');
  let isTable = false;
  return lines.flatMap(line => {
    if (HEAD.test(line)) isTable = true;
    else if (!line.startsWith('|')) isTable = false;
    if (!isTable) return [];
    const spans = [...line.split('|')[1].matchAll(/`([^`]+)`/g)].map(([, span]) => span);
    return spans.filter(span => /[a-z] [a-z]/.test(span)).flatMap(partsOf);
  });
}

function partsOf(message: string): string[] {
  return message
    .split(/\.\.\.|\b[A-Z]{3,}\b|\d+%?|[():]/)
    .map(part => part.trim())
    .filter(part => /[a-z] [a-z]/.test(part));
}

const messages = userPages().flatMap(page => messagesOf(page).map(message => [page, message] as const));

test('pages quote messages', () => {
  expect(new Set(messages.map(([page]) => page)).size).toBeGreaterThan(3);
});

test.each(messages)('%s: the store prints %j', (_page, message) => {
  expect(code).toContain(message);
});
