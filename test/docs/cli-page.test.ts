/** docs/reference/cli.md has the help of every command, and completion scripts have the words of every command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { CLI_MARK, CLI_PAGE, cliReference, commandWords, WORDS_FILE } from '../../scripts/cli-reference.ts';
import { ROOT } from './pages.ts';

test(`${CLI_PAGE} is up to date: after a change of commands, node scripts/make-cli-reference.ts`, async () => {
  const reference = await cliReference();
  expect(readFileSync(join(ROOT, CLI_PAGE), 'utf8').split(CLI_MARK)[1]).toBe(reference);
  expect(reference).toContain('### logboom delete create\n');
  // Shown in full with the first command that has them.
  expect(reference.match(/^ {2}--tls-skip-verify/gm)?.length).toBeLessThan(4);
});

test(`${WORDS_FILE} is up to date: after a change of commands, node scripts/make-cli-reference.ts`, async () => {
  const words = await commandWords();
  expect(readFileSync(join(ROOT, WORDS_FILE), 'utf8')).toBe(words);
  expect(words).toContain('{"path":"delete create",');
});
