/** Shared functions of text receivers: unpacking bodies and splitting them into lines. */
import { type Pace, UNPACED } from '../../../base/model/steps.ts';
import { type BodyHeaders, type BodyLimits, decompressBody } from '../body.ts';
import { MAX_DENSE_BYTES } from '../bounds.ts';
import type { HeldBytes } from '../push-budget.ts';

const LINE_FEED = 0x0a;

/** Returns the text of a body, plain or gzip, whatever its content type. Throws as `decompressBody`. */
export function unpackText(
  body: Uint8Array,
  { contentEncoding }: BodyHeaders,
  limits: BodyLimits,
  held: HeldBytes,
  pace: Pace = UNPACED,
): Promise<Buffer> | Buffer {
  const encoding = contentEncoding?.toLowerCase();
  const headers = {
    contentType: 'application/json',
    contentEncoding: encoding === 'identity' ? '' : encoding,
  };
  return decompressBody(body, headers, limits, held, pace);
}

/** Returns the end of the line that starts at `start`: its line feed, or the end of the body. */
export function lineEnd(bytes: Buffer, start: number): number {
  const found = bytes.indexOf(LINE_FEED, start);
  return found < 0 ? bytes.length : found;
}

/** Whether the range is only white space. A range longer than the maximum document is not. */
export function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_DENSE_BYTES) return false;
  for (let at = start; at < end; at++) if (bytes[at] > 0x20) return false;
  return true;
}
