/**
 * The command line. Commands are loaded when they are named, so that a small one starts fast; `--help` loads all. The
 * check of the runtime comes before any import that an older one could not read.
 */
import type { Command } from 'commander';

const NEEDED_MAJOR = 24;

interface CommandModule {
  register(program: Command): void;
}

const COMMANDS: Readonly<Record<string, () => Promise<CommandModule>>> = {
  start: () => import('./commands/start.ts'),
  push: () => import('./commands/push.ts'),
  query: () => import('./commands/query.ts'),
  tail: () => import('./commands/tail.ts'),
  delete: () => import('./commands/delete.ts'),
  rules: () => import('./commands/rules.ts'),
  inspect: () => import('./commands/inspect.ts'),
  doctor: () => import('./commands/doctor.ts'),
};

if (Number.parseInt(process.versions.node, 10) < NEEDED_MAJOR) {
  process.stderr.write(
    `logboom: Node ${NEEDED_MAJOR} or newer is needed, this is ${process.version}. ` +
      'Start it with bin/logboom.mjs (npm start), which brings its own.\n',
  );
  process.exit(1);
}
await main(process.argv);

async function main(argv: readonly string[]): Promise<void> {
  const { Command } = await import('commander');
  const { LOGBOOM_VERSION } = await import('../shared/admin/build-info.ts');
  const program = new Command('logboom')
    .description("A multi-tenant log store with Loki's HTTP API and LogQL")
    .version(LOGBOOM_VERSION)
    .showHelpAfterError();
  const named = argv[2] !== undefined && Object.hasOwn(COMMANDS, argv[2]) ? [argv[2]] : Object.keys(COMMANDS);
  for (const name of named) (await COMMANDS[name]()).register(program);
  await program.parseAsync(argv);
}
