/** `logboom view [QUERY]`: shows queries, entries and a live tail on the whole terminal. */
import { type Command, Option } from 'commander';
import { asAction, UsageError } from '../cli/command-error.ts';
import { addRangeOptions, parsePositive, TIME_NOTE } from '../cli/range-options.ts';
import { addStoreOptions } from '../cli/store-client.ts';
import type { ViewFlags } from '../cli/view/run-view.ts';

const DEFAULT_LIMIT = 1000;

const NOTES = `
The first row is the query. The second shows the number of entries over the time range. The entries follow, newest first.

Keys of the query:
  Tab           complete a label, a value or a stage at the cursor
  Enter         run the query
  Esc           go to the list
Keys of the list:
  Up, Down, Page Up, Page Down, Home, End   select an entry
  Enter         show or hide its labels and its whole line
  Left, Right   select one of the labels
  + -           keep or drop entries with this value of the label
  t             start or stop the live tail
  r             run the query again
  /             edit the query
  q             quit

${TIME_NOTE}

Examples:
  logboom view '{app="shop"} |= "error"'
  logboom view '{app="shop"}' --since 6h --limit 5000`;

export function register(program: Command): void {
  const command = program
    .command('view')
    .description('browse entries in the terminal')
    .argument('[query]', 'log query')
    .addOption(
      new Option('--limit <count>', 'maximum number of entries')
        .argParser(parsePositive)
        .default(DEFAULT_LIMIT),
    );
  addRangeOptions(command);
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(view));
}

async function view(query: string | undefined, flags: ViewFlags): Promise<void> {
  if (!process.stdin.isTTY || !process.stdout.isTTY)
    throw new UsageError('view needs a terminal; use `logboom query` in pipes and scripts');
  const { runView } = await import('../cli/view/run-view.ts');
  await runView(query ?? '', flags);
}
