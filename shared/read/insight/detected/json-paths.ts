/**
 * Finds the keys of a JSON line that a label name was made of. `request_user_agent` may come from
 * `["request", "user-agent"]` or `["request_user", "agent"]`, and only the line shows which. Parsers store
 * only names, so a line is walked again: once for the first line with a field, not for every line.
 *
 * Pitfall: the walk is for lines that the parser has read without an error. It ends silently at invalid
 * syntax, and later fields have no path.
 */
import {
  blockEnd,
  CLOSE_BRACE,
  COLON,
  COMMA,
  MAX_JSON_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
  WORD_NULL,
  wordKind,
} from '../../../base/text/json-scan.ts';
import { DUPLICATE_SUFFIX } from '../../../base/text/names.ts';
import { sanitizeName, unescapeJson } from '../../../base/text/text.ts';
import { MAX_LABEL_NAME_CHARACTERS } from './bounds.ts';

interface PathVisitor {
  /** Whether the stream has a label of this name, so that the parser's label gets a suffix. */
  collides(name: string): boolean;
  /**
   * Receives a value's label name and the keys that it was made of (valid during the call). Returning false
   * ends the walk.
   */
  visit(name: string, path: readonly string[]): boolean;
}

/**
 * Visits every string, number and boolean of the object in `source[start..end)`, in the order of the line.
 */
export function walkJsonPaths(source: Buffer, start: number, end: number, visitor: PathVisitor): void {
  /** Keys of the open objects, and the name of each path. */
  const keys: string[] = [];
  const names: string[] = [''];
  let at = skipSpace(source, start, end);
  if (at >= end || source[at] !== OPEN_BRACE) return;
  at++;
  for (;;) {
    at = skipSpace(source, at, end);
    if (at >= end) return;
    if (source[at] === COMMA) {
      at++;
      continue;
    }
    if (source[at] === CLOSE_BRACE) {
      if (keys.length === 0) return;
      keys.pop();
      names.pop();
      at++;
      continue;
    }
    if (source[at] !== QUOTE) return;
    const keyEnd = stringEnd(source, at + 1, end);
    const key = keyEnd < 0 ? undefined : unescapeJson(source, at + 1, keyEnd);
    if (key === undefined) return;
    at = skipSpace(source, keyEnd + 1, end);
    if (at >= end || source[at] !== COLON) return;
    at = skipSpace(source, at + 1, end);
    if (at >= end) return;

    const path = names[names.length - 1];
    const valueStart = at;
    switch (source[at]) {
      case OPEN_BRACE: {
        const name = sanitizeName(path, key);
        if (keys.length < MAX_JSON_DEPTH && name.length <= MAX_LABEL_NAME_CHARACTERS) {
          keys.push(key);
          names.push(name);
          at++;
        } else at = blockEnd(source, at, end);
        if (at < 0) return;
        continue;
      }
      case OPEN_BRACKET:
        at = blockEnd(source, at, end);
        if (at < 0) return;
        continue;
      case QUOTE:
        at = stringEnd(source, at + 1, end);
        if (at < 0) return;
        at++;
        break;
      default:
        at = tokenEnd(source, at, end);
        if (wordKind(source, valueStart, at) === WORD_NULL) continue;
    }
    const isTop = keys.length === 0;
    const plain = sanitizeName(path, key);
    // As in the parser: a blank key at the top is not a label.
    if (plain === '' || (isTop && sanitizeName('', key) === '')) continue;
    let name = plain;
    if (visitor.collides(plain)) {
      name = isTop ? plain + DUPLICATE_SUFFIX : sanitizeName(path, key + DUPLICATE_SUFFIX);
    }
    keys.push(key);
    const goesOn = visitor.visit(name, keys);
    keys.pop();
    if (!goesOn) return;
  }
}
