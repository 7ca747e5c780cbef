/**
 * Completion for bash: one function that contains the words of each command, so Tab starts a process only to request labels from the
 * store. It finds the command in the words typed so far, and skips the values of options.
 */
import type { CommandWords, OptionWords } from './words.ts';

export function bashCompletion(commands: readonly CommandWords[]): string {
  const values = commands.flatMap(each => each.options.filter(({ takesValue }) => takesValue));
  const takers = [...new Set(values.flatMap(({ flags }) => flags))].sort();
  return `# bash completion for logboom. To load it: eval "$(logboom completion bash)"
_logboom_store_words() {
  local word
  while IFS= read -r word; do COMPREPLY+=("$word"); done < <(
    "\${COMP_WORDS[0]}" complete-words --raw -- "\${COMP_LINE:0:COMP_POINT}" 2>/dev/null
  )
  compopt -o nospace 2>/dev/null
}
_logboom() {
  local current previous path word i
  current="\${COMP_WORDS[COMP_CWORD]}"
  previous="\${COMP_WORDS[COMP_CWORD-1]}"
  path=""
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "\${COMP_WORDS[i-1]}" in ${takers.join('|')}) continue ;; esac
    case "$path $word" in
${commands
  .filter(({ path }) => path !== '')
  .map(({ path }) => `      ${pattern(path)}) path="${path}" ;;`)
  .join('\n')}
    esac
  done
  case "$path" in
    ${alternatives(commands.filter(({ takesQuery }) => takesQuery))})
      case "$current" in [\\'\\"]*) _logboom_store_words; return ;; esac ;;
  esac
  case "$path:$previous" in
${commands.flatMap(each => each.options.filter(({ takesValue }) => takesValue).map(option => valueCase(each, option))).join('\n')}
  esac
  case "$path" in
${commands.map(commandCase).join('\n')}
  esac
}
complete -F _logboom logboom
`;
}

/** Pattern of the path so far, a space, and the word: `" push"` at the top, `"rules load"` below. */
function pattern(path: string): string {
  return path.includes(' ') ? `"${path}"` : `" ${path}"`;
}

function alternatives(commands: readonly CommandWords[]): string {
  return commands.map(({ path }) => `"${path}"`).join('|');
}

function valueCase({ path }: CommandWords, { flags, choices, isPath, isLabels }: OptionWords): string {
  const patterns = flags.map(flag => `"${path}:${flag}"`).join('|');
  if (choices.length > 0)
    return `    ${patterns}) COMPREPLY=($(compgen -W "${choices.join(' ')}" -- "$current")); return ;;`;
  if (isLabels) return `    ${patterns}) _logboom_store_words; return ;;`;
  return isPath
    ? `    ${patterns}) COMPREPLY=($(compgen -f -- "$current")); return ;;`
    : `    ${patterns}) return ;;`;
}

function commandCase({ path, commands, options, takesFiles, takesLabel }: CommandWords): string {
  const words = [...commands.map(({ name }) => name), ...options.flatMap(({ flags }) => flags)];
  const files = takesFiles ? ' COMPREPLY+=($(compgen -f -- "$current"))' : '';
  const labels = takesLabel ? '; [[ $current == -* ]] || _logboom_store_words' : '';
  return `    "${path}") COMPREPLY=($(compgen -W "${words.join(' ')}" -- "$current"))${files}${labels} ;;`;
}
