/**
 * Names, arguments and descriptions of the commands, for `logboom --help`. Loading all commands for it would take
 * 0.12 s. A test compares it with the commands themselves.
 */
import { type Command, Option } from 'commander';

/** Terms and descriptions as the help shows them. */
const COMMANDS: readonly (readonly [term: string, about: string])[] = [
  ['start [options]', 'run a store on this machine'],
  ['push [options] <files...>', 'push log files or standard input'],
  ['migrate', 'copy entries and rules from another store'],
  ['export [options] <query>', 'write all entries of a log query to files'],
  ['query [options] <query>', 'run a LogQL query'],
  ['instant|instant-query [options] <query>', 'run a metric query at one time'],
  ['tail [options] <query>', 'follow entries as they are pushed'],
  ['view [options] [query]', 'browse entries in the terminal'],
  ['labels [options] [label]', 'list label names, or the values of a label'],
  ['series [options] [selectors...]', 'list streams by their labels'],
  ['stats [options] <selector>', 'count streams, chunks, entries, and bytes'],
  ['volume [options] <selector>', 'list bytes of streams, largest first'],
  ['volume-range|volume_range [options] <selector>', 'show bytes of streams over time'],
  ['canary [options]', 'write known entries and verify that the store returns each of them once'],
  ['patterns [options] <query>', 'list the patterns of lines, most frequent first'],
  [
    'detected-fields [options] <query> [field]',
    'list the fields of lines with types and numbers of values, or the values of a field',
  ],
  ['fmt [query]', 'format a LogQL query'],
  ['context', 'manage named sets of connection options: set, use, list, show, delete'],
  ['delete', 'manage delete requests: create, list, cancel, watch'],
  ['rules', 'manage recording and alerting rules: lint, diff, load, list, delete, test'],
  ['mcp [options]', 'serve read-only tools to assistants (Model Context Protocol)'],
  ['inspect [options] <file>', 'show the contents of a chunk and verify its checksums'],
  ['doctor [options]', 'verify the store and the machine, or rebuild the catalog'],
  ['config', 'validate a configuration'],
  ['tenant', 'rename a tenant'],
  ['token', 'create, list, and revoke access tokens'],
  ['cost [options]', 'estimate the monthly cost on AWS'],
  ['completion <shell>', 'print a completion script for a shell'],
];
const OPTIONS = ' [options]';

/** Names and aliases. */
export const COMMAND_NAMES: ReadonlySet<string> = new Set(
  COMMANDS.flatMap(([term]) => term.split(' ', 1)[0].split('|')),
);

/** Adds commands that can be listed, but not run. */
export function registerOverview(program: Command): void {
  for (const [term, about] of COMMANDS) {
    const [names, ...args] = term.replace(OPTIONS, '').split(' ');
    const [name, alias] = names.split('|');
    const command = program.command([name, ...args].join(' ')).description(about);
    if (alias !== undefined) command.alias(alias);
    if (term.includes(OPTIONS)) command.addOption(new Option('--any').hideHelp());
  }
}
