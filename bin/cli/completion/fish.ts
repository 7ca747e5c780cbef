/** Completion for fish: a line for each word, with the condition under which it may come. */
import type { CommandWords } from './words.ts';

export function fishCompletion(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(linesOf);
  return `# fish completion for logboom. To load it: logboom completion fish | source
function __logboom_path
    set -l path
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or set -a path $word
    end
    test "$path[1..(math (count $argv))]" = "$argv"
end
function __logboom_top
    not __fish_seen_subcommand_from ${commands[0].commands.map(({ name }) => name).join(' ')}
end
complete -c logboom -f
${lines.join('\n')}
`;
}

function linesOf({ path, commands, options, takesFiles }: CommandWords): string[] {
  const condition = path === '' ? '__logboom_top' : `__logboom_path ${path}`;
  const start = `complete -c logboom -n ${quoted(condition)}`;
  return [
    ...commands.map(({ name, text }) => `${start} -a ${quoted(name)} -d ${quoted(text)}`),
    ...options.map(({ flags, text, takesValue, choices, isPath }) => {
      const named = flags.map(flag =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : isPath ? ' -r -F' : ' -x';
      return `${start} ${named.join(' ')}${takesValue ? value : ''} -d ${quoted(text)}`;
    }),
    ...(takesFiles ? [`${start} -F`] : []),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
