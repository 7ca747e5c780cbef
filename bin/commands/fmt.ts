/** `logboom fmt [QUERY]`: prints a LogQL query in the canonical layout, without a store. */
import type { Command } from 'commander';
import { ClientError } from '../../shared/base/model/errors.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { prettyPrint } from '../../shared/language/logql/pretty.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { endWithReader, print } from '../cli/standard-output.ts';

/** Maximum input, longer than any query that a store accepts. */
const MAX_INPUT_BYTES = 1024 * 1024;

const NOTES = `
Examples:
  logboom fmt 'sum by(level)(rate({app="shop"}|json[5m]))'
  logboom fmt < query.logql`;

export function register(program: Command): void {
  program
    .command('fmt')
    .description('format a LogQL query')
    .argument('[query]', 'LogQL (default: standard input)')
    .addHelpText('after', NOTES)
    .action(asAction(fmt));
}

async function fmt(query: string | undefined): Promise<void> {
  endWithReader();
  const text = query ?? (await standardInput());
  let formatted: string;
  try {
    formatted = prettyPrint(parseQuery(text.trim()));
  } catch (error) {
    if (error instanceof ClientError) throw new CommandError(error.message);
    throw error;
  }
  await print(`${formatted}\n`);
}

async function standardInput(): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of process.stdin) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes > MAX_INPUT_BYTES) throw new CommandError('the query is longer than 1 MiB; is it LogQL?');
  }
  return Buffer.concat(pieces).toString('utf8');
}
