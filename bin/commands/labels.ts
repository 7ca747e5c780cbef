/** `logboom labels [LABEL]`: names of labels, or the values of one. */
import { type Command, Option } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { rangeOfFlags } from '../cli/range-options.ts';
import { fetchLabels } from '../cli/store-listings.ts';
import { addTableOptions, printTable, type TableFlags } from '../cli/table-command.ts';

interface Flags extends TableFlags {
  readonly query?: string;
}

const NOTES = `
Examples:
  logboom labels                                names, one per line
  logboom labels app                            values of the label app
  logboom labels pod --query '{app="shop"}'     only of these streams
  logboom labels app --since 7d --output jsonl`;

export function register(program: Command): void {
  const command = program
    .command('labels')
    .description('list label names, or the values of a label')
    .argument('[label]', 'label whose values to list')
    .addOption(new Option('--query <selector>', 'only these streams'));
  addTableOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (name: string | undefined, flags: Flags) => {
        const question = { range: rangeOfFlags(flags), query: flags.query };
        await printTable(fetchLabels(flags, question, name), flags);
      }),
    );
}
