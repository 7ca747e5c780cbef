/** Command tree of `logboom`, also used for completions. */
import { Command } from 'commander';
import { LOGBOOM_VERSION } from '../../shared/server/admin/build-info.ts';
import { VERSION } from './command-first.ts';
import { registerOverview } from './overview.ts';

interface CommandModule {
  /** `whole` makes the program with all commands, for one that describes the others. */
  register(program: Command, whole: (name?: string) => Promise<Command>): void;
}

/** Commands in the order of the help. */
const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  start: () => import('../commands/start.ts'),
  push: () => import('../commands/push.ts'),
  migrate: () => import('../commands/migrate.ts'),
  export: () => import('../commands/export.ts'),
  query: () => import('../commands/query.ts'),
  instant: () => import('../commands/instant.ts'),
  tail: () => import('../commands/tail.ts'),
  view: () => import('../commands/view.ts'),
  labels: () => import('../commands/labels.ts'),
  series: () => import('../commands/series.ts'),
  stats: () => import('../commands/stats.ts'),
  volume: () => import('../commands/volume.ts'),
  'volume-range': () => import('../commands/volume-range.ts'),
  canary: () => import('../commands/canary.ts'),
  patterns: () => import('../commands/patterns.ts'),
  'detected-fields': () => import('../commands/detected-fields.ts'),
  fmt: () => import('../commands/fmt.ts'),
  context: () => import('../commands/context.ts'),
  delete: () => import('../commands/delete.ts'),
  rules: () => import('../commands/rules.ts'),
  mcp: () => import('../commands/mcp.ts'),
  inspect: () => import('../commands/inspect.ts'),
  doctor: () => import('../commands/doctor.ts'),
  config: () => import('../commands/config.ts'),
  tenant: () => import('../commands/tenant.ts'),
  token: () => import('../commands/token.ts'),
  cost: () => import('../commands/cost.ts'),
  completion: () => import('../commands/completion.ts'),
  'complete-words': () => import('../commands/complete-words.ts'),
};

/** Aliases, listed here so that they load only one command, too. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['instant-query', 'instant'],
  ['volume_range', 'volume-range'],
]);

const HELP: ReadonlySet<string> = new Set(['-h', '--help']);

const NOTES = `
Exit codes:
  0  success
  1  failure, or refused by the store
  2  usage error
  3  store unreachable
  4  no results, with --fail-on-empty
doctor has its own exit codes.

For every command, see docs/cli.md.

Examples:
  logboom start                                     start a store with its data in ./data
  logboom push app.log --label app=shop             push a file
  logboom query '{app="shop"} |= "error"'           find lines
  logboom query --help                              show options and examples of a command`;

/**
 * Creates the program: only with the named command if it exists, without commands for --version, with a list of
 * them for --help, else with all.
 */
export async function createProgram(name?: string): Promise<Command> {
  const program = new Command('logboom')
    .description("A multi-tenant log store with Loki's HTTP API and LogQL")
    .version(LOGBOOM_VERSION)
    .showHelpAfterError('(see --help)')
    .addHelpText('after', NOTES)
    .exitOverride();
  if (name !== undefined && HELP.has(name)) {
    registerOverview(program);
    return program;
  }
  const meant = name === undefined ? undefined : (ALIASES.get(name) ?? name);
  const isOne = meant !== undefined && Object.hasOwn(COMMANDS, meant);
  const named = isOne ? [meant] : meant !== undefined && VERSION.has(meant) ? [] : Object.keys(COMMANDS);
  for (const each of named) (await COMMANDS[each]()).register(program, createProgram);
  return program;
}
