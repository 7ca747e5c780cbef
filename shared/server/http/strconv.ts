/** Parses whole numbers like Go's strconv, with its error messages, because clients see them. */

import { BadRequestError } from '../../base/model/errors.ts';
import { MAX_INT64, MIN_INT64 } from '../../base/model/int64.ts';
import { quote } from '../../base/model/quote.ts';

const DECIMAL = /^[+-]?[0-9]+$/;
/** An int64 has fewer characters, unless it is padded with zeros. */
const MAX_DIGITS = 1000;

/** Parses a base-10 int64. `name` is the Go function in the error message. Throws BadRequestError. */
export function parseInt64(text: string, name: 'ParseInt' | 'Atoi'): bigint {
  if (!DECIMAL.test(text)) {
    throw new BadRequestError(`strconv.${name}: parsing ${quote(text)}: invalid syntax`);
  }
  const value = text.length <= MAX_DIGITS ? BigInt(text.replace('+', '')) : undefined;
  if (value === undefined || value < MIN_INT64 || value > MAX_INT64) {
    throw new BadRequestError(`strconv.${name}: parsing ${quote(text)}: value out of range`);
  }
  return value;
}

/** Saturates at the limits of int64 instead of wrapping. */
export function clampInt64(value: bigint): bigint {
  if (value < MIN_INT64) return MIN_INT64;
  return value > MAX_INT64 ? MAX_INT64 : value;
}
