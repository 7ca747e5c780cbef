/** Arithmetic and comparison of two numbers, as defined in docs/dev/logql-semantics.md#arithmetic, #comparisons. */
import type { BinaryOp, CompareOp } from '../../language/logql/ast.ts';

export type SetOp = 'and' | 'or' | 'unless';
export type ArithmeticOp = Exclude<BinaryOp, CompareOp | SetOp>;

export function isSetOp(op: BinaryOp): op is SetOp {
  return op === 'and' || op === 'or' || op === 'unless';
}

export function isComparison(op: BinaryOp): op is CompareOp {
  return op === '==' || op === '!=' || op === '>' || op === '>=' || op === '<' || op === '<=';
}

/** Returns the operation. Division by zero yields NaN, never an infinity. */
export function arithmeticOf(op: ArithmeticOp): (a: number, b: number) => number {
  switch (op) {
    case '+':
      return (a, b) => a + b;
    case '-':
      return (a, b) => a - b;
    case '*':
      return (a, b) => a * b;
    case '/':
      return (a, b) => (b === 0 ? Number.NaN : a / b);
    case '%':
      return (a, b) => a % b;
    case '^':
      return power;
  }
}

/** Returns the comparison. Comparisons with NaN are false, except `!=`. */
export function comparisonOf(op: CompareOp): (a: number, b: number) => boolean {
  switch (op) {
    case '==':
      return (a, b) => a === b;
    case '!=':
      return (a, b) => a !== b;
    case '>':
      return (a, b) => a > b;
    case '>=':
      return (a, b) => a >= b;
    case '<':
      return (a, b) => a < b;
    case '<=':
      return (a, b) => a <= b;
  }
}

/**
 * Works as IEEE 754 pow: 1 to any power is 1, and so is -1 to an infinite power. JavaScript returns NaN for
 * these.
 */
function power(a: number, b: number): number {
  if (a === 1 || (a === -1 && (b === Infinity || b === -Infinity))) return 1;
  return a ** b;
}

/** Evaluates two literals. A comparison returns 0 or 1, with or without `bool`. */
export function foldLiterals(op: ArithmeticOp | CompareOp, a: number, b: number): number {
  if (isComparison(op)) return comparisonOf(op)(a, b) ? 1 : 0;
  return arithmeticOf(op)(a, b);
}
