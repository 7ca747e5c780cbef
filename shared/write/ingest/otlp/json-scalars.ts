/**
 * Decodes scalars of OTLP JSON (protobuf's JSON mapping): integers as numbers or strings, enums by number or
 * name, bytes in base64, IDs in hex. An invalid value refuses the push with the messages of Loki's JSON
 * pushes.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { JsonScanner } from '../json-scanner.ts';
import { MALFORMED_STRING, MALFORMED_VALUE, OVERFLOW } from '../json-syntax.ts';
import { type AnyValue, INT } from './any-value.ts';
import { type Instant, instantOfDigits } from './instant.ts';

const QUOTE = 0x22;
/** Maximum length of a number. 2^64 has 20 digits; a longer number is never a valid integer. */
const MAX_NUMBER_LENGTH = 64;
const INTEGER = /^-?\d+$/;
const DECIMAL = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const SEVERITIES = ['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'];
const SEVERITY_NUMBERS = new Map([
  ['SEVERITY_NUMBER_UNSPECIFIED', 0],
  ...SEVERITIES.flatMap((name, i) =>
    [1, 2, 3, 4].map((step): [string, number] => [
      `SEVERITY_NUMBER_${name}${step === 1 ? '' : step}`,
      4 * i + step,
    ]),
  ),
]);
const DOUBLES = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
]);
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
/** Base64 characters decoded at a time, a multiple of 4. */
const BASE64_STEP = 64 * 1024;

/** Reads a number, bare or in quotes, and sets its range in `scanner.start` and `scanner.end`. */
function numberRange(scanner: JsonScanner): void {
  if (scanner.peek() === QUOTE) scanner.string();
  else {
    const start = scanner.at;
    const first = scanner.bytes[start];
    if (first !== 0x2d && (first < 0x30 || first > 0x39)) throw new BadRequestError(MALFORMED_VALUE);
    scanner.skipValue();
    scanner.start = start;
    scanner.end = scanner.at;
  }
  const length = scanner.end - scanner.start;
  if (length === 0 || length > MAX_NUMBER_LENGTH || scanner.isInOverflow()) {
    throw new BadRequestError(MALFORMED_VALUE);
  }
}

/** Reads an unsigned 64-bit integer of nanoseconds. */
export function readInstant(scanner: JsonScanner, into: Instant): void {
  numberRange(scanner);
  if (instantOfDigits(into, scanner.bytes, scanner.start, scanner.end)) return;
  const value = integerOf(scanner.text());
  if (value < 0n || value >= 2n ** 64n) throw new BadRequestError(OVERFLOW);
  const digits = Buffer.from(String(value));
  instantOfDigits(into, digits, 0, digits.length);
}

/** Reads an unsigned 32-bit integer. */
export function readUint32(scanner: JsonScanner): number {
  return readSmall(scanner, 0n, 2n ** 32n);
}

function readSmall(scanner: JsonScanner, min: bigint, end: bigint): number {
  numberRange(scanner);
  const { bytes, start } = scanner;
  let value = 0;
  for (let at = start; at < scanner.end; at++) {
    const digit = bytes[at] - 0x30;
    // Nine digits fit in 32 bits; anything else is rare.
    if (digit < 0 || digit > 9 || at - start === 9) {
      const big = integerOf(scanner.text());
      if (big < min || big >= end) throw new BadRequestError(OVERFLOW);
      return Number(big);
    }
    value = value * 10 + digit;
  }
  return value;
}

/** Reads a signed 64-bit integer. */
export function readInteger(scanner: JsonScanner, into: AnyValue): void {
  numberRange(scanner);
  into.kind = INT;
  const { bytes, start, end } = scanner;
  const first = bytes[start] === 0x2d ? start + 1 : start;
  let value = 0;
  let at = first;
  // 15 digits are exact as a double.
  for (; at < end && at - first < 15; at++) {
    const digit = bytes[at] - 0x30;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  if (at === end && at > first) {
    into.number = first > start && value > 0 ? -value : value;
    return;
  }
  into.big = integerOf(scanner.text());
  if (BigInt.asIntN(64, into.big) !== into.big) throw new BadRequestError(OVERFLOW);
  into.number = Number(into.big);
}

/** Accepts `1e3` and `5.0` too, which are whole. */
function integerOf(text: string): bigint {
  if (INTEGER.test(text)) return BigInt(text);
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (!Number.isInteger(value)) throw new BadRequestError(MALFORMED_VALUE);
  return BigInt(value);
}

export function readDouble(scanner: JsonScanner): number {
  const quoted = scanner.peek() === QUOTE;
  numberRange(scanner);
  const text = scanner.text();
  const named = quoted ? DOUBLES.get(text) : undefined;
  if (named !== undefined) return named;
  const value = DECIMAL.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) throw new BadRequestError(MALFORMED_VALUE);
  if (!Number.isFinite(value)) throw new BadRequestError(OVERFLOW);
  return value;
}

/** Reads a boolean as 0 or 1. */
export function readBool(scanner: JsonScanner): number {
  const first = scanner.peek();
  if (first !== 0x74 && first !== 0x66) throw new BadRequestError(MALFORMED_VALUE);
  scanner.skipValue();
  return first === 0x74 ? 1 : 0;
}

export function readSeverity(scanner: JsonScanner): number {
  if (scanner.peek() !== QUOTE) return readSmall(scanner, -(2n ** 31n), 2n ** 31n);
  scanner.string();
  const number = SEVERITY_NUMBERS.get(shortText(scanner));
  if (number === undefined) throw new BadRequestError('unknown severity number');
  return number;
}

function shortText(scanner: JsonScanner): string {
  return scanner.end - scanner.start > MAX_NUMBER_LENGTH ? '' : scanner.text();
}

/**
 * Reads an ID in hex and sets its lower-case range in `scanner.start` and `scanner.end`. The range is empty
 * if the ID is missing or all zeros.
 */
export function readId(scanner: JsonScanner, digits: number, what: string): void {
  scanner.string();
  const { bytes, start, end } = scanner;
  if (start === end) return;
  if (end - start !== digits || scanner.isInOverflow())
    throw new BadRequestError(`invalid length for ${what}`);
  let isZero = true;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    const isDigit = byte >= 0x30 && byte <= 0x39;
    const letter = byte | 0x20;
    if (!isDigit && (letter < 0x61 || letter > 0x66)) throw new BadRequestError(`${what} is not in hex`);
    if (!isDigit) bytes[at] = letter;
    if (byte !== 0x30) isZero = false;
  }
  if (isZero) scanner.end = start;
}

/**
 * Reads base64 bytes in either alphabet and decodes them in place: `scanner.start` to `scanner.end`.
 *
 * @param onLength receives the length before the decoding; may throw
 */
export function readBytes(scanner: JsonScanner, onLength: (length: number) => void): void {
  scanner.string();
  const { bytes, start, end } = scanner;
  onLength(end - start);
  if (start < end && scanner.isInOverflow()) throw new BadRequestError(MALFORMED_STRING);
  let to = start;
  for (let at = start; at < end; at += BASE64_STEP) {
    const text = bytes.latin1Slice(at, Math.min(end, at + BASE64_STEP));
    if (!BASE64.test(text) || (text.endsWith('=') && at + BASE64_STEP < end)) {
      throw new BadRequestError('illegal base64 data');
    }
    to += bytes.write(text, to, 'base64');
  }
  scanner.end = to;
}
