/**
 * Options of logcli's `query` that have another name or place here, so that a script for logcli either works
 * or shows what to write. They are not in the help. docs/reference/cli.md has the whole table.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';

/** Options of parallel queries. `logboom export` does their work. */
const EXPORT_FLAGS: readonly (readonly [flags: string, instead: string])[] = [
  ['--parallel-duration <duration>', '--part'],
  ['--parallel-max-workers <count>', '--parallel'],
  ['--part-path-prefix <path>', '--parts-dir'],
];
const EXPORT_SWITCHES: readonly (readonly [flags: string, instead: string])[] = [
  ['--merge-parts', 'without --parts-dir, which writes one file'],
  ['--keep-parts', 'with --parts-dir, which keeps the parts'],
  ['--overwrite-completed-parts', 'with --parts-dir, after deleting _export.jsonl in that folder'],
];

export function addLogcliQueryOptions(command: Command): void {
  for (const [flags, instead] of EXPORT_FLAGS) {
    const refuse = () => {
      throw new InvalidArgumentError(`For parallel queries, use \`logboom export\` with ${instead}.`);
    };
    command.addOption(new Option(flags).argParser(refuse).hideHelp());
  }
  for (const [flags, instead] of EXPORT_SWITCHES) {
    const option = new Option(flags).hideHelp();
    command.addOption(option);
    command.on(`option:${option.name()}`, () =>
      command.error(`error: for ${flags}, use \`logboom export\` ${instead}`),
    );
  }
  command.addOption(new Option('--colored-output').hideHelp());
  command.on('option:colored-output', () => {
    process.env.FORCE_COLOR = '1';
  });
}
