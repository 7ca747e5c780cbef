/** Examples at the end of the help of a subcommand, one per line. */
import type { Command } from 'commander';

export function addExamples(command: Command, ...examples: readonly string[]): Command {
  return command.addHelpText('after', ['\nExamples:', ...examples].join('\n  '));
}
