/** Compares the output of a command on a page with its real output. */

/** The first line of the page that the output lacks, in the order of the page; `...` matches any text. */
export function missingLine(expected: string, actual: string): string | undefined {
  const lines = actual.split('\n');
  let at = 0;
  for (const line of expected.trimEnd().split('\n')) {
    if (line.trim() === '' || line.trim() === '...') continue;
    const pattern = new RegExp(`^${line.trimEnd().split('...').map(literal).join('.*')}\\s*$`);
    const found = lines.findIndex((candidate, i) => i >= at && pattern.test(candidate));
    if (found === -1) return line;
    at = found + 1;
  }
  return undefined;
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
