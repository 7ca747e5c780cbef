/** `logboom stats SELECTOR`: shows the amount of data that a selector matches, from the index only. */
import type { Command } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { rangeOfFlags } from '../cli/range-options.ts';
import { askStats } from '../cli/store-listings.ts';
import { addFactsOptions, type FactsFlags, printFacts } from '../cli/table-command.ts';

const NOTES = `
Examples:
  logboom stats '{app="shop"}'
  logboom stats '{app="shop"}' --since 7d --output jsonl`;

export function register(program: Command): void {
  const command = program
    .command('stats')
    .description('count streams, chunks, entries, and bytes')
    .argument('<selector>', 'stream selector, for example \'{app="shop"}\'');
  addFactsOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (query: string, flags: FactsFlags) => {
        await printFacts(askStats(flags, { range: rangeOfFlags(flags), query }), flags);
      }),
    );
}
