/** `logboom patterns QUERY`: lists the patterns of lines with counts (docs/dev/patterns.md). */
import { type Command, Option } from 'commander';
import { asAction, CommandError } from '../cli/command-error.ts';
import { parseCount, rangeOfFlags } from '../cli/range-options.ts';
import { fetchPatterns } from '../cli/store-listings.ts';
import { addTableOptions, printTable, type TableFlags } from '../cli/table-command.ts';
import type { TextTable } from '../cli/table-text.ts';

interface Flags extends TableFlags {
  readonly limit: number;
}

const DEFAULT_LIMIT = 50;

const NOTES = `
Examples:
  logboom patterns '{app="shop"}'
  logboom patterns '{app="shop"}' --since 15m --limit 0 --output csv`;

export function register(program: Command): void {
  const command = program
    .command('patterns')
    .description('list the patterns of lines, most frequent first')
    .argument('<query>', 'stream selector, for example \'{app="shop"}\'')
    .addOption(
      new Option('--limit <patterns>', 'maximum number of patterns (0 = unlimited)')
        .argParser(parseCount)
        .default(DEFAULT_LIMIT),
    );
  addTableOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (query: string, flags: Flags) => {
        const found = fetchPatterns(flags, { range: rangeOfFlags(flags), query });
        const shown = found.then(table => firstRows(table, flags.limit), explainOff);
        await printTable(shown, flags);
      }),
    );
}

/** Explains the response of a store that has patterns disabled; it sends that response for nothing else. */
function explainOff(error: unknown): never {
  if (!(error instanceof CommandError) || error.message !== '404 Not Found') throw error;
  throw new CommandError(
    'pattern mining is disabled; set pattern_ingester.enabled in the configuration of the store',
    {
      cause: error,
    },
  );
}

function firstRows({ columns, rows }: TextTable, limit: number): TextTable {
  return { columns, rows: limit === 0 ? rows : rows.slice(0, limit) };
}
