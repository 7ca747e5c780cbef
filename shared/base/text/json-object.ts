/** Parses JSON objects in lines, with all digits of their numbers. */

/** Numbers above 2^53 lose digits in JSON.parse. Timestamps in nanoseconds and many IDs are that large. */
const LONG_NUMBER = /\d{16,19}/;
const WHOLE_NUMBER = /^\d{16,19}$/;

/** Returns undefined if the text is not a JSON object. Whole numbers that would lose digits become texts. */
export function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^\s{0,64}\{/.test(text)) return undefined;
  try {
    return JSON.parse(text, LONG_NUMBER.test(text) ? withAllDigits : undefined) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

function withAllDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && WHOLE_NUMBER.test(source) ? source : value;
}
