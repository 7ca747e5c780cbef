/**
 * Number and character constants. Go's constants are untyped until they are used: `5.0` is valid for an int
 * parameter. If no type is expected, the notation decides: `5.0` is a float64, `0x10` and `'a'` are ints.
 */
import { MAX_INT64, MIN_INT64 } from '../../../base/model/int64.ts';
import { parseGoFloat } from '../../../base/model/number.ts';
import { quote } from '../../../base/model/quote.ts';
import { parseGoInt } from './casts.ts';
import type { NumberNode } from './nodes.ts';
import { unquoteCharacter } from './unquote.ts';
import { GoInt } from './values.ts';

const MAX_UINT64 = 2n ** 64n - 1n;

/** Throws an Error with Go's text (`illegal number syntax: "08"`). */
export function numberNode(source: string, pos: number): NumberNode {
  if (source[0] === "'") return integer(BigInt(unquoteCharacter(source)), source, pos);
  const whole = parseGoInt(source);
  if (whole !== undefined && whole >= MIN_INT64 && whole <= MAX_INT64) return integer(whole, source, pos);
  if (whole !== undefined && whole >= 0n && whole <= MAX_UINT64) {
    return { type: 'number', pos, source, int: undefined, float: Number(whole), ideal: undefined };
  }
  const float = parseGoFloat(source);
  if (float === undefined || Number.isNaN(float) || !Number.isFinite(float)) {
    throw new Error(`illegal number syntax: ${quote(source)}`);
  }
  if (!/[.eEpP]/.test(source)) throw new Error(`integer overflow: ${quote(source)}`);
  const int = Number.isInteger(float) && Math.abs(float) < 2 ** 63 ? BigInt(float) : undefined;
  return { type: 'number', pos, source, int, float, ideal: float };
}

function integer(value: bigint, source: string, pos: number): NumberNode {
  return { type: 'number', pos, source, int: value, float: Number(value), ideal: GoInt.of(value) };
}
