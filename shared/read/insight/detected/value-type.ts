/**
 * Classifies a value (docs/dev/logql-semantics.md#detected-fields) by the first type in the order below that
 * its text matches. `1` is an int, not a boolean. `5m` is a duration, not 5 megabytes.
 */

import { formatByteSize, parseByteSize } from '../../../base/model/byte-size.ts';
import { parseGoDuration } from '../../../base/model/duration.ts';
import { MAX_INT64, MIN_INT64 } from '../../../base/model/int64.ts';
import { parseGoFloat } from '../../../base/model/number.ts';

export type DetectedType = 'int' | 'float' | 'boolean' | 'duration' | 'bytes' | 'string';

/** No real number, duration or size is longer, so long texts such as stack traces are not parsed. */
const MAX_TYPED_CHARACTERS = 1024;
const INT = /^[+-]?[0-9]+$/;
/** Accepted by Go's ParseBool. */
const BOOLEANS = new Set(['1', 't', 'T', 'true', 'TRUE', 'True', '0', 'f', 'F', 'false', 'FALSE', 'False']);

export function detectedTypeOf(value: string): DetectedType {
  if (value === '' || value.length > MAX_TYPED_CHARACTERS) return 'string';
  if (isInt(value)) return 'int';
  if (isFloat(value)) return 'float';
  if (BOOLEANS.has(value)) return 'boolean';
  if (succeeds(parseGoDuration, value)) return 'duration';
  return succeeds(parseByteSize, value) ? 'bytes' : 'string';
}

/**
 * Formats a value of a line as the values endpoint shows it: a size with a unit in its short SI form,
 * anything else unchanged. A text that is a duration stays one.
 */
export function shownValue(value: string): string {
  if (!/[a-zA-Z]$/.test(value) || detectedTypeOf(value) !== 'bytes') return value;
  return formatByteSize(parseByteSize(value));
}

function isInt(value: string): boolean {
  if (!INT.test(value)) return false;
  const int = BigInt(value.replace('+', ''));
  return int >= MIN_INT64 && int <= MAX_INT64;
}

/** Go rejects numbers that are too large. */
function isFloat(value: string): boolean {
  const float = parseGoFloat(value);
  return float !== undefined && (Math.abs(float) !== Infinity || /inf/i.test(value));
}

function succeeds(parse: (text: string) => unknown, value: string): boolean {
  try {
    parse(value);
    return true;
  } catch {
    return false;
  }
}
