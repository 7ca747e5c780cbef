/**
 * Measures the total length of the label names of a JSON line. Each value's name repeats the keys of all
 * enclosing objects, so a line of 256 KiB can have gigabytes of names. Such a line is not parsed. A query
 * requests a parser explicitly, but detection runs on any line, so it must be protected.
 */
import {
  blockEnd,
  CLOSE_BRACE,
  COLON,
  MAX_JSON_DEPTH,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  skipSpace,
  stringEnd,
  tokenEnd,
} from '../../../base/text/json-scan.ts';

/** Length of the path to each open object, bytes. */
const PATHS = new Float64Array(MAX_JSON_DEPTH + 1);

/**
 * Returns false if the names that the parser would create exceed `maxBytes` in total. Every key counts,
 * whatever its value is. Invalid syntax ends the count, as it ends the parser.
 */
export function jsonNamesFit(source: Buffer, start: number, end: number, maxBytes: number): boolean {
  let depth = -1;
  let keyBytes = 0;
  let total = 0;
  for (let at = start; at < end; at++) {
    const byte = source[at];
    if (byte === QUOTE) {
      const stop = stringEnd(source, at + 1, end);
      if (stop < 0) return true;
      const next = skipSpace(source, stop + 1, end);
      if (next < end && source[next] === COLON && depth >= 0) {
        keyBytes = stop - at;
        total += PATHS[depth] + keyBytes;
        if (total > maxBytes) return false;
        at = valueStart(source, next + 1, end) - 1;
      } else at = stop;
    } else if (byte === OPEN_BRACE && depth < MAX_JSON_DEPTH) {
      PATHS[depth + 1] = depth < 0 ? 0 : PATHS[depth] + keyBytes;
      depth++;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      const stop = blockEnd(source, at, end);
      if (stop < 0) return true;
      at = stop - 1;
    } else if (byte === CLOSE_BRACE && --depth < 0) return true;
  }
  return true;
}

/**
 * Returns the offset of a value's first byte if it is a string, object or array, otherwise the offset after
 * it: `1"` is one word.
 */
function valueStart(source: Buffer, from: number, end: number): number {
  const at = skipSpace(source, from, end);
  const byte = at < end ? source[at] : 0;
  return byte === QUOTE || byte === OPEN_BRACE || byte === OPEN_BRACKET ? at : tokenEnd(source, at, end);
}
