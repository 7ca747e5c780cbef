/**
 * From the body of a push request to the bytes that its format describes (wire-format 1.2, 1.8): takes off the
 * transfer's gzip or deflate, then the snappy block that protobuf always travels in, so gzip may wrap snappy.
 *
 * Sizes are checked before memory is taken: a body cannot cost more than its limits, whatever it declares.
 */
import { createGunzip, createInflateRaw } from 'node:zlib';
import { BadRequestError, TooLargeError } from '../model/errors.ts';
import { quote } from '../model/quote.ts';
import { MAX_BODY_BYTES } from './bounds.ts';
import { pushFormat } from './content.ts';
import type { HeldBytes } from './push-budget.ts';
import { releaseUncompressed, uncompressSnappy } from './snappy.ts';

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

/** Output of zlib in one piece up to here: a body that declares more than it holds costs no more than this. */
const MAX_CHUNK_BYTES = 8 * 1024 * 1024;
const MIN_CHUNK_BYTES = 64 * 1024;
/** Deflate cannot shrink further: 258 bytes for 2 bits. */
const MAX_DEFLATE_RATIO = 1032;

/**
 * The decompressed body. A body that needs no decompression is returned as it is, not copied.
 * Throws BadRequestError where it cannot be decompressed, TooLargeError where it is over a limit, ThrottledError where
 * `held` has no room for more.
 */
export function decompressBody(
  body: Uint8Array,
  headers: BodyHeaders,
  limits: BodyLimits,
  held: HeldBytes,
): Promise<Buffer> | Buffer {
  const maxBodyBytes = Math.min(limits.maxBodyBytes, MAX_BODY_BYTES);
  if (body.length > maxBodyBytes) {
    throw new TooLargeError(
      `request body too large: message size too large than max (${body.length} vs ${maxBodyBytes})`,
    );
  }
  const maxBytes = Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES);
  const plain = headers.contentType !== undefined && pushFormat(headers.contentType) === 'json';
  const unwrap = (inner: Buffer): Buffer => (plain ? inner : unpackSnappy(inner, maxBytes, held));
  switch (headers.contentEncoding ?? '') {
    case '':
    case 'snappy':
      return unwrap(asBuffer(body));
    case 'gzip':
      return inflate('gzip', body, maxBytes, held).then(unwrap);
    case 'deflate':
      return inflate('deflate', body, maxBytes, held).then(unwrap);
    default:
      throw new BadRequestError(`Content-Encoding ${quote(headers.contentEncoding!)} not supported`);
  }
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

/** One body at a time, so that it may be counted once it is there. */
function unpackSnappy(body: Uint8Array, maxBytes: number, held: HeldBytes): Buffer {
  const bytes = uncompressSnappy(body, maxBytes);
  try {
    held.take(bytes.length);
  } catch (error) {
    releaseUncompressed(bytes);
    throw error;
  }
  return bytes;
}

/** By a stream and not by the call for a whole body: every piece is counted while it comes. */
function inflate(
  format: 'gzip' | 'deflate',
  body: Uint8Array,
  maxBytes: number,
  held: HeldBytes,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    if (body.length === 0) throw new BadRequestError('EOF');
    const options = { chunkSize: chunkSize(body, maxBytes) };
    const stream = format === 'gzip' ? createGunzip(options) : createInflateRaw(options);
    const parts: Buffer[] = [];
    let bytes = 0;
    const fail = (error: unknown) => {
      stream.destroy();
      reject(error);
    };
    stream.on('data', (part: Buffer) => {
      bytes += part.length;
      if (bytes > maxBytes) {
        // A reader stops one byte past the limit and tells that size.
        fail(
          new TooLargeError(
            `request body too large: decompressed message size too large than max (${maxBytes + 1} vs ${maxBytes})`,
          ),
        );
        return;
      }
      try {
        held.take(part.length);
        parts.push(part);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const message = inflateMessage(error.code, format === 'gzip' && !isGzip(body));
      fail(new BadRequestError(message, { cause: error }));
    });
    stream.on('end', () => resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts, bytes)));
    stream.end(body);
  });
}

function inflateMessage(code: string | undefined, badHeader: boolean): string {
  if (badHeader) return 'gzip: invalid header';
  return code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'flate: corrupt input';
}

function isGzip(body: Uint8Array): boolean {
  return body[0] === 0x1f && (body.length < 2 || body[1] === 0x8b);
}

/** The size that gzip's trailer declares where it can be true: one output buffer of the right size is 1.6 times faster. */
function chunkSize(body: Uint8Array, maxBytes: number): number {
  const at = body.length - 4;
  const declared =
    at < 0 ? 0 : body[at] + (body[at + 1] << 8) + (body[at + 2] << 16) + body[at + 3] * 0x1000000;
  const possible = Math.min(declared + 1, body.length * MAX_DEFLATE_RATIO, maxBytes, MAX_CHUNK_BYTES);
  return Math.max(possible, MIN_CHUNK_BYTES);
}
