/**
 * Unpacks the body of a push request (docs/dev/wire-format.md#content-type-and-encoding, #sizes). It removes
 * the transfer's gzip or deflate, then the snappy block that always wraps protobuf, so gzip may wrap snappy.
 *
 * Sizes are checked before memory is allocated: a body cannot cost more than its limits, whatever it
 * declares. Content is decompressed in parts, so that no thread works on one body for long.
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
  /** JSON is not compressed with snappy; everything else is. Missing means snappy. */
  readonly contentType?: string;
}

export interface BodyLimits {
  /** Maximum bytes of the body as received. */
  readonly maxBodyBytes: number;
  /** Maximum bytes after decompression. */
  readonly maxDecompressedBytes: number;
}

/** Maximum zlib output per call: a few milliseconds of a pool thread. */
const MAX_CHUNK_BYTES = 2 * 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;
/** Maximum ratio of deflate: 258 bytes for 2 bits. */
const MAX_DEFLATE_RATIO = 1032;

/**
 * Returns the decompressed body. A body that needs no decompression is returned without a copy. Throws
 * BadRequestError if it cannot be decompressed, TooLargeError if it exceeds a limit, PushMemoryError if `held` is
 * exhausted.
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

/** Decompresses all members of gzip, or a raw deflate stream. */
async function inflate(
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

/**
 * Returns the size that gzip's trailer declares, if plausible. One output buffer of the right size is 1.6
 * times faster.
 */
function possibleBytes(body: Uint8Array, maxBytes: number): number {
  const at = body.length - 4;
  const declared =
    at < 0 ? 0 : body[at] + (body[at + 1] << 8) + (body[at + 2] << 16) + body[at + 3] * 0x1000000;
  return Math.min(declared + 1, body.length * MAX_DEFLATE_RATIO, maxBytes);
}
