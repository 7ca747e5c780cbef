/** Shared parts of the commands that print a table: options, waiting, printing. */
import { type Command, Option } from 'commander';
import { EXIT_NOTHING_FOUND } from './command-error.ts';
import { addRangeOptions, type RangeFlags } from './range-options.ts';
import { endWithReader, maxCellsOfOutput, print, report, shown } from './standard-output.ts';
import { addStoreOptions, type StoreFlags } from './store-client.ts';
import { TABLE_OUTPUTS, type TableOutput, type TextTable, tableText } from './table-text.ts';
import { startWaiting } from './waiting-line.ts';

export interface TableFlags extends StoreFlags, RangeFlags {
  readonly output: TableOutput;
  readonly failOnEmpty?: boolean;
}

export function addTableOptions(
  command: Command,
  { outputs = TABLE_OUTPUTS as readonly string[] } = {},
): Command {
  addRangeOptions(command)
    .addOption(new Option('-o, --output <form>', 'output format').choices(outputs).default('default'))
    .addOption(new Option('--fail-on-empty', 'exit with code 4 if nothing is found'));
  return addStoreOptions(command);
}

/** Awaits a response and shows a waiting line. */
export async function waitFor<T>(answer: Promise<T>): Promise<T> {
  endWithReader();
  const waiting = startWaiting(process.stderr);
  try {
    return await answer;
  } finally {
    waiting.stop();
  }
}

export async function printTable(
  answer: Promise<TextTable>,
  { output, failOnEmpty }: TableFlags,
): Promise<void> {
  const table = await waitFor(answer);
  if (table.rows.length === 0) return endEmpty(failOnEmpty);
  await print(tableText(table, output, { maxCells: maxCellsOfOutput(), shown }));
}

/** Handles an empty result: prints no output and no heading, and a note for people. */
export function endEmpty(failOnEmpty = false): void {
  if (process.stderr.isTTY) report('nothing found\n');
  if (failOnEmpty) process.exitCode = EXIT_NOTHING_FOUND;
}
