/**
 * From the body of a push request to the bytes that its format describes (docs/dev/wire-format.md#content-type-and-encoding,
 * #sizes): takes off the transfer's gzip or deflate, then the snappy block that protobuf always travels in, so gzip may wrap
 * snappy.
 *
 * Sizes are checked before memory is taken: a body cannot cost more than its limits, whatever it declares. Content comes in pieces,
 * so that neither this thread nor one of the pool works on one body for long.
 */
import { createGunzip, createInflateRaw } from 'node:zlib';
import { BadRequestError, TooLargeError } from '../../base/model/errors.ts';
import { quote } from '../../base/model/quote.ts';
import { type Pace, runPaced, UNPACED } from '../../base/model/steps.ts';
import { MAX_BODY_BYTES } from './bounds.ts';
import { pushFormat } from './content.ts';
import type { HeldBytes } from './push-budget.ts';
import { snappyLength, uncompressSnappy } from './snappy.ts';
import { boundedByRatio, pump, UnpackedBytes, type UnpackOptions } from './unpacked-bytes.ts';

export interface BodyHeaders {
  readonly contentEncoding?: string;
  /** JSON is not snappy-compressed; anything else is. Missing means snappy. */
  readonly contentType?: string;
}

export interface BodyLimits {
  /** Bytes of the body as it arrived. */
  readonly maxBodyBytes: number;
  /** Bytes after decompression. */
  readonly maxDecompressedBytes: number;
}

/** Output of zlib in one piece up to here: some milliseconds of a thread of the pool. */
const MAX_CHUNK_BYTES = 2 * 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;
/** Deflate cannot shrink further: 258 bytes for 2 bits. */
const MAX_DEFLATE_RATIO = 1032;

/**
 * The decompressed body. A body that needs no decompression is returned as it is, not copied.
 * Throws BadRequestError where it cannot be decompressed, TooLargeError where it is over a limit, NoRoomError where
 * `held` has no room for more.
 */
export function decompressBody(
  body: Uint8Array,
  headers: BodyHeaders,
  limits: BodyLimits,
  held: HeldBytes,
  pace: Pace = UNPACED,
): Promise<Buffer> | Buffer {
  const maxBodyBytes = Math.min(limits.maxBodyBytes, MAX_BODY_BYTES);
  if (body.length > maxBodyBytes) {
    throw new TooLargeError(
      `request body too large: message size too large than max (${body.length} vs ${maxBodyBytes})`,
    );
  }
  const options = { maxBytes: Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES), held, pace };
  const plain = headers.contentType !== undefined && pushFormat(headers.contentType) === 'json';
  const unwrap = (inner: Buffer): Buffer | Promise<Buffer> => (plain ? inner : unpackSnappy(inner, options));
  switch (headers.contentEncoding ?? '') {
    case '':
    case 'snappy':
      return unwrap(asBuffer(body));
    case 'gzip':
      return inflate('gzip', body, options).then(unwrap);
    case 'deflate':
      return inflate('deflate', body, options).then(unwrap);
    default:
      throw new BadRequestError(`Content-Encoding ${quote(headers.contentEncoding!)} not supported`);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

async function unpackSnappy(body: Buffer, { maxBytes, held, pace }: UnpackOptions): Promise<Buffer> {
  await held.take(snappyLength(body, maxBytes));
  return runPaced(uncompressSnappy(body, maxBytes), pace);
}

/** The content of gzip, of all its members, or of a raw deflate stream. */
export async function inflate(
  format: 'gzip' | 'deflate',
  body: Uint8Array,
  { maxBytes: limit, held, pace }: UnpackOptions,
): Promise<Buffer> {
  if (body.length === 0) throw new BadRequestError('EOF');
  const maxBytes = boundedByRatio(body.length, limit);
  const prepaid = Math.min(possibleBytes(body, maxBytes), MAX_CHUNK_BYTES);
  const chunkSize = Math.max(prepaid, MIN_CHUNK_BYTES);
  await held.take(prepaid);
  const stream = format === 'gzip' ? createGunzip({ chunkSize }) : createInflateRaw({ chunkSize });
  const content = new UnpackedBytes({ maxBytes, held, pace }, { prepaid, ahead: chunkSize });
  await pump(stream, body, content, error => {
    const message = inflateMessage(error.code, format === 'gzip' && !isGzip(body));
    return new BadRequestError(message, { cause: error });
  });
  return content.finish();
}

function inflateMessage(code: string | undefined, badHeader: boolean): string {
  if (badHeader) return 'gzip: invalid header';
  return code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'flate: corrupt input';
}

function isGzip(body: Uint8Array): boolean {
  return body[0] === 0x1f && (body.length < 2 || body[1] === 0x8b);
}

/** The size that gzip's trailer declares where it can be true: one output buffer of the right size is 1.6 times faster. */
function possibleBytes(body: Uint8Array, maxBytes: number): number {
  const at = body.length - 4;
  const declared =
    at < 0 ? 0 : body[at] + (body[at + 1] << 8) + (body[at + 2] << 16) + body[at + 3] * 0x1000000;
  return Math.min(declared + 1, body.length * MAX_DEFLATE_RATIO, maxBytes);
}
