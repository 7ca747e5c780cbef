/** Reads values of NUMBER tokens with Go's ParseFloat over the token's text (docs/dev/logql-semantics.md#numbers-and-durations). */
import { parseFloatError, parseGoFloat } from '../../base/model/number.ts';
import { outOfRange } from './number-literal.ts';

/** Parsed value. If the text has no value, `problem` is Go's message and `value` is 0. */
interface ParsedLiteral {
  readonly value: number;
  readonly problem: string | undefined;
}

export function parseLiteral(text: string): ParsedLiteral {
  const value = parseGoFloat(text);
  if (value === undefined) return { value: 0, problem: parseFloatError(text) };
  if (!Number.isFinite(value)) return { value: 0, problem: outOfRange(text) };
  return { value, problem: undefined };
}
