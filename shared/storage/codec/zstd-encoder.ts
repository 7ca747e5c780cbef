/**
 * Compresses zstd frames in the thread pool with reused contexts. The one-shot call creates a context of 1 to
 * 2 MB for each block and reports it to V8. V8 then collects the whole heap every few blocks, which takes a
 * third of the CPU time of an ingest (measured).
 *
 * A stream that flushes with `ZSTD_e_end` ends a frame with each write. So one stream serves all frames, each frame is
 * one task of the pool, and zstd knows the content size: it chooses its tables by it, and writes it to the frame.
 */
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib';
import type { BufferPool } from '../../base/model/buffer-pool.ts';

/** Number of frames compressed in parallel, equal to the default number of threads in the pool. */
const STREAMS = 4;
/** Size of output buffers. Most blocks of 256 KiB to 1 MiB of logs need one or two. */
const OUTPUT_BYTES = 128 * 1024;
/** Maximum output that may wait inside a stream; blocks are smaller. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

interface WaitingFrame {
  readonly raw: Uint8Array;
  readonly resolve: (frame: Buffer) => void;
  readonly reject: (error: unknown) => void;
}

interface EncoderOptions {
  readonly outputBytes?: number;
  readonly frames?: BufferPool;
  readonly createStream?: typeof createZstdCompress;
}

export class ZstdEncoder {
  readonly #params: Readonly<Record<number, number>>;
  readonly #idle: ZstdCompress[] = [];
  readonly #waiting: WaitingFrame[] = [];
  readonly #outputBytes: number;
  readonly #frames: BufferPool | undefined;
  readonly #createStream: typeof createZstdCompress;
  #open = 0;

  /**
   * @param options.outputBytes size of output buffers; each buffer that is filled takes one more task of the pool
   * @param options.frames memory for frames, to which the caller gives them back. Each stream then has one output buffer for all
   * frames. If a frame certainly fits, zstd compresses the input in place, in a sixth less time
   */
  constructor(
    params: Readonly<Record<number, number>>,
    { outputBytes = OUTPUT_BYTES, frames, createStream = createZstdCompress }: EncoderOptions = {},
  ) {
    this.#params = params;
    this.#frames = frames;
    this.#outputBytes = outputBytes;
    this.#createStream = createStream;
  }

  /** Compresses `raw` into one frame. `raw` must not change until it resolves. */
  pack(raw: Uint8Array): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ raw, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#waiting.length === 0) return;
    const stream = this.#idle.pop() ?? (this.#open < STREAMS ? this.#openStream() : undefined);
    if (stream === undefined) return;
    this.#run(stream, this.#waiting.shift()!);
  }

  #openStream(): ZstdCompress {
    this.#open++;
    const options = {
      params: this.#params,
      flush: constants.ZSTD_e_end,
      chunkSize: this.#outputBytes,
      readableHighWaterMark: MAX_OUTPUT_BYTES,
    };
    return this.#createStream(options);
  }

  #run(stream: ZstdCompress, { raw, resolve, reject }: WaitingFrame): void {
    let failed = false;
    const onError = (error: unknown) => {
      if (failed) return;
      failed = true;
      // Close a stream that failed: the next frame gets a new one.
      this.#open--;
      stream.destroy();
      reject(error);
      this.#next();
    };
    stream.on('error', onError);
    stream.write(raw, error => {
      // The write of a closed stream also ends, without output, which would look like an empty frame.
      if (failed || error || stream.destroyed)
        return onError(error ?? new Error('the zstd stream is closed'));
      stream.off('error', onError);
      const parts: Buffer[] = [];
      for (let part = stream.read(); part !== null; part = stream.read()) parts.push(part as Buffer);
      const frame = this.#frames === undefined ? joined(parts) : moved(parts, stream, this.#frames);
      this.#idle.push(stream);
      resolve(frame);
      this.#next();
    });
  }
}

function joined(parts: readonly Buffer[]): Buffer {
  return parts.length === 1 ? parts[0] : Buffer.concat(parts);
}

/** Copies a frame, so that the output of the stream begins at the start of its buffer again. */
function moved(parts: readonly Buffer[], stream: ZstdCompress, frames: BufferPool): Buffer {
  const frame = frames.take(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) at += part.copy(frame, at);
  // Not documented. If it has no effect, the stream takes new buffers.
  (stream as ZstdCompress & { _outOffset?: number })._outOffset = 0;
  return frame;
}
