/**
 * Parses paths of json expressions, `a.b["any key"][0]` (docs/dev/logql-semantics.md#json-with-expressions), which have a small language. A
 * quoted key ends at the next quote or closing bracket and has no escapes.
 */
type PathPart = string | number;

/** Maximum parts of a path. Real paths are shorter; the limit bounds the recursion of the walk. */
export const MAX_PATH_PARTS = 256;

type Token = 'DOT' | 'LSB' | 'RSB' | 'STRING' | 'FIELD' | 'INDEX' | '$end';
const TOKEN =
  /[ \t\r\n]*(?:(\.)|(\[)|(\])|"([^"\]]*)["\]]?|([A-Za-z_][A-Za-z0-9_]*)|([0-9]+)|([^ \t\r\n]))/suy;
const KINDS: readonly Token[] = ['DOT', 'LSB', 'RSB', 'STRING', 'FIELD', 'INDEX'];

/** Throws an Error with the reference's text, `cannot parse expression [E]: ...`. */
export function parseJsonPath(expression: string): PathPart[] {
  const fail = (message: string) => new Error(`cannot parse expression [${expression}]: ${message}`);
  let at = 0;
  let text = '';
  function next(): Token {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(expression);
    if (match === null) return '$end';
    at = TOKEN.lastIndex;
    if (match[7] !== undefined) throw fail(`unexpected char ${match[7]}`);
    const kind = KINDS.findIndex((_, i) => match[i + 1] !== undefined);
    text = match[kind + 1];
    return KINDS[kind];
  }
  function expect(token: Token, ...wanted: readonly Token[]): void {
    if (wanted.includes(token)) return;
    throw fail(`syntax error: unexpected ${token}, expecting ${wanted.join(' or ')}`);
  }

  const parts: PathPart[] = [];
  let token = next();
  expect(token, 'LSB', 'FIELD');
  while (token !== '$end') {
    if (token === 'LSB') {
      const inner = next();
      expect(inner, 'STRING', 'INDEX');
      parts.push(inner === 'INDEX' ? Number(text) : text);
      expect(next(), 'RSB');
    } else if (token === 'FIELD' && parts.length === 0) parts.push(text);
    else if (token === 'DOT') {
      expect(next(), 'FIELD');
      parts.push(text);
    } else throw fail(`syntax error: unexpected ${token}`);
    if (parts.length > MAX_PATH_PARTS) throw fail(`more than ${MAX_PATH_PARTS} parts`);
    token = next();
  }
  return parts;
}
