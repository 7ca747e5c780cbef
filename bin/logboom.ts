/** Command line. Each command is loaded on demand, so that small ones start fast; `help` and `completion` load all. */
import type { Command } from 'commander';

void main(process.argv);

async function main(argv: readonly string[]): Promise<void> {
  const { CommanderError } = await import('commander');
  const { commandFirst } = await import('./cli/command-first.ts');
  const { createProgram } = await import('./cli/program.ts');
  const { EXIT_USAGE } = await import('./cli/command-error.ts');
  const { endWithReader } = await import('./cli/standard-output.ts');
  // Help may be piped to `head`, too.
  endWithReader();
  const args = commandFirst(argv.slice(2));
  const program: Command = await createProgram(args[0] ?? '--help');
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // Commander has printed the error. Requested help is not a failure.
    process.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE;
  }
}
