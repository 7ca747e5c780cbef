/**
 * Reads the body of a GET into one buffer of its declared size. Checks the response against the requested
 * range before it stores a byte. The range bounds memory, whatever the response declares.
 */
import { CutBodyError, UnexpectedAnswerError } from './errors.ts';
import type { ObjectAnswer } from './s3-requests.ts';

export interface AnsweredRange {
  readonly bytes: Buffer;
  /** Offset of the first byte in the object. */
  readonly start: number;
  /** Size of the whole object in bytes. */
  readonly size: number;
}

const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+)$/;

/**
 * Reads a response of at most `maxBytes`. Throws UnexpectedAnswerError, CutBodyError or errors of the stream.
 */
export async function readRangeBody(answer: ObjectAnswer, maxBytes: number): Promise<AnsweredRange> {
  const { body } = answer;
  try {
    const { length, start, size } = declaredRange(answer);
    if (length > maxBytes)
      throw new UnexpectedAnswerError(
        `the response has ${length} bytes, but at most ${maxBytes} were requested`,
      );
    return { bytes: await readBody(body, length), start, size };
  } catch (error) {
    // An unread body would keep its connection busy.
    body.destroy();
    throw error;
  }
}

function declaredRange({ length, range }: Omit<ObjectAnswer, 'body'>): {
  length: number;
  start: number;
  size: number;
} {
  if (length === undefined) throw new UnexpectedAnswerError('the response does not declare its length');
  // No range has zero bytes, so the object is empty. S3 responds with 416 to a range of an empty object.
  // Others respond with 206 and an invalid range (MiniStack: `bytes 0--1/0`).
  if (length === 0) return { length, start: 0, size: 0 };
  // A server may ignore the range and send the whole object.
  if (range === undefined) return { length, start: 0, size: length };
  const match = CONTENT_RANGE.exec(range);
  if (match === null)
    throw new UnexpectedAnswerError(`the response has an invalid range: ${JSON.stringify(range)}`);
  const [start, last, size] = match.slice(1).map(Number);
  if (last - start + 1 !== length || last >= size)
    throw new UnexpectedAnswerError(`the range ${range} of the response does not match its length ${length}`);
  return { length, start, size };
}

async function readBody(body: AsyncIterable<Uint8Array>, length: number): Promise<Buffer> {
  // A separate buffer: from the pool of small buffers, a cached footer would retain 8 KiB.
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  for await (const part of body) {
    if (done + part.byteLength > length)
      throw new UnexpectedAnswerError(`the response body exceeds the declared ${length} bytes`);
    bytes.set(part, done);
    done += part.byteLength;
  }
  if (done !== length) throw new CutBodyError(done, length);
  return bytes;
}
