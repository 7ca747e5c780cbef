/** Cuts text for an assistant, whose context is small, and adds a note that says what to do. */

/** Maximum response, about 8,000 tokens. */
export const MAX_RESULT_CHARACTERS = 30_000;
/** Maximum characters of a line. The rest of a longer line adds little. */
const MAX_LINE_CHARACTERS = 2000;

export function boundedText(text: string): string {
  const lines: string[] = [];
  let characters = 0;
  const all = text.trimEnd().split('\n');
  for (const [i, line] of all.entries()) {
    const shown =
      line.length > MAX_LINE_CHARACTERS
        ? `${line.slice(0, MAX_LINE_CHARACTERS)}… (${line.length} characters)`
        : line;
    characters += shown.length + 1;
    if (characters > MAX_RESULT_CHARACTERS) {
      lines.push(`(${all.length - i} more lines omitted: narrow the query or the time range)`);
      break;
    }
    lines.push(shown);
  }
  return lines.join('\n').toWellFormed();
}
