/**
 * Packs zstd frames in the thread pool with contexts that are used again. The one-shot call makes a context of a
 * megabyte or two for each block and reports it to V8, which then collects the whole heap every few blocks: a third of
 * the CPU of an ingest (measured).
 *
 * A compression stream ends a frame with `flush(ZSTD_e_end)` and begins the next one with the next write, so one
 * stream serves for ever. Frames carry no content size: the place of a block does.
 */
import { constants, createZstdCompress, type ZstdCompress } from 'node:zlib';

/** Frames packed at once; as many as the thread pool has threads by default. */
const STREAMS = 4;
/** Output is cut into buffers of this size: most blocks of 256 KiB to 1 MiB of logs need one or two. */
const OUTPUT_BYTES = 128 * 1024;
/** Output that may wait inside a stream until it is taken; blocks are smaller. */
const MAX_OUTPUT_BYTES = 512 * 1024 * 1024;

interface Job {
  readonly raw: Uint8Array;
  readonly resolve: (frame: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

export class ZstdEncoder {
  readonly #params: Readonly<Record<number, number>>;
  readonly #idle: ZstdCompress[] = [];
  readonly #waiting: Job[] = [];
  readonly #createStream: typeof createZstdCompress;
  #open = 0;

  constructor(params: Readonly<Record<number, number>>, createStream = createZstdCompress) {
    this.#params = params;
    this.#createStream = createStream;
  }

  /** One frame that holds `raw`, which must not change meanwhile. */
  pack(raw: Uint8Array): Promise<Uint8Array> {
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
      chunkSize: OUTPUT_BYTES,
      readableHighWaterMark: MAX_OUTPUT_BYTES,
    };
    return this.#createStream(options);
  }

  #run(stream: ZstdCompress, { raw, resolve, reject }: Job): void {
    let failed = false;
    const onError = (error: unknown) => {
      if (failed) return;
      failed = true;
      // A stream that failed is closed: the next frame gets a new one.
      this.#open--;
      stream.destroy();
      reject(error);
      this.#next();
    };
    stream.on('error', onError);
    stream.write(raw);
    stream.flush(constants.ZSTD_e_end, ((error?: Error | null) => {
      // Of a stream that is closed the flush ends too, with nothing to read: that would be an empty frame.
      if (failed || error || stream.destroyed)
        return onError(error ?? new Error('the zstd stream is closed'));
      stream.off('error', onError);
      const parts: Buffer[] = [];
      for (let part = stream.read(); part !== null; part = stream.read()) parts.push(part as Buffer);
      this.#idle.push(stream);
      resolve(parts.length === 1 ? parts[0] : Buffer.concat(parts));
      this.#next();
    }) as () => void);
  }
}
