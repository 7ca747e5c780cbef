/** A worker over a synthetic catalog: it reads the task as a real one does, and answers with what its pages count. */
import type { WorkerEvent } from '../../../shared/aws/lambda-invoker.ts';
import { NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { RangeAccumulator } from '../../../shared/execution/metrics/range-accumulator.ts';
import { encodeTaskAnswer } from '../../../shared/read/query/tasks/answer-codec.ts';
import type { TaskPage } from '../../../shared/read/query/tasks/task.ts';
import { decodeTask } from '../../../shared/read/query/tasks/task-codec.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { CHUNK, LATENCY, type Question } from './figures.ts';
import { FOOTER_BYTES, isLeft, linesOf, minuteOf, PAGES } from './synthetic-catalog.ts';
import { FILTER_READ_BYTES, FILTER_READS } from './synthetic-source.ts';

const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** A worker reads adjacent pages in ranges of this size, some in parallel: the first ones, and then the others. */
const FIRST_READ_BYTES = 2 * 1024 * 1024;
const FIRST_READS = 8;
const READ_BYTES = 8 * 1024 * 1024;
const READS_AT_ONCE = 4;
/** Assumed: what a function of this memory reads from S3, over all connections. */
const WORKER_BYTES_PER_MS = 150_000;

interface WorkedTask {
  readonly answer: Uint8Array;
  readonly ms: number;
  readonly reads: number;
  /** The chunks that they are of. */
  readonly records: readonly ChunkRecord[];
  /** `chunk/page` of each counted page. */
  readonly pages: readonly string[];
  readonly lineBytes: number;
}

export function workOn(task: Uint8Array, question: Question): WorkedTask {
  const { ask, day, records, pages: given, plannedByWorker } = decodeTask(task);
  if (ask.kind !== 'metric') throw new Error('a fleet is asked for counts');
  const accumulator = new RangeAccumulator(ask.spec, MAX_STATE_BYTES);
  const pages =
    plannedByWorker === undefined ? given : pagesLeft(records.slice(0, plannedByWorker.own), question);
  const prunes = plannedByWorker !== undefined && question.filterReads;
  const isCounted = plannedByWorker !== undefined && question.oneIn === 1;
  const lineBytes = isCounted ? 0 : pages.length * CHUNK.pageBytes;
  const isSplit =
    plannedByWorker !== undefined && plannedByWorker.own > 1 && lineBytes > plannedByWorker.maxBytes;
  const scannedBytes = isSplit ? 0 : lineBytes;
  let lines = 0;
  if (!isSplit) {
    for (const { record, page } of pages) {
      const count = linesOf(records[record], page, question);
      lines += count;
      const minutes = { minutes: [minuteOf(records[record].last)], amounts: [count] };
      if (count > 0) accumulator.addMinutes(0, BigInt(day) * NS_PER_DAY, minutes, 0, 1);
    }
  }
  const compressedBytes = scannedBytes * CHUNK.storedShare;
  const figures = {
    pagesRead: isSplit ? 0 : pages.length,
    compressedBytes,
    lineBytes: scannedBytes,
    metadataBytes: 0,
    lines,
    postFilterLines: lines,
    duplicates: 0,
    downloadNs: 0,
  };
  const answered = { place: 'worker', figures, reads: [] };
  const answer = encodeTaskAnswer(
    isSplit
      ? { kind: 'split', ...answered, bytes: lineBytes }
      : { kind: 'metric', ...answered, series: [[]], state: accumulator.encode() },
  );
  // Text indexes come first (shared/read/query/pruned-plan.ts): footers are only read of chunks that they leave.
  const withFooter = prunes ? new Set(pages.map(({ record }) => record)).size : records.length;
  const footerBytes = withFooter * FOOTER_BYTES;
  const firstReads = Math.min(FIRST_READS, Math.ceil(compressedBytes / FIRST_READ_BYTES));
  const laterBytes = Math.max(0, compressedBytes - FIRST_READS * FIRST_READ_BYTES);
  const pageReads = firstReads + Math.ceil(laterBytes / READ_BYTES);
  const filterReads = prunes ? records.length * FILTER_READS : 0;
  // Rounds of reads: footers, filters, pages. All reads of a round run concurrently, and share the network of
  // the function.
  const rounds = 1 + (prunes ? 1 : 0) + Math.ceil(pageReads / READS_AT_ONCE) / 4;
  const networkMs = (footerBytes + filterReads * FILTER_READ_BYTES) / WORKER_BYTES_PER_MS;
  const footersMs = (withFooter * CHUNK.lineBytes * CHUNK.footerCpuMsPerGb) / 1e9;
  const filterMs = prunes ? records.length : 0;
  const ms =
    LATENCY.objectReadMs * rounds +
    networkMs +
    footersMs +
    filterMs +
    scannedBytes / (question.mbPerSecond * 1000);
  return {
    answer,
    ms,
    reads: pageReads + withFooter + filterReads,
    records,
    pages: isSplit ? [] : pages.map(({ record, page }) => `${records[record].id}/${page}`),
    lineBytes: scannedBytes,
  };
}

/** The pages of chunks that a text filter leaves. */
function pagesLeft(records: readonly ChunkRecord[], question: Question): Pick<TaskPage, 'record' | 'page'>[] {
  return records.flatMap((one, record) =>
    Array.from({ length: PAGES }, (_, page) => ({ record, page })).filter(({ page }) =>
      isLeft(one, page, question),
    ),
  );
}

export function taskOf({ task }: WorkerEvent): Uint8Array {
  return Buffer.from(task, 'base64');
}
