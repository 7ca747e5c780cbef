/**
 * Line filters on one line: the compiled tests of `line-tests.ts`. Filters on the line as stored narrow a
 * whole page instead (`page-filters.ts`).
 */
import type { LineFilterStage } from '../../language/logql/ast.ts';
import { compileRegex, type Regex } from '../../language/regex/regex.ts';
import { compileIp, containsIp, type IpMatcher } from './ip.ts';
import { type LineTestSource, lineTestsOf } from './line-tests.ts';
import { compilePatternFilter, type PatternFilter } from './pattern-filter.ts';
import { indexOfBytes } from './pattern-syntax.ts';
import type { RowStage } from './row.ts';

/** Compiled operand of a line filter. */
export type LineTest =
  | { readonly kind: 'needle'; readonly needle: Buffer }
  | { readonly kind: 'regex'; readonly regex: Regex }
  | { readonly kind: 'pattern'; readonly pattern: PatternFilter }
  | { readonly kind: 'ip'; readonly matcher: IpMatcher };

/** Filter; a line passes if any test accepts it, or with `negate` if none does. */
export interface LineFilter {
  readonly tests: readonly LineTest[];
  readonly negate: boolean;
  /** Operator and operands: filters with equal texts accept the same lines. */
  readonly text: string;
}

/** Throws an Error with the reference's text for an invalid regex, pattern or address. */
export function compileLineFilter(stage: LineFilterStage): LineFilter {
  const { tests, negate } = lineTestsOf(stage);
  return { tests: tests.map(compileTest), negate, text: textOfFilter(stage) };
}

/** Returns the text of a compiled filter. */
function textOfFilter({ op, operand, alternatives }: LineFilterStage): string {
  return JSON.stringify([op, operand, ...alternatives]);
}

function compileTest(source: LineTestSource): LineTest {
  switch (source.kind) {
    case 'needle':
      return source;
    case 'regex':
      return { kind: 'regex', regex: compileRegex(source.pattern) };
    case 'pattern':
      return { kind: 'pattern', pattern: compilePatternFilter(source.pattern) };
    case 'ip':
      return { kind: 'ip', matcher: compileIp(source.pattern) };
  }
}

/** Returns whether one test accepts the bytes. */
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

/** Compiles the filter on the current line of a row, for lines that a stage has changed. */
export function lineFilterStage({ tests, negate }: LineFilter): RowStage {
  return row => {
    const source = row.source;
    const start = row.start;
    const end = row.end;
    for (let i = 0; i < tests.length; i++) if (testLine(tests[i], source, start, end)) return !negate;
    return negate;
  };
}
