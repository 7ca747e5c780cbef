/** Syntax tables of JSON, and the reference's messages for syntax errors. */

export const MALFORMED_STRING = `Value is string, but can't find closing '"' symbol`;
export const MALFORMED_OBJECT = `Value looks like object, but can't find closing '}' symbol`;
export const MALFORMED_ARRAY = `Value is array, but can't find closing ']' symbol`;
export const MALFORMED_VALUE = `Value looks like Number/Boolean/None, but can't find its end: ',' or '}' symbol`;
export const OVERFLOW = 'Value is number, but overflowed while parsing';
export const BAD_ESCAPE = 'Encountered an invalid escape sequence in a string';
export const MAX_DEPTH_EXCEEDED = 'exceeded max depth';

/** 1 for a byte of white space. */
export const BLANK = new Uint8Array(256);
for (const byte of Buffer.from(' \t\r\n')) BLANK[byte] = 1;

/** 1 for a byte of a number or a word. */
const SCALAR = new Uint8Array(256);
for (const byte of Buffer.from('0123456789+-.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'))
  SCALAR[byte] = 1;
const SCALAR_TEXT = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
/** Maximum length of a number that is checked, far above what encoders write. */
const MAX_SCALAR_LENGTH = 4096;

/**
 * Returns the offset after the number, `true`, `false` or `null` that starts at `start`, or -1 if there is
 * none.
 */
export function scalarEnd(bytes: Buffer, start: number): number {
  const limit = Math.min(bytes.length, start + MAX_SCALAR_LENGTH + 1);
  let at = start;
  while (at < limit && SCALAR[bytes[at]] === 1) at++;
  if (at - start > MAX_SCALAR_LENGTH) return -1;
  return SCALAR_TEXT.test(bytes.latin1Slice(start, at)) ? at : -1;
}
