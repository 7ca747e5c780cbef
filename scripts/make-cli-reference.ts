/**
 * Updates the options in docs/reference/cli.md, and the words of completion scripts: run
 * `node scripts/make-cli-reference.ts` after changing a command.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { CLI_MARK, CLI_PAGE, cliReference, commandWords, WORDS_FILE } from './cli-reference.ts';

const page = new URL(`../${CLI_PAGE}`, import.meta.url);
const [byHand] = readFileSync(page, 'utf8').split(CLI_MARK, 1);
writeFileSync(page, byHand + CLI_MARK + (await cliReference()));
writeFileSync(new URL(`../${WORDS_FILE}`, import.meta.url), await commandWords());
process.stdout.write(`${CLI_PAGE} and ${WORDS_FILE} are up to date\n`);
