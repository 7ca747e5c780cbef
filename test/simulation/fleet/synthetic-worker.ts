/** A worker over a synthetic catalog: it reads the task as a real one does, and answers with what its pages count. */
import type { WorkerEvent } from '../../../shared/aws/lambda-invoker.ts';
import { streamHash } from '../../../shared/base/model/stream-hash.ts';
import { NS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { RangeAccumulator } from '../../../shared/execution/metrics/range-accumulator.ts';
import { encodeTaskAnswer } from '../../../shared/read/query/tasks/answer-codec.ts';
import type { LogTaskRequest, TaskEntry, TaskPage } from '../../../shared/read/query/tasks/task.ts';
import { decodeTask } from '../../../shared/read/query/tasks/task-codec.ts';
import { type ChunkRecord, streamPartOf } from '../../../shared/storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../shared/storage/catalog/day-item.ts';
import { ALL_STREAMS, partBits } from '../../../shared/storage/catalog/stream-part.ts';
import { CHUNK, INDEX, LATENCY, type Question, WORKER } from './figures.ts';
import { FOOTER_BYTES, isLeft, linesOf, minuteOf, PAGES, streamsOf } from './synthetic-catalog.ts';
import { FILTER_READ_BYTES, FILTER_READS } from './synthetic-source.ts';

const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** Lines of a stored page. */
const STORED_PAGE_BYTES = 1024 * 1024;
/**
 * A worker reads adjacent pages in ranges of this size: the first ones, and then the others
 * (shared/read/query/page-reader.ts).
 */
const FIRST_READ_BYTES = 4 * 1024 * 1024;
const FIRST_READS = 4;
const READ_BYTES = 32 * 1024 * 1024;

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
  const { request, day, records, pages: given, indexes, plannedByWorker } = decodeTask(task);
  const planned =
    plannedByWorker === undefined ? given : pagesLeft(records.slice(0, plannedByWorker.own), question);
  const isTooLarge =
    plannedByWorker !== undefined &&
    plannedByWorker.own > 1 &&
    planned.length * CHUNK.pageBytes > plannedByWorker.maxBytes;
  const found =
    request.kind === 'log' && !isTooLarge ? newestEntries(request, records, planned, question) : undefined;
  const pages = found?.pages ?? planned;
  const prunes = plannedByWorker !== undefined && question.filterReads;
  const isCounted = request.kind === 'metric' && plannedByWorker !== undefined && question.oneIn === 1;
  const lineBytes = isCounted ? 0 : (found?.lineBytes ?? pages.length * CHUNK.pageBytes);
  const isSplit = isTooLarge && !isCounted;
  const scannedBytes = isSplit ? 0 : lineBytes;
  const accumulator =
    request.kind === 'metric' ? new RangeAccumulator(request.spec, MAX_STATE_BYTES) : undefined;
  const series = seriesOf(question);
  let lines = found?.entries.length ?? 0;
  if (!isSplit && accumulator !== undefined) {
    for (const { record, page } of pages) {
      const count = linesOf(records[record], page, question);
      lines += count;
      const minutes = [minuteOf(records[record].last)];
      if (count === 0) continue;
      // Each page has its own series. The first one has what is left of an equal division.
      const perPage = Math.max(1, Math.floor(series.length / PAGES));
      const share = Math.floor(count / perPage);
      for (let i = 0; i < perPage; i++) {
        const amounts = [i === 0 ? count - share * (perPage - 1) : share];
        const one = series.length === 1 ? 0 : page * perPage + i;
        accumulator.addMinutes(one, BigInt(day) * NS_PER_DAY, { minutes, amounts }, 0, 1);
      }
    }
  }
  const compressedBytes = scannedBytes * CHUNK.scannedShare;
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
  const answered = { ranIn: 'worker', figures, reads: [] };
  const answerOf = () => {
    if (isSplit) return { kind: 'split', ...answered, bytes: lineBytes } as const;
    if (accumulator === undefined)
      return { kind: 'log', ...answered, entries: found?.entries ?? [] } as const;
    return { kind: 'metric', ...answered, series, state: accumulator.encode() } as const;
  };
  const answer = encodeTaskAnswer(answerOf());
  // Text indexes come first (shared/read/query/pruned-plan.ts): footers are only read of chunks that they leave.
  const isIndexed = isCounted && indexes.length > 0;
  const withFooter = isIndexed
    ? 0
    : prunes
      ? new Set(pages.map(({ record }) => record)).size
      : records.length;
  // Heads of the day index, and then a range of its counts.
  const headBytes = isIndexed ? indexes.reduce((sum, index) => sum + index.headBytes, 0) : 0;
  const indexBytes = headBytes + (isIndexed ? countsBytesOf(records, indexes) : 0);
  const indexMs =
    (headBytes / INDEX.headBytesPerChunk) * INDEX.headCpuMs +
    (isIndexed ? records.length * INDEX.countsCpuMs : 0);
  const footerBytes = withFooter * FOOTER_BYTES;
  const firstReads = Math.min(FIRST_READS, Math.ceil(compressedBytes / FIRST_READ_BYTES));
  const laterBytes = Math.max(0, compressedBytes - FIRST_READS * FIRST_READ_BYTES);
  const pageReads = firstReads + Math.ceil(laterBytes / READ_BYTES);
  const filterReads = prunes ? records.length * FILTER_READS : 0;
  // Rounds of reads: footers, filters, first pages. All reads of a round run concurrently, and share the network of
  // the function. Later pages are read ahead.
  const rounds = 1 + (prunes || isIndexed ? 1 : 0) + (pageReads > 0 ? 1 : 0);
  const networkMs = (indexBytes + footerBytes + filterReads * FILTER_READ_BYTES) / WORKER.bytesPerMs;
  // Pages are received while others are scanned.
  const scanMs = (scannedBytes * question.cpuMsPerMb + compressedBytes * WORKER.receiveCpuMsPerMb) / 1e6;
  const pagesMs = Math.max(scanMs, compressedBytes / WORKER.bytesPerMs);
  const footersMs = (withFooter * CHUNK.lineBytes * CHUNK.footerCpuMsPerGb) / 1e9;
  const filterMs = prunes ? records.length : 0;
  const ms = LATENCY.objectReadMs * rounds + networkMs + footersMs + indexMs + filterMs + pagesMs;
  return {
    answer,
    ms,
    reads: pageReads + withFooter + filterReads + 2 * (isIndexed ? indexes.length : 0),
    records,
    pages: isSplit ? [] : pages.map(({ record, page }) => `${records[record].id}/${page}`),
    lineBytes: scannedBytes,
  };
}

