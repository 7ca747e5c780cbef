/** `logboom stats SELECTOR`: shows the amount of data that a selector matches, from the index only. */
import type { Command } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { rangeOfFlags } from '../cli/range-options.ts';
import { fetchStats } from '../cli/store-listings.ts';
import { addTableOptions, printTable, type TableFlags } from '../cli/table-command.ts';

const NOTES = `
Examples:
  logboom stats '{app="shop"}'
  logboom stats '{app="shop"}' --since 7d --output jsonl`;

export function register(program: Command): void {
  const command = program
    .command('stats')
    .description('count streams, chunks, entries, and bytes')
    .argument('<selector>', 'stream selector, for example \'{app="shop"}\'');
  addTableOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (query: string, flags: TableFlags) => {
        await printTable(fetchStats(flags, { range: rangeOfFlags(flags), query }), flags);
      }),
    );
}
