/** Parses pairs of a name and a value: `level=info msg="request done" took=12ms`. */

/** Pair; the parts are bounded and do not overlap, so that no line is slow. */
const PAIR = /([^\s="]{1,256})(?:=(?:"((?:[^"\\]|\\.)*)"(?=\s|$)|([^\s"]*)(?=\s|$)))?\s*/y;

/** Returns undefined for a line that does not consist of pairs, or has no value. */
export function parseLogfmt(line: string): Readonly<Record<string, unknown>> | undefined {
  const fields: Record<string, unknown> = Object.create(null);
  let hasValue = false;
  PAIR.lastIndex = line.length - line.trimStart().length;
  while (PAIR.lastIndex < line.length) {
    const match = PAIR.exec(line);
    if (match === null) return undefined;
    const [text, name, quoted, plain] = match;
    // Text follows the name without a space, as in `a"b"`.
    if (quoted === undefined && plain === undefined && !/\s$/.test(text) && PAIR.lastIndex < line.length)
      return undefined;
    if (quoted !== undefined || plain !== undefined) hasValue = true;
    if (!(name in fields)) fields[name] = quoted === undefined ? (plain ?? '') : unescaped(quoted);
  }
  return hasValue ? fields : undefined;
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return quoted;
  }
}
