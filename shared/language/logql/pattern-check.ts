/** Checks the text of the `pattern` parser when a query is parsed (docs/dev/logql-semantics.md#checks-after-parsing, #pattern). */
import { wellFormedPrefix } from '../../base/model/byte-text.ts';
import { ParseError } from './errors.ts';

const CAPTURE = /<([a-zA-Z_][a-zA-Z0-9_]*)>/g;

/** Throws a ParseError if the text is not valid for the pattern parser. */
export function checkPatternStage(pattern: string): void {
  const problem = patternProblem(pattern);
  if (problem !== undefined) throw new ParseError(`invalid pattern parser: ${problem}`);
}

/** Error for a pattern without any part. */
export const EMPTY_PATTERN =
  'parse error at line 1, col 1: syntax error: unexpected $end, expecting IDENTIFIER or LITERAL';

function patternProblem(given: string): string | undefined {
  const pattern = wellFormedPrefix(given);
  if (pattern === '') return EMPTY_PATTERN;
  const captures = [...pattern.matchAll(CAPTURE)];
  if (!captures.some(capture => capture[1] !== '_')) return 'at least one capture is required';
  for (let i = 1; i < captures.length; i++) {
    const [before, after] = [captures[i - 1], captures[i]];
    if (before.index + before[0].length === after.index) {
      return `found consecutive capture '${before[0]}${after[0]}': invalid expression`;
    }
  }
  const seen = new Set<string>();
  for (const [, name] of captures) {
    if (name !== '_' && seen.has(name)) return `duplicate capture name (${name}): invalid expression`;
    seen.add(name);
  }
  return undefined;
}
