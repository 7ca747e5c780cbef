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

/** Bytes searched for a line feed per step: 0.1 ms. */
const SEARCHED_A_STEP = 1024 * 1024;

/** Finds the lines of a body in steps, however long a line is. */
export class LineEnds {
  readonly #bytes: Buffer;
  /** Part of the body that is searched now, and its start. */
  #part: Buffer;
  #start = 0;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#part = bytes.subarray(0, SEARCHED_A_STEP);
  }

  /**
   * Returns the end of the line that starts at `start`: its line feed, or the end of the body. Returns -1 if
   * the search continues in another step. Lines ascend.
   */
  find(start: number): number {
    const found = this.#part.indexOf(LINE_FEED, Math.max(start - this.#start, 0));
    if (found >= 0) return this.#start + found;
    const end = this.#start + this.#part.length;
    if (end === this.#bytes.length) return end;
    this.#start = end;
    this.#part = this.#bytes.subarray(end, end + SEARCHED_A_STEP);
    return -1;
  }
}

/** Whether the range is only white space. A range longer than the maximum document is not. */
export function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start > MAX_DENSE_BYTES) return false;
  for (let at = start; at < end; at++) if (bytes[at] > 0x20) return false;
  return true;
}
