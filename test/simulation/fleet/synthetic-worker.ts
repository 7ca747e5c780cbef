/** A worker over a synthetic catalog: it reads the task as a real one does, and answers with what its pages count. */
import type { WorkerEvent } from '../../../shared/aws/lambda-invoker.ts';
import { NS_PER_DAY } from '../../../shared/base/model/duration.ts';
import { RangeAccumulator } from '../../../shared/execution/metrics/range-accumulator.ts';
import { encodeAnswer } from '../../../shared/read/query/tasks/answer-codec.ts';
import { decodeTask } from '../../../shared/read/query/tasks/task-codec.ts';
import { CHUNK, LATENCY, type Question } from './figures.ts';
import { linesOf, minuteOf } from './synthetic-catalog.ts';

const MAX_STATE_BYTES = 64 * 1024 * 1024;
/** A worker reads pages that lie together in ranges of this size, some at once. */
const READ_BYTES = 2 * 1024 * 1024;
const READS_AT_ONCE = 4;

export interface WorkedTask {
  readonly answer: Uint8Array;
  readonly ms: number;
  readonly reads: number;
  /** `chunk/page`, for what was counted. */
  readonly pages: readonly string[];
  readonly lineBytes: number;
}

export function workOn(task: Uint8Array, question: Question): WorkedTask {
  const { ask, day, records, pages } = decodeTask(task);
  if (ask.kind !== 'metric') throw new Error('a fleet is asked for counts');
  const accumulator = new RangeAccumulator(ask.spec, MAX_STATE_BYTES);
  let lines = 0;
  for (const { record, page } of pages) {
    const count = linesOf(records[record], page, question);
    lines += count;
    const minutes = { minutes: [minuteOf(records[record].last)], amounts: [count] };
    if (count > 0) accumulator.addMinutes(0, BigInt(day) * NS_PER_DAY, minutes, 0, 1);
  }
  const lineBytes = pages.length * CHUNK.pageBytes;
  const compressedBytes = lineBytes * CHUNK.storedShare;
  const reads = Math.ceil(compressedBytes / READ_BYTES) + records.length;
  const figures = {
    pagesRead: pages.length,
    compressedBytes,
    lineBytes,
    metadataBytes: 0,
    lines,
    postFilterLines: lines,
    duplicates: 0,
    downloadNs: 0,
  };
  const answer = encodeAnswer({
    kind: 'metric',
    place: 'worker',
    figures,
    series: [[]],
    state: accumulator.encode(),
  });
  const footersMs = (records.length * CHUNK.lineBytes * CHUNK.footerCpuMsPerGb) / 1e9;
  const waitMs = LATENCY.objectReadMs * (1 + Math.ceil(reads / READS_AT_ONCE) / 4);
  const ms = waitMs + footersMs + lineBytes / (question.mbPerSecond * 1000);
  return {
    answer,
    ms,
    reads,
    pages: pages.map(({ record, page }) => `${records[record].id}/${page}`),
    lineBytes,
  };
}

export function taskOf({ task }: WorkerEvent): Uint8Array {
  return Buffer.from(task, 'base64');
}
