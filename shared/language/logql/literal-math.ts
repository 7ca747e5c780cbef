/** Evaluates binary operations of two literals while parsing (docs/dev/logql-semantics.md#precedence-of-operators, #arithmetic). */
import type { BinaryOp } from './ast.ts';

/**
 * Evaluates an operation. Comparisons return 0 or 1; division and modulo by zero return NaN. The parser never
 * passes set operations.
 */
export function foldLiteralMath(op: BinaryOp, left: number, right: number): number {
  switch (op) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return right === 0 ? Number.NaN : left / right;
    case '%':
      return left % right;
    case '^':
      return power(left, right);
    case '==':
      return left === right ? 1 : 0;
    case '!=':
      return left !== right ? 1 : 0;
    case '>':
      return left > right ? 1 : 0;
    case '>=':
      return left >= right ? 1 : 0;
    case '<':
      return left < right ? 1 : 0;
    case '<=':
      return left <= right ? 1 : 0;
    default:
      throw new Error(`${op} is not an operation on numbers`);
  }
}

/**
 * Works as Go's Pow: one to any power is one, and so is minus one to an infinite power. JavaScript returns
 * NaN for these.
 */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}
