/**
 * `logboom complete-words LINE`: called by the scripts of `logboom completion` when words come from the store. Prints
 * the words for the last word of the line, one per line. It prints no errors and exits with 0, because a shell shows
 * messages in the middle of what is typed.
 */
import { type Command, Option } from 'commander';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { commandFirst } from '../cli/command-first.ts';
import { escapedWord, shellWords } from '../cli/completion/shell-line.ts';
import { type LabelWords, storeWords } from '../cli/completion/store-words.ts';
import { addExamples } from '../cli/examples.ts';
import { parsePositive, type RangeFlags, rangeOfFlags } from '../cli/range-options.ts';
import { print } from '../cli/standard-output.ts';
import type { StoreFlags } from '../cli/store-client.ts';
import { fetchLabels } from '../cli/store-listings.ts';

/** A person waits after Tab. */
const DEFAULT_TIMEOUT_MS = 2000;
const LINE_BREAKS = /\p{Cc}/u;

export function register(program: Command, whole: (name: string) => Promise<Command>): void {
  const command = program
    .command('complete-words', { hidden: true })
    .description('print the words that complete a line, from the labels of the store')
    .argument('<line>', 'line of a shell up to the cursor')
    .addOption(
      new Option('--timeout <ms>', 'maximum time to wait')
        .argParser(parsePositive)
        .default(DEFAULT_TIMEOUT_MS),
    )
    .addOption(new Option('--raw', 'escape completions for the open quote of the line'))
    .action(async (line: string, { timeout, raw }: Flags) => {
      const late = setTimeout(() => process.exit(), timeout);
      const words = await wordsFor(line, whole).catch(() => []);
      clearTimeout(late);
      const { quote } = lastOf(shellWords(line));
      const lines = words
        // Shells take a line for a word.
        .filter(word => !LINE_BREAKS.test(word))
        .map(word => `${raw ? escapedWord(word, quote) : word}\n`);
      await print(lines.join(''));
    });
  addExamples(
    command,
    `logboom complete-words "logboom query '{app=\\"sh"`,
    "logboom complete-words 'logboom labels ap'",
  );
}

interface Flags {
  readonly timeout: number;
  readonly raw?: boolean;
}

async function wordsFor(line: string, whole: (name: string) => Promise<Command>): Promise<readonly string[]> {
  const all = shellWords(line);
  const word = lastOf(all);
  const args = commandFirst(all.slice(1).map(({ text }) => text));
  const program = await whole(args[0]);
  let found: Command | undefined;
  const silent = { writeOut: () => undefined, writeErr: () => undefined };
  program.configureOutput(silent);
  for (const command of commandsOf(program)) {
    command
      .configureOutput(silent)
      .allowUnknownOption()
      .allowExcessArguments()
      .action(() => {
        found = command;
      });
  }
  await program.parseAsync(args, { from: 'user' });
  if (found === undefined) return [];
  const flags = found.opts<StoreFlags & Partial<RangeFlags>>();
  const labels: LabelWords = async name => {
    const { since = NS_PER_HOUR, ...rest } = flags;
    const { rows } = await fetchLabels(flags, { range: rangeOfFlags({ since, ...rest }) }, name);
    return rows.map(([each]) => String(each));
  };
  return storeWords({ command: found.name(), before: args.slice(1, -1), word }, labels);
}

function commandsOf(program: Command): Command[] {
  return program.commands.flatMap(each => [each, ...commandsOf(each)]);
}

function lastOf<T>(list: readonly T[]): T {
  return list[list.length - 1];
}
