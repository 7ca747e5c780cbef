/** Stream selectors of requests about stored data. They throw ParseError and BadRequestError. */
import type { Matcher } from '../../language/logql/ast.ts';
import { parseSelector } from '../../language/logql/parse.ts';

export function isEmptySelector(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text);
}

/** A selector that excludes some stream, or `{}`, which matches every stream. */
export function anySelector(text: string): readonly Matcher[] {
  return isEmptySelector(text) ? [] : parseSelector(text);
}
