/** Help of every command for docs/reference/cli.md, and their words for completion scripts. */
import type { Command } from 'commander';
import { wordsOf } from '../bin/cli/completion/words.ts';
import { createProgram } from '../bin/cli/program.ts';

export const CLI_PAGE = 'docs/reference/cli.md';
export const WORDS_FILE = 'bin/cli/completion/command-words.json';
/** End of the handwritten part of the page. */
export const CLI_MARK =
  '<!-- Generated from here on by `node scripts/make-cli-reference.ts`: do not edit below. -->\n';
const WIDTH = 100;
/** Connection options: equal for all commands, so they are shown only with the first one. */
const STORE_OPTIONS = /^(The store|Connection options) \([^\n]*\n(?: .*\n)+\n?/m;

export async function cliReference(): Promise<string> {
  const program = await createProgram();
  const sections: string[] = [];
  let hasStoreOptions = false;
  for (const command of program.commands.flatMap(leavesOf)) {
    const path = pathOf(command);
    let help = helpOf(command);
    if (STORE_OPTIONS.test(help)) {
      if (hasStoreOptions) help = help.replace(STORE_OPTIONS, '(and the store options of logboom push)\n\n');
      hasStoreOptions = true;
    }
    sections.push(`### logboom ${path}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`);
  }
  return `\n## Options of every command\n\n${sections.join('\n')}`;
}

/** Text of WORDS_FILE, with one command per line. */
export async function commandWords(): Promise<string> {
  const lines = wordsOf(await createProgram()).map(command => JSON.stringify(command));
  return `[\n${lines.join(',\n')}\n]\n`;
}

function leavesOf(command: Command): readonly Command[] {
  const below = command.commands.filter(each => each.name() !== 'help');
  return below.length === 0 ? [command] : [command, ...below.flatMap(leavesOf)];
}

function pathOf(command: Command): string {
  const { parent } = command;
  return parent === null || parent.parent === null ? command.name() : `${pathOf(parent)} ${command.name()}`;
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: piece => (text += piece),
    getOutHelpWidth: () => WIDTH,
    getOutHasColors: () => false,
  });
  command.outputHelp();
  return text;
}
