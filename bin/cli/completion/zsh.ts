/** Completion for zsh: each command with its options in a list that `_describe` shows with their texts. */
import type { CommandWords, OptionWords } from './words.ts';

export function zshCompletion(commands: readonly CommandWords[]): string {
  const takers = [
    ...new Set(
      commands.flatMap(each => each.options.filter(option => option.takesValue).flatMap(o => o.flags)),
    ),
  ].sort();
  return `#compdef logboom
# zsh completion for logboom. To load it: source <(logboom completion zsh), or a file _logboom in $fpath.
_logboom_store_words() {
  local -a found_
  found_=("\${(@f)$(logboom complete-words -- "\${(j: :)words[1,CURRENT-1]} $QIPREFIX$PREFIX" 2>/dev/null)}")
  compadd -S '' -- \${found_:#}
}
_logboom() {
  local path_ word previous i
  local -a words_ options_
  previous="\${words[CURRENT-1]}"
  for ((i = 2; i < CURRENT; i++)); do
    word="\${words[i]}"
    case "\${words[i-1]}" in ${takers.join('|')}) continue ;; esac
    case "$path_ $word" in
${commands
  .filter(({ path }) => path !== '')
  .map(
    ({ path }) => `      ${path.includes(' ') ? quoted(path) : quoted(` ${path}`)}) path_=${quoted(path)} ;;`,
  )
  .join('\n')}
    esac
  done
  case "$path_" in
    ${commands
      .filter(({ takesQuery }) => takesQuery)
      .map(({ path }) => quoted(path))
      .join('|')})
      case "\${words[CURRENT]}" in [\\'\\"]*) _logboom_store_words; return ;; esac ;;
  esac
  case "$path_:$previous" in
${commands.flatMap(each => each.options.filter(({ takesValue }) => takesValue).map(option => valueCase(each, option))).join('\n')}
  esac
  case "$path_" in
${commands.map(commandCase).join('\n')}
  esac
}
if [ "$funcstack[1]" = "_logboom" ]; then
  _logboom "$@"
else
  compdef _logboom logboom
fi
`;
}

function valueCase({ path }: CommandWords, { flags, choices, isPath, isLabels }: OptionWords): string {
  const patterns = flags.map(flag => quoted(`${path}:${flag}`)).join('|');
  if (choices.length > 0) return `    ${patterns}) compadd -- ${choices.map(quoted).join(' ')}; return ;;`;
  if (isLabels) return `    ${patterns}) _logboom_store_words; return ;;`;
  return isPath ? `    ${patterns}) _files; return ;;` : `    ${patterns}) return ;;`;
}

function commandCase({ path, commands, options, takesFiles, takesLabel }: CommandWords): string {
  const words = commands.map(({ name, text }) => described(name, text)).join(' ');
  const flags = options.flatMap(option => option.flags.map(flag => described(flag, option.text))).join(' ');
  const list = commands.length > 0 ? `words_=(${words}); _describe command words_; ` : '';
  return `    ${quoted(path)}) ${list}options_=(${flags}); _describe option options_${takesFiles ? '; _files' : ''}${takesLabel ? '; _logboom_store_words' : ''} ;;`;
}

/** Escapes colons, which end the name. */
function described(name: string, text: string): string {
  return quoted(`${name.replaceAll(':', '\\:')}:${text}`);
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
