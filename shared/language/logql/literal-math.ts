/** Binary operations of two literals, done while parsing (docs/dev/logql-semantics.md#precedence-of-operators, #arithmetic). */
import type { BinaryOp } from './ast.ts';

/** Comparisons give 0 or 1; division and modulo by zero give NaN. Set operations never come here. */
export function foldLiterals(op: BinaryOp, left: number, right: number): number {
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
      throw new Error(`${op} is no operation of numbers`);
  }
}

/** Go's Pow: one to any power is one, and minus one to an infinite power as well, where JavaScript says NaN. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}
