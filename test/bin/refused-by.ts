/**
 * Responses of the command line to invalid words, without a process: parsing fails before a command runs. One
 * test checks that a failure ends a process with code 2 (program.test.ts).
 */
import { type Command, CommanderError } from 'commander';
import { createProgram } from '../../bin/cli/program.ts';

/** Returns the message. Throws if the words are valid. */
export async function refusedBy(args: readonly string[]): Promise<string> {
  const program = await createProgram(args[0]);
  let said = '';
  const keep = (text: string) => {
    said += text;
  };
  for (const command of everyCommand(program)) {
    command.configureOutput({ writeErr: keep, writeOut: keep });
    command.hook('preAction', () => {
      throw new Error(`${JSON.stringify(args)} was understood`);
    });
  }
  try {
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode !== 0) return said;
    throw error;
  }
  throw new Error(`${JSON.stringify(args)} ended without a refusal`);
}

function everyCommand(command: Command): Command[] {
  return [command, ...command.commands.flatMap(everyCommand)];
}
