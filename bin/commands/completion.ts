/** `logboom completion SHELL`: prints a script that completes commands, options and their values. */
import { Argument, type Command } from 'commander';
import { asAction } from '../cli/command-error.ts';
import { bashCompletion } from '../cli/completion/bash.ts';
import { fishCompletion } from '../cli/completion/fish.ts';
import type { CommandWords } from '../cli/completion/words.ts';
import { zshCompletion } from '../cli/completion/zsh.ts';
import { print } from '../cli/standard-output.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, (commands: readonly CommandWords[]) => string>> = {
  bash: bashCompletion,
  zsh: zshCompletion,
  fish: fishCompletion,
};

const NOTES = `
Examples:
  eval "$(logboom completion bash)"                                    for this shell
  logboom completion bash > /etc/bash_completion.d/logboom             for all users
  logboom completion zsh > "\${fpath[1]}/_logboom"
  logboom completion fish > ~/.config/fish/completions/logboom.fish`;

export function register(program: Command): void {
  program
    .command('completion')
    .description('print a completion script for a shell')
    .addArgument(new Argument('<shell>').choices(SHELLS))
    .addHelpText('after', NOTES)
    .action(asAction(completion));
}

async function completion(shell: Shell): Promise<void> {
  // Generated from the commands, because loading all of them would take 0.1 s.
  const { default: words } = await import('../cli/completion/command-words.json', {
    with: { type: 'json' },
  });
  await print(SCRIPTS[shell](words satisfies readonly CommandWords[]));
}
