/**
 * Functions on numbers. Every argument is cast leniently: `add .msg 1` of a text that is not a number is 1.
 */
import { parseByteSize } from '../../../base/model/byte-size.ts';
import { parseGoDuration, secondsOfDuration } from '../../../base/model/duration.ts';
import { messageOf } from '../../../base/model/errors.ts';
import { toFloat64, toInt64 } from './casts.ts';
import { addDecimals, divide, foldDecimals, multiply, subtract } from './decimal.ts';
import { CallError } from './error.ts';
import { fixed, type TemplateFunction, variadic } from './function-types.ts';
import { GoInt, type Value } from './values.ts';

export const NUMBER_FUNCTIONS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['int', fixed(['any'], ([value]) => GoInt.of(toInt64(value)))],
  ['float64', fixed(['any'], ([value]) => toFloat64(value))],
  ['add', variadic([], 'any', args => fold64(0n, args, (a, b) => a + b))],
  ['sub', fixed(['any', 'any'], ([a, b]) => GoInt.int64(toInt64(a) - toInt64(b)))],
  ['mul', variadic(['any'], 'any', ([first, ...rest]) => fold64(toInt64(first), rest, (a, b) => a * b))],
  ['div', fixed(['any', 'any'], ([a, b]) => GoInt.int64(toInt64(a) / nonZero(toInt64(b))))],
  ['mod', fixed(['any', 'any'], ([a, b]) => GoInt.int64(toInt64(a) % nonZero(toInt64(b))))],
  ['max', variadic(['any'], 'any', ([first, ...rest]) => fold64(toInt64(first), rest, larger))],
  ['min', variadic(['any'], 'any', ([first, ...rest]) => fold64(toInt64(first), rest, smaller))],
  ['maxf', variadic(['any'], 'any', args => args.map(toFloat64).reduce((a, b) => Math.max(a, b)))],
  ['minf', variadic(['any'], 'any', args => args.map(toFloat64).reduce((a, b) => Math.min(a, b)))],
  ['ceil', fixed(['any'], ([value]) => Math.ceil(toFloat64(value)))],
  ['floor', fixed(['any'], ([value]) => Math.floor(toFloat64(value)))],
  ['round', variadic(['any', 'int'], 'float64', ([value, places, roundOn]) => round(value, places, roundOn))],
  ['bytes', fixed(['string'], ([text]) => translated(() => parseByteSize(text as string)))],
  ['duration', fixed(['string'], ([text]) => durationSeconds(text as string))],
  ['duration_seconds', fixed(['string'], ([text]) => durationSeconds(text as string))],
];

/** Functions with BigInt arithmetic, which takes microseconds if the exponents differ greatly. */
export const DECIMAL_FUNCTIONS: ReadonlyArray<readonly [string, TemplateFunction]> = [
  ['addf', variadic([], 'any', args => foldDecimals(0, args.map(toFloat64), addDecimals))],
  ['subf', variadic(['any'], 'any', args => foldFloats(args, subtract))],
  ['mulf', variadic(['any'], 'any', args => foldFloats(args, multiply))],
  ['divf', variadic(['any'], 'any', args => foldFloats(args, divide))],
];

// Do not use Math.max and Math.min: the operands are not float64.
const larger = (a: bigint, b: bigint) => [a, b][Number(b > a)];
const smaller = (a: bigint, b: bigint) => [a, b][Number(b < a)];

function fold64(start: bigint, rest: readonly Value[], operation: (a: bigint, b: bigint) => bigint): GoInt {
  return GoInt.int64(
    rest.reduce((total: bigint, value) => BigInt.asIntN(64, operation(total, toInt64(value))), start),
  );
}

function foldFloats(args: readonly Value[], operation: Parameters<typeof foldDecimals>[2]): number {
  const [first, ...rest] = args.map(toFloat64);
  return foldDecimals(first, rest, operation);
}

function nonZero(divisor: bigint): bigint {
  if (divisor === 0n) throw new CallError('runtime error: integer divide by zero');
  return divisor;
}

/**
 * Rounds up from `roundOn` of the last decimal on. Negative values round away from zero only above the half.
 */
function round(value: Value, places: Value, roundOn: Value): number {
  const power = 10 ** Number((places as GoInt).value);
  const shifted = power * toFloat64(value);
  const fraction = shifted - Math.trunc(shifted);
  return (
    (fraction >= ((roundOn as number | undefined) ?? 0.5) ? Math.ceil(shifted) : Math.floor(shifted)) / power
  );
}

function durationSeconds(text: string): number {
  return secondsOfDuration(translated(() => parseGoDuration(text)));
}

/** Converts a parser's error to the function's error. */
function translated<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw new CallError(messageOf(error));
  }
}
