/**
 * Updates the options in docs/reference/cli.md: run `node scripts/make-cli-reference.ts` after changing a
 * command.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { CLI_MARK, CLI_PAGE, cliReference } from './cli-reference.ts';

const page = new URL(`../${CLI_PAGE}`, import.meta.url);
const [byHand] = readFileSync(page, 'utf8').split(CLI_MARK, 1);
writeFileSync(page, byHand + CLI_MARK + (await cliReference()));
process.stdout.write(`${CLI_PAGE} is up to date\n`);
