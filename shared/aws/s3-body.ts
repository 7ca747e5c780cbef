/**
 * Reads the body of a GET into one buffer of its declared size, and refuses what was not asked for before a byte of it
 * is kept: memory is bounded by the range of the request, whatever the answer declares.
 */
import type { Readable } from 'node:stream';
import type { GetObjectCommandOutput } from '@aws-sdk/client-s3';
import { CutBodyError, UnexpectedAnswerError } from './errors.ts';

export interface AnsweredRange {
  readonly bytes: Buffer;
  /** Place of the first byte in the object. */
  readonly start: number;
  /** Bytes of the whole object. */
  readonly size: number;
}

const CONTENT_RANGE = /^bytes (\d+)-(\d+)\/(\d+)$/;

/** The range of an answer of at most `maxBytes`. Throws UnexpectedAnswerError, CutBodyError or what the stream throws. */
export async function readRange(answer: GetObjectCommandOutput, maxBytes: number): Promise<AnsweredRange> {
  const body = answer.Body as Readable | undefined;
  try {
    const { length, start, size } = declaredRange(answer);
    if (length > maxBytes)
      throw new UnexpectedAnswerError(`the answer has ${length} bytes, at most ${maxBytes} were asked for`);
    return { bytes: await readBody(body, length), start, size };
  } catch (error) {
    // An unread body would keep its connection busy.
    body?.destroy?.();
    throw error;
  }
}

function declaredRange({ ContentLength: length, ContentRange: range }: GetObjectCommandOutput): {
  length: number;
  start: number;
  size: number;
} {
  if (length === undefined) throw new UnexpectedAnswerError('the answer does not declare its length');
  // No range is of no bytes, so the object is empty. S3 answers 416 to a range of it, others 206 with a range that is
  // none (MiniStack: `bytes 0--1/0`).
  if (length === 0) return { length, start: 0, size: 0 };
  // A server may ignore the range and send the whole object.
  if (range === undefined) return { length, start: 0, size: length };
  const match = CONTENT_RANGE.exec(range);
  if (match === null) throw new UnexpectedAnswerError(`the range of the answer is ${JSON.stringify(range)}`);
  const [start, last, size] = match.slice(1).map(Number);
  if (last - start + 1 !== length || last >= size)
    throw new UnexpectedAnswerError(`the range ${range} of the answer does not fit its length ${length}`);
  return { length, start, size };
}

async function readBody(body: Readable | undefined, length: number): Promise<Buffer> {
  // Not from the pool of small buffers: a cached footer would keep 8 KiB of it alive.
  const bytes = Buffer.allocUnsafeSlow(length);
  let done = 0;
  for await (const part of body ?? []) {
    const { byteLength } = part as Uint8Array;
    if (done + byteLength > length)
      throw new UnexpectedAnswerError(`the body is longer than the declared ${length} bytes`);
    bytes.set(part as Uint8Array, done);
    done += byteLength;
  }
  if (done !== length) throw new CutBodyError(done, length);
  return bytes;
}
