/** JSON lines: one JSON object per line. */
import type { Fields, LineFormat } from '../line-format.ts';

export function jsonFormat(): LineFormat {
  return {
    parse(line) {
      const fields = parseObject(line);
      return fields === undefined ? undefined : { fields };
    },
  };
}

/** JSON.parse rounds numbers beyond 2^53, such as timestamps in nanoseconds and many IDs. */
const LONG_NUMBER = /\d{16,19}/;
const WHOLE_NUMBER = /^\d{16,19}$/;

/**
 * Parsed object; undefined if the text is not a JSON object. Integers that would lose digits become strings.
 */
export function parseObject(text: string): Fields | undefined {
  if (!/^\s{0,64}\{/.test(text)) return undefined;
  try {
    return JSON.parse(text, LONG_NUMBER.test(text) ? withAllDigits : undefined) as Fields;
  } catch {
    return undefined;
  }
}

function withAllDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && WHOLE_NUMBER.test(source) ? source : value;
}
