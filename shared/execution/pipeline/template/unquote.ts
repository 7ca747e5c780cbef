/** Reads string and character constants of a template, which are Go's, as string literals of LogQL are. */
import { readEscape, unquote } from '../../../language/logql/string-literal.ts';

/** Returns the value of a quoted constant, `"..."` or `` `...` ``. Throws `invalid syntax` as Go does. */
export function unquoteConstant(source: string): string {
  const text = unquote(source);
  if (text === undefined) throw new Error('invalid syntax');
  return text;
}

/** Returns the code point of `'a'`. Throws if it is not exactly one character. */
export function unquoteCharacter(source: string): number {
  const inner = source.slice(1, -1);
  const malformed = () => new Error(`malformed character constant: ${source}`);
  if (inner === '') throw new Error('invalid syntax');
  if (inner[0] === '\\') {
    const found = readEscape(inner, 0, "'");
    if (found?.code === undefined) throw new Error('invalid syntax');
    if (found.end !== inner.length) throw malformed();
    return found.code;
  }
  const code = inner.codePointAt(0)!;
  if (inner.length !== (code > 0xffff ? 2 : 1)) throw malformed();
  return code;
}
