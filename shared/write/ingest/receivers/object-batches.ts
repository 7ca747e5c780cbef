/**
 * Reads a log file as a stream, in batches of whole lines. The batch bounds memory, not the file. Gzip is
 * recognized by its first bytes. Batch boundaries follow from the content alone, so a repeat has the same
 * batches.
 *
 * Pitfall: each line gets metadata (the name of the file), which may be far larger than the line and counts
 * against the tenant's rate. It must be part of the batch size. Otherwise a file of short lines would make
 * batches that exceed the burst and are refused forever.
 */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { TooLargeError } from '../../../base/model/errors.ts';
import { MAX_OBJECT_BYTES, OBJECT_BATCH_BYTES } from './bounds.ts';
import { MAX_FORMAT_BYTES, type ObjectFormat, objectFormat } from './object-format.ts';
import { RecordSplitter } from './record-splitter.ts';

export interface ObjectBatch {
  readonly bytes: Buffer;
  readonly format: ObjectFormat;
  /** Number of lines before the batch. */
  readonly firstLine: number;
}

const LINE_FEED = 0x0a;
const GZIP = Buffer.of(0x1f, 0x8b, 8);

interface ObjectBatchOptions {
  /** Maximum bytes of a batch: its lines and the metadata of each. */
  readonly batchBytes?: number;
  /** Metadata bytes per line. */
  readonly lineBytes?: number;
  /** Maximum decompressed size of the object. */
  readonly maxBytes?: number;
}

/** Throws errors of the body, a zlib error for corrupt gzip, and TooLargeError above `maxBytes`. */
export async function* objectBatches(
  body: AsyncIterable<Uint8Array>,
  { batchBytes = OBJECT_BATCH_BYTES, lineBytes = 0, maxBytes = MAX_OBJECT_BYTES }: ObjectBatchOptions = {},
): AsyncGenerator<ObjectBatch, void, undefined> {
  let format: ObjectFormat | undefined;
  let splitter: RecordSplitter | undefined;
  // Concatenated only when they fill a batch, because a part may have a few bytes.
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  // Size including the metadata of the lines.
  let waitingWeight = 0;
  let firstLine = 0;
  let total = 0;
  const take = (bytes: Buffer): ObjectBatch => {
    const batch = { bytes, format: format!, firstLine };
    firstLine += countLines(bytes);
    return batch;
  };
  /** Yields the full batches. The remaining bytes become part of the next. */
  function* full(bytes: Buffer): Generator<ObjectBatch, Buffer, undefined> {
    let from = 0;
    for (;;) {
      const remaining = bytes.subarray(from);
      const end = batchEnd(remaining, batchBytes, lineBytes);
      if (end === 0) return remaining;
      yield take(remaining.subarray(0, end));
      from += end;
    }
  }
  for await (const part of withBeginning(await unpacked(body), MAX_FORMAT_BYTES)) {
    total += part.length;
    if (total > maxBytes) throw new TooLargeError(`the object decompresses to more than ${maxBytes} bytes`);
    if (format === undefined) {
      format = objectFormat(part);
      if (format.name === 'cloudtrail') splitter = new RecordSplitter();
    }
    const lines = splitter === undefined ? part : splitter.next(part);
    waiting.push(lines);
    waitingBytes += lines.length;
    waitingWeight += lines.length + countLines(lines) * lineBytes;
    if (waitingWeight < batchBytes) continue;
    const remaining = yield* full(Buffer.concat(waiting, waitingBytes));
    waiting = [remaining];
    waitingBytes = remaining.length;
    waitingWeight = remaining.length + countLines(remaining) * lineBytes;
  }
  if (waitingBytes === 0) return;
  const remaining = yield* full(Buffer.concat(waiting, waitingBytes));
  if (remaining.length > 0) yield take(remaining);
}

/**
 * Returns the end of the first batch of `bytes`, or 0 if all bytes fit into one. A line that exceeds a batch
 * is cut.
 */
function batchEnd(bytes: Buffer, batchBytes: number, lineBytes: number): number {
  let end = 0;
  for (let weight = 0; ; ) {
    const feed = bytes.indexOf(LINE_FEED, end);
    const next = feed < 0 ? bytes.length : feed + 1;
    weight += next - end + (next > end ? lineBytes : 0);
    if (weight > batchBytes) return end > 0 ? end : Math.min(next, Math.max(1, batchBytes - lineBytes));
    if (feed < 0) return 0;
    end = next;
  }
}

async function unpacked(body: AsyncIterable<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  const whole = withBeginning(body, GZIP.length);
  const first = await whole.next();
  const remaining = (async function* () {
    if (!first.done) yield first.value;
    yield* whole;
  })();
  const isGzip = !first.done && GZIP.equals(first.value.subarray(0, GZIP.length));
  if (!isGzip) return remaining;
  const source = Readable.from(remaining, { objectMode: false });
  const gunzip = createGunzip();
  source.on('error', error => gunzip.destroy(error));
  return source.pipe(gunzip);
}

/** Yields the same bytes, with at least `beginning` of them (or all) in the first part. */
async function* withBeginning(
  parts: AsyncIterable<Uint8Array>,
  beginning: number,
): AsyncGenerator<Buffer, void, undefined> {
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const part of parts) {
    const bytes = Buffer.from(part.buffer, part.byteOffset, part.length);
    if (first === undefined) yield bytes;
    else {
      first = Buffer.concat([first, bytes]);
      if (first.length < beginning) continue;
      yield first;
      first = undefined;
    }
  }
  if (first !== undefined && first.length > 0) yield first;
}

function countLines(bytes: Buffer): number {
  let lines = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) lines++;
  return lines;
}
