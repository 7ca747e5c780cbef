/**
 * The transfer's encoding of OTLP bodies (wire-format 2.1): none, gzip, zstd or lz4. Sizes are checked and memory is
 * counted while the content comes, as for the pushes of Loki.
 */
import { constants, createZstdDecompress } from 'node:zlib';
import { BadRequestError, TooLargeError } from '../../model/errors.ts';
import { type BodyHeaders, type BodyLimits, decompressBody } from '../body.ts';
import { MAX_BODY_BYTES } from '../bounds.ts';
import type { HeldBytes } from '../push-budget.ts';
import { decodeLz4Frames } from './lz4-frame.ts';

/** The type whose bodies `decompressBody` does not expect in snappy. */
const PLAIN_TYPE = 'application/json';
/** What every decoder of zstd supports (RFC 8878, 3.1.1.1.2) and encoders use up to level 19: 8 MiB. */
const MAX_WINDOW_LOG = 23;
const CHUNK_BYTES = 256 * 1024;
/** Of one body, where each takes a stream; encoders that work in parallel make one for each part of some megabytes. */
const MAX_FRAMES = 1000;
const EMPTY = Buffer.alloc(0);

/**
 * The content of a body. Throws BadRequestError where it cannot be decompressed, TooLargeError where it is over a limit,
 * ThrottledError where `held` has no room.
 */
export function unpackLogs(
  body: Uint8Array,
  { contentEncoding }: BodyHeaders,
  limits: BodyLimits,
  held: HeldBytes,
): Promise<Buffer> | Buffer {
  switch (contentEncoding ?? '') {
    case '':
    case 'gzip':
      return decompressBody(body, { contentEncoding, contentType: PLAIN_TYPE }, limits, held);
    case 'zstd':
    case 'lz4': {
      // Checks the size as it arrived, and gives the body back.
      const packed = decompressBody(body, { contentType: PLAIN_TYPE }, limits, held) as Buffer;
      const maxBytes = Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES);
      if (packed.length === 0) return EMPTY;
      return contentEncoding === 'lz4'
        ? decodeLz4Frames(packed, maxBytes, held)
        : unzstd(packed, maxBytes, held);
    }
    default:
      throw new BadRequestError(
        `unsupported content encoding ${contentEncoding}: only gzip, lz4 and zstd are supported`,
      );
  }
}

/** What the frames of one body have given so far. */
interface Unpacked {
  readonly parts: Buffer[];
  bytes: number;
  readonly maxBytes: number;
  readonly held: HeldBytes;
}

/** All frames of a body: a stream of Node 24 ends behind the first one and says nothing of the rest, one of Node 26 goes on. */
async function unzstd(body: Buffer, maxBytes: number, held: HeldBytes): Promise<Buffer> {
  // The window is taken at the first byte, whatever the content.
  held.take(2 ** MAX_WINDOW_LOG);
  const unpacked: Unpacked = { parts: [], bytes: 0, maxBytes, held };
  let at = 0;
  for (let frames = 0; at < body.length; frames++) {
    if (frames === MAX_FRAMES) throw new BadRequestError(`zstd: more than ${MAX_FRAMES} frames`);
    at += await unzstdFrame(body.subarray(at), unpacked);
  }
  return unpacked.parts.length === 1 ? unpacked.parts[0] : Buffer.concat(unpacked.parts, unpacked.bytes);
}

/** By a stream: a frame may declare any size, and the one-shot call would take it. Answers the bytes of the frame. */
function unzstdFrame(body: Buffer, unpacked: Unpacked): Promise<number> {
  return new Promise((resolve, reject) => {
    const stream = createZstdDecompress({
      chunkSize: CHUNK_BYTES,
      params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
    });
    const { maxBytes, held } = unpacked;
    const fail = (error: unknown) => {
      stream.destroy();
      reject(error);
    };
    stream.on('data', (part: Buffer) => {
      unpacked.bytes += part.length;
      if (unpacked.bytes > maxBytes) {
        fail(
          new TooLargeError(
            `request body too large: decompressed message size too large than max (${maxBytes + 1} vs ${maxBytes})`,
          ),
        );
        return;
      }
      try {
        held.take(part.length);
        unpacked.parts.push(part);
      } catch (error) {
        fail(error);
      }
    });
    stream.on('error', (error: NodeJS.ErrnoException) => {
      const message = error.code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'zstd: invalid input';
      fail(new BadRequestError(message, { cause: error }));
    });
    stream.on('end', () => {
      // Nothing taken and no error: the loop over frames must not stand still.
      if (stream.bytesWritten > 0) resolve(stream.bytesWritten);
      else fail(new BadRequestError('unexpected EOF'));
    });
    stream.end(body);
  });
}
