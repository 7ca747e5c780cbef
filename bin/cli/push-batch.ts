/**
 * Lines to the batches that are pushed. Each line gets a timestamp of its own, later than the one before by at least
 * a nanosecond: equal lines then stay apart (an entry with the same stream, time and line is stored once) and the
 * order of the file is the order of the answers. A line's time is when it was read, so a slow pipe keeps its pace.
 */
import { LineSplitter } from './line-splitter.ts';

export interface PushBatch {
  /** JSON of the entries, `["<ns>","<line>"]`, joined by commas. */
  readonly values: string;
  readonly lines: number;
  /** Number of its first line in the input, from 1. */
  readonly firstLine: number;
  /** Bytes of input that were read when the batch was full. */
  readonly readBytes: number;
  /** Bytes of input up to the end of its last line. */
  readonly endBytes: number;
}

export interface BatchOptions {
  /** A batch ends with the line that brings its entries to this size, bytes of JSON. */
  readonly batchBytes: number;
  /** Lines that wait for more input are pushed after this time. */
  readonly maxWaitMs: number;
  readonly nowNs: () => bigint;
  /** Whether a last line without an end mark is left out: somebody is still writing it. */
  readonly leavesOpenLine?: boolean;
}

/** What JSON adds to a line: brackets, quotes, commas and 19 digits. */
const ENTRY_OVERHEAD_BYTES = 26;

/** Batches of a text, in order. The input is read no further than one piece ahead. */
export async function* batchesOf(
  input: AsyncIterable<Buffer>,
  { batchBytes, maxWaitMs, nowNs, leavesOpenLine = false }: BatchOptions,
): AsyncGenerator<PushBatch> {
  let timeNs = 0n;
  let values = '';
  let lines = 0;
  let bytes = 0;
  let takenLines = 0;
  let inputBytes = 0;
  const full: PushBatch[] = [];
  const splitter = new LineSplitter((source, start, end) => {
    timeNs++;
    values += `${lines === 0 ? '' : ','}["${timeNs}",${JSON.stringify(source.utf8Slice(start, end))}]`;
    lines++;
    bytes += end - start + ENTRY_OVERHEAD_BYTES;
    if (bytes >= batchBytes) take();
  });
  const take = () => {
    full.push({
      values,
      lines,
      firstLine: takenLines + 1,
      readBytes: inputBytes,
      endBytes: splitter.endBytes,
    });
    takenLines += lines;
    values = '';
    lines = 0;
    bytes = 0;
  };

  const pieces = input[Symbol.asyncIterator]();
  let next = nextOf(pieces);
  for (;;) {
    const got = lines > 0 ? await within(next, maxWaitMs) : await next;
    if (got === undefined) take();
    else if (got.done) break;
    else {
      inputBytes += got.value.length;
      const now = nowNs();
      if (now > timeNs) timeNs = now;
      splitter.feed(got.value);
      next = nextOf(pieces);
    }
    yield* full.splice(0);
  }
  if (!leavesOpenLine) splitter.finish();
  if (lines > 0) take();
  yield* full;
}

/** The next piece, requested before it is needed. */
export function nextOf(pieces: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
  const next = pieces.next();
  // It may fail while no caller waits for it, when pushing failed first; a caller that waits still gets the failure.
  next.catch(() => {});
  return next;
}

/** The promise's value, or undefined where that takes longer. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>(resolve => {
    timer = setTimeout(resolve, ms, undefined);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
