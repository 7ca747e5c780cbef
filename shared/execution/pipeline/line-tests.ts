/**
 * Tests of a line filter as plain data (docs/dev/logql-semantics.md#line-filters). Code that decides about lines, or about the
 * pages that may contain them, starts from this module, so that all of it agrees.
 *
 * Pitfall: an alternative that accepts every line counts only if there is no other one (docs/dev/logql-semantics.md#plain-texts). `|= "" or
 * "zzz"` and `|~ "zzz|"` mean `|= "zzz"`, because dashboards leave variables empty.
 */

import { bytesOfText } from '../../base/model/byte-text.ts';
import type { LineFilterOp, LineFilterStage, LineOperand } from '../../language/logql/ast.ts';
import { lineAlternatives } from '../../language/regex/text-alternatives.ts';
import { IP_OPERATORS } from './ip.ts';

export type LineTestSource =
  | { readonly kind: 'needle'; readonly needle: Buffer }
  | { readonly kind: 'regex'; readonly pattern: string }
  | { readonly kind: 'pattern'; readonly pattern: string }
  | { readonly kind: 'ip'; readonly pattern: string };

/** Tests; a line passes if any test accepts it, or with `negate` if none does. */
interface LineTests {
  readonly tests: readonly LineTestSource[];
  readonly negate: boolean;
}

const EVERY_LINE: LineTestSource = Object.freeze({ kind: 'needle', needle: Buffer.alloc(0) });

/**
 * Throws an Error with the reference's text for an invalid expression, or for an operator that does not
 * accept an address.
 */
export function lineTestsOf({ op, operand, alternatives }: LineFilterStage): LineTests {
  const negate = op === '!=' || op === '!~' || op === '!>';
  const tests = [operand, ...alternatives].flatMap(item => testsOfOperand(op, item));
  return { tests: tests.length === 0 ? [EVERY_LINE] : tests, negate };
}

/** Returns the tests of an operand, none if it accepts every line. */
function testsOfOperand(op: LineFilterOp, { kind, value }: LineOperand): LineTestSource[] {
  if (kind === 'ip') {
    if (!IP_OPERATORS.has(op)) throw new Error('ip: invalid operation');
    return [{ kind: 'ip', pattern: value }];
  }
  switch (op) {
    case '|=':
    case '!=':
      return value === '' ? [] : [{ kind: 'needle', needle: bytesOfText(value) }];
    case '|~':
    case '!~':
      return lineAlternatives(value).map(alternative =>
        'text' in alternative
          ? { kind: 'needle', needle: bytesOfText(alternative.text) }
          : { kind: 'regex', pattern: alternative.pattern },
      );
    case '|>':
    case '!>':
      return [{ kind: 'pattern', pattern: value }];
  }
}
