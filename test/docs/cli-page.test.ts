/** docs/reference/cli.md has the help of every command, and completion scripts have the words of every command. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { createProgram } from '../../bin/cli/program.ts';
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

/** Rows of the section about logcli: its cell of flags, and the command that the cell names. */
function logcliRows(): readonly { readonly flags: readonly string[]; readonly command: string }[] {
  const page = readFileSync(join(ROOT, CLI_PAGE), 'utf8');
  const [, section] = page.split('## Coming from logcli');
  const rows = section.split('\n## ')[0].matchAll(/^\| (.*?[^\\]) \| (.*) \|$/gm);
  return [...rows]
    .filter(([, , instead]) => !instead.startsWith('none'))
    .map(([, cell]) => ({
      flags: [...cell.matchAll(/`(--?[a-zA-Z][a-zA-Z-]*)/g)].map(([, flag]) => flag),
      command: / of `([a-z-]+)`/.exec(cell)?.[1] ?? 'query',
    }));
}

test(`the commands accept every flag of logcli that ${CLI_PAGE} maps`, async () => {
  const rows = logcliRows();
  const flags = rows.flatMap(row => row.flags.map(flag => ({ flag, command: row.command })));
  expect(flags.length).toBeGreaterThan(50);
  const known = await Promise.all(
    flags.map(async ({ flag, command: name }) => {
      const [command] = (await createProgram(name)).commands;
      return command.options.some(({ long, short }) => flag === long || flag === short);
    }),
  );
  expect(flags.filter((_, i) => !known[i])).toEqual([]);
});
