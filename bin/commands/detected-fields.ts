/** `logboom detected-fields QUERY [FIELD]`: lists the fields of lines, or the values of one field. */
import { type Command, Option } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { parsePositive, rangeOfFlags } from '../cli/range-options.ts';
import { fetchFields } from '../cli/store-listings.ts';
import { addTableOptions, printTable, type TableFlags } from '../cli/table-command.ts';

interface Flags extends TableFlags {
  readonly limit?: number;
  readonly lineLimit?: number;
}

const NOTES = `
The store parses the newest lines (--line-limit) as JSON or logfmt, and counts distinct values.

Examples:
  logboom detected-fields '{app="shop"}'
  logboom detected-fields '{app="shop"}' --line-limit 1000 --output table
  logboom detected-fields '{app="shop"}' status        values of the field status`;

export function register(program: Command): void {
  const command = program
    .command('detected-fields')
    .description('list the fields of lines with types and numbers of values, or the values of a field')
    .argument('<query>', 'log query, for example \'{app="shop"}\'')
    .argument('[field]', 'field whose values to list')
    .addOption(new Option('--limit <count>', 'maximum number of fields or values').argParser(parsePositive))
    .addOption(new Option('--line-limit <lines>', 'number of lines to inspect').argParser(parsePositive));
  addTableOptions(command)
    .addHelpText('after', NOTES)
    .action(
      asAction(async (query: string, field: string | undefined, flags: Flags) => {
        const { limit, lineLimit } = flags;
        const question = { range: rangeOfFlags(flags), query, limit, lineLimit };
        await printTable(fetchFields(flags, question, field), flags);
      }),
    );
}