/**
 * Bytes of counts that a worker reads from the day index. An index of all streams has chunks in the order of their IDs, so those of
 * other parts of the streams are between them, and small gaps are read, too (shared/storage/index/source.ts).
 */
function countsBytesOf(records: readonly ChunkRecord[], indexes: readonly IndexRecord[]): number {
  const bytes = records.length * INDEX.countsBytesPerChunk;
  if (indexes.every(index => streamPartOf(index) !== ALL_STREAMS)) return bytes;
  const parts = new Set(records.map(({ streamPart = ALL_STREAMS }) => streamPart));
  const partsOfDay = 2 ** Math.max(0, ...[...parts].map(partBits));
  return (bytes * partsOfDay) / Math.max(1, parts.size);
}

function seriesOf({
  series,
}: Question): readonly (readonly { readonly name: string; readonly value: string }[])[] {
  if (series === undefined) return [[]];
  return Array.from({ length: Math.floor(series / PAGES) * PAGES }, (_, i) => [
    { name: 'pod', value: `app-7d9f8b6c5-${i}` },
  ]);
}

/** A log task reads stored pages until it has enough lines. */
function newestEntries(
  { limit, bound = -Infinity }: LogTaskRequest,
  records: readonly ChunkRecord[],
  planned: readonly Pick<TaskPage, 'record' | 'page'>[],
  question: Question,
): {
  readonly entries: readonly TaskEntry[];
  readonly pages: readonly Pick<TaskPage, 'record' | 'page'>[];
  readonly lineBytes: number;
} {
  const newest = planned.toSorted((a, b) => records[b.record].last - records[a.record].last);
  const entries: TaskEntry[] = [];
  const pages: Pick<TaskPage, 'record' | 'page'>[] = [];
  let lineBytes = 0;
  for (const at of newest) {
    const { last } = records[at.record];
    if (entries.length >= limit || last < bound) break;
    const lines = linesOf(records[at.record], at.page, question);
    const taken = Math.min(lines, limit - entries.length);
    const { text, labels } = streamsOf(records[at.record])[at.page];
    const position = { record: at.record, page: at.page, line: 'x', key: text, stream: labels };
    for (let row = 0; row < taken; row++) {
      const others = { structuredMetadata: undefined, parsed: undefined };
      entries.push({ ...position, ...others, row, time: last, hash: streamHash(labels) });
    }
    pages.push(at);
    lineBytes += Math.max(STORED_PAGE_BYTES, lines === 0 ? 0 : (CHUNK.pageBytes * taken) / lines);
  }
  return { entries, pages, lineBytes };
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
