/**
 * The transfer's encoding of OTLP bodies (docs/dev/wire-format.md#encodings-of-otlp): none, gzip, zstd or lz4. Sizes are checked
 * and memory is counted while the content comes, as for the pushes of Loki.
 */
import { constants, createZstdDecompress } from 'node:zlib';
import { BadRequestError } from '../../../base/model/errors.ts';
import { type Pace, UNPACED } from '../../../base/model/steps.ts';
import { type BodyHeaders, type BodyLimits, decompressBody } from '../body.ts';
import { MAX_BODY_BYTES } from '../bounds.ts';
import type { HeldBytes } from '../push-budget.ts';
import { boundedByRatio, pump, UnpackedBytes, type UnpackOptions } from '../unpacked-bytes.ts';
import { decodeLz4Frames } from './lz4-frame.ts';

/** The type whose bodies `decompressBody` does not expect in snappy. */
const PLAIN_TYPE = 'application/json';
/** What every decoder of zstd supports (RFC 8878, 3.1.1.1.2) and encoders use up to level 19: 8 MiB. */
const MAX_WINDOW_LOG = 23;
export const MAX_WINDOW_BYTES = 2 ** MAX_WINDOW_LOG;
const CHUNK_BYTES = 256 * 1024;
/** Of zstd. */
const MAX_BLOCK_BYTES = 128 * 1024;
/** Of one body, where each takes a stream; encoders that work in parallel make one for each part of some megabytes. */
export const MAX_FRAMES = 1000;
const EMPTY = Buffer.alloc(0);

/**
 * The content of a body. Throws BadRequestError where it cannot be decompressed, TooLargeError where it is over a limit,
 * NoRoomError where `held` has no room.
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
      // Checks the size as it arrived, and gives the body back.
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

/** All frames of a body: a stream of Node 24 ends behind the first one and says nothing of the rest, one of Node 26 goes on. */
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
    // The window is taken at the first byte, whatever the content; beside it a block as it comes in and as it goes out.
    const { windowBytes } = headOf(frame);
    const wanted = windowBytes + 2 * Math.min(windowBytes, MAX_BLOCK_BYTES);
    if (wanted > contextBytes) await held.take(wanted - contextBytes);
    contextBytes = Math.max(contextBytes, wanted);
    at += await unzstdFrame(frame, content);
  }
  return content.finish();
}

/** By a stream: a frame may declare any size, and the one-shot call would take it. Answers the bytes of the frame. */
async function unzstdFrame(body: Buffer, content: UnpackedBytes): Promise<number> {
  const stream = createZstdDecompress({
    chunkSize: CHUNK_BYTES,
    params: { [constants.ZSTD_d_windowLogMax]: MAX_WINDOW_LOG },
  });
  await pump(stream, body, content, error => {
    const message = error.code === 'Z_BUF_ERROR' ? 'unexpected EOF' : 'zstd: invalid input';
    return new BadRequestError(message, { cause: error });
  });
  // Nothing taken and no error: the loop over frames must not stand still.
  if (stream.bytesWritten === 0) throw new BadRequestError('unexpected EOF');
  return stream.bytesWritten;
}

interface FrameHead {
  /** What the decoder takes for the window; the most where the head cannot be read. */
  readonly windowBytes: number;
  /** As declared, to be believed of nothing but an estimate; Infinity where it is not. */
  readonly contentBytes: number;
}

const UNREADABLE: FrameHead = { windowBytes: MAX_WINDOW_BYTES, contentBytes: Infinity };

/** The head of a frame: RFC 8878, 3.1.1.1. */
function headOf(frame: Buffer): FrameHead {
  if (frame.length < 6) return UNREADABLE;
  const descriptor = frame[4];
  // A frame of a single segment has no window of its own: its window is its content.
  const isSingle = (descriptor & 0x20) !== 0;
  const at = (isSingle ? 5 : 6) + [0, 1, 2, 4][descriptor & 3];
  const sizeBytes = [isSingle ? 1 : 0, 2, 4, 8][descriptor >> 6];
  const isKnown = sizeBytes > 0 && sizeBytes < 8 && frame.length >= at + sizeBytes;
  const declared = isKnown ? frame.readUIntLE(at, sizeBytes) + (sizeBytes === 2 ? 256 : 0) : Infinity;
  const base = 2 ** (10 + (frame[5] >> 3));
  const windowBytes = isSingle ? declared : base + (base / 8) * (frame[5] & 7);
  return { windowBytes: Math.min(windowBytes, MAX_WINDOW_BYTES), contentBytes: declared };
}
