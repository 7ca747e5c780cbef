/** Parses pairs of a name and a value: `level=info msg="request done" took=12ms`. By hand, because an expression takes longer. */

const MAX_NAME_CHARACTERS = 256;
const [TAB, RETURN, SPACE, QUOTE, EQUALS, BACKSLASH] = Buffer.from('\t\r "=\\');
/** Spaces beyond ASCII: one before these two, and one after them. */
const [FIRST_WIDE_SPACE, LAST_WIDE_SPACE] = [0x1680, 0x3000];
const [NO_BREAK_SPACE, BYTE_ORDER_MARK] = [0xa0, 0xfeff];
const LINE_END = /[\n\r\u2028\u2029]/;

function NamelessPairs(): void {
  // A constructor, not a class, whose prototype would have the name `constructor`.
}
NamelessPairs.prototype = Object.create(null);
/** Makes objects without inherited names. Unlike those of `Object.create(null)`, they share their layout. */
const PairsOfLine = NamelessPairs as unknown as new () => Record<string, string>;

/** Returns undefined for a line that does not consist of pairs, or has no value. */
export function parseLogfmt(line: string): Readonly<Record<string, unknown>> | undefined {
  const fields = new PairsOfLine();
  const { length } = line;
  let hasValue = false;
  let at = afterSpaces(line, 0);
  while (at < length) {
    const start = at;
    while (at < length && isOfName(line.charCodeAt(at))) at++;
    if (at === start || at - start > MAX_NAME_CHARACTERS || line.charCodeAt(at) === QUOTE) return undefined;
    const name = line.slice(start, at);
    let value = '';
    if (line.charCodeAt(at) === EQUALS) {
      const from = at + 1;
      const isQuoted = line.charCodeAt(from) === QUOTE;
      at = isQuoted ? afterQuoted(line, from) : afterPlain(line, from);
      if (at < length && !isSpace(line.charCodeAt(at))) return undefined;
      value = isQuoted ? unescaped(line.slice(from + 1, at - 1)) : line.slice(from, at);
      hasValue = true;
    }
    if (!(name in fields)) fields[name] = value;
    at = afterSpaces(line, at);
  }
  return hasValue ? fields : undefined;
}

function isSpace(code: number): boolean {
  if (code < FIRST_WIDE_SPACE)
    return code === SPACE || (code >= TAB && code <= RETURN) || code === NO_BREAK_SPACE;
  if (code > LAST_WIDE_SPACE) return code === BYTE_ORDER_MARK;
  return /\s/.test(String.fromCharCode(code));
}

function isOfName(code: number): boolean {
  return code !== EQUALS && code !== QUOTE && !isSpace(code);
}

function afterSpaces(line: string, from: number): number {
  let at = from;
  while (at < line.length && isSpace(line.charCodeAt(at))) at++;
  return at;
}

/** Ends at a space, or at a quote, which the caller refuses. */
function afterPlain(line: string, from: number): number {
  let at = from;
  for (; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === QUOTE || isSpace(code)) break;
  }
  return at;
}

/** End of the quoted text that begins at `from`; `from` itself, which the caller refuses, if it has none. */
function afterQuoted(line: string, from: number): number {
  for (let at = from + 1; at < line.length; at++) {
    const code = line.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH && LINE_END.test(line.charAt(++at))) return from;
  }
  return from;
}

function unescaped(quoted: string): string {
  if (!quoted.includes('\\')) return quoted;
  try {
    return JSON.parse(`"${quoted}"`) as string;
  } catch {
    return quoted;
  }
}
