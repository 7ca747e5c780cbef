/**
 * Line filters on one line: what a `LineFilterStage` accepts (logql reference 5). Filters on the line as stored do not
 * come here but narrow a whole page at once (`page-filters.ts`). An empty needle, regex branch or alternative matches
 * everything (difference D2). What a reader would get wrong: `|~ ".+"` alone accepts a lone newline, `^.+` does not
 * (5.2).
 */
import type { LineFilterOp, LineFilterStage, LineOperand } from '../logql/ast.ts';
import { compileRegex, type Regex } from '../regex/regex.ts';
import { compileIp, containsIp, type IpMatcher } from './ip.ts';
import { compilePatternFilter, type PatternFilter } from './pattern-filter.ts';
import { indexOfBytes } from './pattern-syntax.ts';
import type { RowStage } from './row.ts';

/** One operand of a line filter, ready to test. */
export type LineTest =
  | { readonly kind: 'needle'; readonly needle: Buffer }
  | { readonly kind: 'regex'; readonly regex: Regex }
  | { readonly kind: 'pattern'; readonly pattern: PatternFilter }
  | { readonly kind: 'ip'; readonly matcher: IpMatcher };

/** A line passes when some test accepts it, or when none does with `negate`. */
export interface LineFilter {
  readonly tests: readonly LineTest[];
  readonly negate: boolean;
}

/** `.+` and nothing else, perhaps as a group: it asks for at least one byte of any kind. */
const ANY_TEXT = /^(?:\((?:\?:|\?P?<\w+>)?)?\.\+\??\)?$/;

/** Throws an Error with the reference's text for a bad regex, pattern or address. */
export function compileLineFilter({ op, operand, alternatives }: LineFilterStage): LineFilter {
  const tests = [operand, ...alternatives].map(item => compileOperand(op, item));
  return { tests, negate: op === '!=' || op === '!~' || op === '!>' };
}

function compileOperand(op: LineFilterOp, { kind, value }: LineOperand): LineTest {
  if (kind === 'ip') {
    if (op !== '|=' && op !== '!=') throw new Error('ip: invalid operation');
    return { kind: 'ip', matcher: compileIp(value) };
  }
  switch (op) {
    case '|=':
    case '!=':
      return { kind: 'needle', needle: Buffer.from(value) };
    case '|~':
    case '!~':
      return { kind: 'regex', regex: compileRegex(value, { dotMatchesNewline: ANY_TEXT.test(value) }) };
    case '|>':
    case '!>':
      return { kind: 'pattern', pattern: compilePatternFilter(value) };
  }
}

/** True where one test accepts the bytes. */
export function testLine(test: LineTest, source: Buffer, start: number, end: number): boolean {
  switch (test.kind) {
    case 'needle':
      return indexOfBytes(source, start, end, test.needle) >= 0;
    case 'regex':
      return test.regex.testBytes(source, start, end);
    case 'pattern':
      return test.pattern.test(source, start, end);
    case 'ip':
      return containsIp(test.matcher, source, start, end);
  }
}

/** The filter on the current line of a row, for lines that a stage has changed. */
export function lineFilterStage({ tests, negate }: LineFilter): RowStage {
  return row => {
    const source = row.source;
    const start = row.start;
    const end = row.end;
    for (let i = 0; i < tests.length; i++) if (testLine(tests[i], source, start, end)) return !negate;
    return negate;
  };
}
