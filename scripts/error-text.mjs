/** Maximum length of an error in a summary, lines and characters: the start has the message. */
const MAX_LINES = 25;
const MAX_CHARACTERS = 2000;

/** Start of an error, indented below the name of its test. */
export function errorText(error) {
  return error
    .slice(0, MAX_CHARACTERS)
    .split('\n')
    .slice(0, MAX_LINES)
    .map(line => `    ${line}`)
    .join('\n');
}
