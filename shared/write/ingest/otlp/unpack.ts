/**
 * Decompresses OTLP bodies (docs/dev/wire-format.md#encodings-of-otlp): none, gzip, zstd or lz4. Sizes are checked and memory is
 * counted while the content arrives, as for Loki pushes.
 */
import { constants, createZstdDecompress } from 'node:zlib';
import { BadRequestError } from '../../../base/model/errors.ts';
import { type Pace, UNPACED } from '../../../base/model/steps.ts';
import { type BodyHeaders, type BodyLimits, decompressBody } from '../body.ts';
import { MAX_BODY_BYTES } from '../bounds.ts';
import type { HeldBytes } from '../push-budget.ts';
import { boundedByRatio, pump, UnpackedBytes, type UnpackOptions } from '../unpacked-bytes.ts';
import { decodeLz4Frames } from './lz4-frame.ts';

/** Content type for which `decompressBody` does not expect snappy. */
const PLAIN_TYPE = 'application/json';
/**
 * Maximum zstd window: every decoder supports 8 MiB (RFC 8878, 3.1.1.1.2), and encoders use up to that at
 * level 19.
 */
const MAX_WINDOW_LOG = 23;
export const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG;
const CHUNK_BYTES = 256 * 1024;
/** Maximum block size of zstd. */
const MAX_BLOCK_BYTES = 128 * 1024;
/**
 * Maximum frames of a body. Each takes a decoder stream; parallel encoders write one frame per few megabytes.
 */
export const MAX_FRAMES = 1000;
const EMPTY = Buffer.alloc(0);

/**
 * Returns the content of a body. Throws BadRequestError if it cannot be decompressed, TooLargeError if it
 * exceeds a limit, PushMemoryError if the memory budget `held` is exhausted.
 */
export function unpackLogs(
  body: Uint8Array,
  { contentEncoding }: BodyHeaders,
  limits: BodyLimits,
  held: HeldBytes,
  pace: Pace = UNPACED,
): Promise<Buffer> | Buffer {
  switch (contentEncoding ?? '') {
    case '':
    case 'gzip':
      return decompressBody(body, { contentEncoding, contentType: PLAIN_TYPE }, limits, held, pace);
    case 'zstd':
    case 'lz4': {
      // Checks the size as received, and returns the body unchanged.
      const packed = decompressBody(body, { contentType: PLAIN_TYPE }, limits, held) as Buffer;
      if (packed.length === 0) return EMPTY;
      const limit = Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES);
      const options = { maxBytes: boundedByRatio(packed.length, limit), held, pace };
      return contentEncoding === 'lz4' ? decodeLz4Frames(packed, options) : unzstd(packed, options);
    }
    default:
      throw new BadRequestError(
        `unsupported content encoding ${contentEncoding}: only gzip, lz4 and zstd are supported`,
      );
  }
}

/**
 * Decompresses all frames of a body. A stream of Node 24 ends after the first frame without a hint; Node 26
 * continues.
 */
async function unzstd(body: Buffer, options: UnpackOptions): Promise<Buffer> {
  const { held } = options;
  const prepaid = Math.min(headOf(body).contentBytes, CHUNK_BYTES);
  let contextBytes = 0;
  await held.take(prepaid);
  const content = new UnpackedBytes(options, { prepaid, ahead: CHUNK_BYTES });
  let at = 0;
  for (let frames = 0; at < body.length; frames++) {
    if (frames === MAX_FRAMES) throw new BadRequestError(`zstd: more than ${MAX_FRAMES} frames`);
    const frame = body.subarray(at);
    // The decoder allocates the window at the first byte, whatever the content, plus one block of input and
    // one of output.
    const { windowBytes } = headOf(frame);
    const wanted = windowBytes + 2 * Math.min(windowBytes, MAX_BLOCK_BYTES);
    if (wanted > contextBytes) await held.take(wanted - contextBytes);
    contextBytes = Math.max(contextBytes, wanted);
    at += await unzstdFrame(frame, content);
  }
  return content.finish();
}

/**
 * Decompresses with a stream and returns the bytes of the frame. A frame may declare any size, and the
 * one-shot call would allocate it.
 */
async function unzstdFrame(body: Buffer, content: UnpackedBytes): Promise<number> {
  const stream = createZstdDecompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
  });
  await pump(stream, body, content, error => {
    const message = error.code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'zstd: invalid input';
    return new BadRequestError(message, { cause: error });
  });
  // Nothing consumed and no error: the loop over frames must not repeat forever.
  if (stream.bytesWritten === 0) throw new BadRequestError('unexpected EOF');
  return stream.bytesWritten;
}

interface FrameHead {
  /** Window that the decoder allocates, the maximum if the header cannot be read. */
  readonly windowBytes: number;
  /** Declared content size, used only as an estimate. Infinity if not declared. */
  readonly contentBytes: number;
}

const UNREADABLE: FrameHead = { windowBytes: MAX_WINDOW_BYTES, contentBytes: Infinity };

/** Reads the header of a frame: RFC 8878, 3.1.1.1. */
function headOf(frame: Buffer): FrameHead {
  if (frame.length < 6) return UNREADABLE;
  const descriptor = frame[4];
  // A single-segment frame has no separate window: its window is its content.
  const isSingle = (descriptor & 0x20) !== 0;
  const at = (isSingle ? 5 : 6) + [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  const isKnown = sizeBytes > 0 && sizeBytes < 8 && frame.length >= at + sizeBytes;
  const declared = isKnown ? frame.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0) : Infinity;
  const base = 2 ** (10 + (frame[5] >> 3));
  const windowBytes = isSingle ? declared : base + (base / 8) * (frame[5] & 7);
  return { windowBytes: Math.min(windowBytes, MAX_WINDOW_BYTES), contentBytes: declared };
}
