/**
 * Which keys of a JSON line a label name was made of: `request_user_agent` may come from `["request", "user-agent"]` or
 * `["request_user", "agent"]`, and only the line knows. Parsers keep names alone, so a line is walked again here, once
 * for the first line that has a field and not once per line.
 *
 * What a reader would get wrong: the walk is for lines that the parser has read without an error. It ends silently where
 * something odd stands in its way; fields behind it have no path then.
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
import { MAX_NAME_CHARACTERS } from './bounds.ts';

export interface PathVisitor {
  /** True where the stream has a label of this name, so that the parser's gets a suffix. */
  collides(name: string): boolean;
  /** A value's label name, the keys that it was made of (valid during the call). False ends the walk. */
  visit(name: string, path: readonly string[]): boolean;
}

/** Visits every string, number and boolean of the object in `source[start..end)`, in the order of the line. */
export function walkJsonPaths(source: Buffer, start: number, end: number, visitor: PathVisitor): void {
  /** Keys of the objects that are open, and the name that each path has. */
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
        if (keys.length < MAX_JSON_DEPTH && name.length <= MAX_NAME_CHARACTERS) {
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
    // As the parser has it: a blank key at the top is no label.
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
