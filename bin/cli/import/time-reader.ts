/** Reads times by --time-format, or by the formats of known-times.ts. */
import { InvalidArgumentError } from 'commander';
import { type FoundTime, leadingTime, namedUnixTime, TIME_NAMES } from './known-times.ts';
import { timePattern } from './time-pattern.ts';

export interface TimeReader {
  /** Time at the start of a line. */
  leading(text: string): FoundTime | undefined;
  /** Unix nanoseconds of a value that is exactly a time. */
  whole(value: unknown): bigint | undefined;
}

/** Maximum length of a time. Longer values are not parsed. */
const MAX_TIME_CHARACTERS = 64;

/**
 * @param format a name of TIME_NAMES or a pattern with `%` @param referenceMs latest date of times without a
 * year
 */
export function timeReader(format: string | undefined, referenceMs: number): TimeReader {
  const readPattern = format?.includes('%') ? timePattern(format) : undefined;
  const name = readPattern === undefined ? format : undefined;
  const leading = (text: string) => {
    const start = text.slice(0, MAX_TIME_CHARACTERS);
    return readPattern === undefined
      ? leadingTime(start, referenceMs, name)
      : readPattern(start, referenceMs);
  };
  return {
    leading,
    whole(value) {
      const text = typeof value === 'number' ? numberText(value) : value;
      if (typeof text !== 'string' || text.length > MAX_TIME_CHARACTERS) return undefined;
      const trimmed = text.trim();
      if (name !== undefined) {
        const ns = namedUnixTime(trimmed, name);
        if (ns !== undefined) return ns;
      }
      const found = leading(trimmed);
      return found?.end === trimmed.length ? found.ns : undefined;
    },
  };
}

/** Returns the format if it is valid. Throws InvalidArgumentError. */
export function checkTimeFormat(format: string): string {
  if (format.includes('%')) timePattern(format);
  else if (!TIME_NAMES.includes(format)) {
    throw new InvalidArgumentError(
      `A time format is a pattern such as "%Y-%m-%d %H:%M:%S", or one of ${TIME_NAMES.join(', ')}.`,
    );
  }
  return format;
}

/** Digits without an exponent: 1.7e12 becomes 1700000000000. */
function numberText(value: number): string {
  return Number.isInteger(value) ? BigInt(value).toString() : String(value);
}
