/**
 * Groups lines into push batches. Each line gets a timestamp at least 1 ns after the one before. Equal lines
 * then stay separate, because the store keeps one of several entries with equal stream, time and line.
 * Results also keep the order of the file. The time of a line is when it was read, so a slow pipe keeps its
 * pace.
 */
import { LineSplitter } from './line-splitter.ts';

export interface PushBatch {
  /** JSON of the entries, `["<ns>","<line>"]`, joined by commas. */
  readonly values: string;
  readonly lines: number;
  /** Number of the first line in the input, from 1. */
  readonly firstLine: number;
  /** Input bytes that were read when the batch was full. */
  readonly readBytes: number;
  /** Input offset after its last line. */
  readonly endBytes: number;
}

export interface PushBatchOptions {
  /** Target size of a batch, bytes of JSON. The line that reaches it is the last. */
  readonly batchBytes: number;
  /** Maximum wait of lines for more input before they are pushed. */
  readonly maxWaitMs: number;
  readonly nowNs: () => bigint;
  /** Skips a last line without an end mark, because a process is still writing it. */
  readonly leavesOpenLine?: boolean;
}

/** JSON overhead of a line: brackets, quotes, commas and 19 digits. */
const ENTRY_OVERHEAD_BYTES = 26;

/** Batches of a text, in order. Reads at most one buffer ahead of the input. */
export async function* batchesOf(
  input: AsyncIterable<Buffer>,
  { batchBytes, maxWaitMs, nowNs, leavesOpenLine = false }: PushBatchOptions,
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
    const got = lines > 0 ? await valueWithin(next, maxWaitMs) : await next;
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

/** Requests the next buffer before it is needed. */
export function nextOf(pieces: AsyncIterator<Buffer>): Promise<IteratorResult<Buffer>> {
  const next = pieces.next();
  // The read may fail while no caller awaits it, if pushing failed first. A caller that awaits it still gets
  // the failure.
  next.catch(() => {});
  return next;
}

/** Value of the promise, or undefined if it takes longer. */
export async function valueWithin<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
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
