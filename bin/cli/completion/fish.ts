/** Completion for fish: one line per word, with its condition. */
import type { CommandWords } from './words.ts';

export function fishCompletion(commands: readonly CommandWords[]): string {
  const lines = commands.flatMap(linesOf);
  return `# fish completion for logboom. To load it: logboom completion fish | source
function __logboom_words
    for word in (commandline -opc)[2..-1]
        string match -q -- '-*' $word; or echo $word
    end
end
function __logboom_at
    set -l words (__logboom_words)
    test "$words" = "$argv"
end
function __logboom_under
    set -l words (__logboom_words)
    set -l length (count $argv)
    set -q words[$length]; and test "$words[1..$length]" = "$argv"
end
function __logboom_store_words
    logboom complete-words -- (commandline -cp | string collect) 2>/dev/null
end
function __logboom_query_words
    string match -qr '^[\\'"]' -- (commandline -ct); and __logboom_store_words
end
complete -c logboom -f
${lines.join('\n')}
`;
}

function linesOf({ path, commands, options, takesFiles, takesQuery, takesLabel }: CommandWords): string[] {
  // Words of a group end after one of its commands. Options of a command can be anywhere.
  const condition = commands.length > 0 ? `__logboom_at ${path}`.trim() : `__logboom_under ${path}`;
  const start = `complete -c logboom -n ${quoted(condition)}`;
  return [
    ...commands.map(({ name, text }) => `${start} -a ${quoted(name)} -d ${quoted(text)}`),
    ...options.map(({ flags, text, takesValue, choices, isPath, isLabels }) => {
      const named = flags.map(flag =>
        flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
      );
      const words = isLabels ? '(__logboom_store_words)' : choices.join(' ');
      const value = words !== '' ? ` -x -a ${quoted(words)}` : isPath ? ' -r -F' : ' -x';
      return `${start} ${named.join(' ')}${takesValue ? value : ''} -d ${quoted(text)}`;
    }),
    ...(takesFiles ? [`${start} -F`] : []),
    ...(takesQuery ? [`${start} -a '(__logboom_query_words)'`] : []),
    ...(takesLabel ? [`${start} -a '(__logboom_store_words)'`] : []),
  ];
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
