/**
 * A task: some pages of one day, and a query over them. It is plain data that another thread or machine can
 * run without the catalog. Records contain the locations of chunks and their footers. Delete requests and
 * retention come as definitions.
 *
 * A task has more pages than it scans. Pages that share a time range of some stream with a scanned page are
 * neighbors. They are included so that every task drops the same copies of equal entries.
 */

import type { TracedRead } from '../../../base/ports/read-trace.ts';
import type { RangeSpec } from '../../../execution/metrics/range-spec.ts';
import type { Grouping } from '../../../language/logql/ast.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { IndexRecord } from '../../../storage/catalog/day-item.ts';
import type { DeleteRequest } from '../../../storage/catalog/delete-request.ts';
import type { RetentionLimits } from '../../../upkeep/retention/retention.ts';
import type { EntryFields } from '../log-collector.ts';

export interface MetricTaskRequest {
  readonly kind: 'metric';
  /** The range aggregation, printed. Its windows are in `spec`. */
  readonly query: string;
  readonly spec: RangeSpec;
  readonly grouping: Grouping | undefined;
}

export interface LogTaskRequest {
  readonly kind: 'log';
  readonly query: string;
  /** Maximum number of entries. */
  readonly limit: number;
  readonly backward: boolean;
  readonly categorize: boolean;
  /** The only field of the lines that is needed; see LogRequest. */
  readonly field: string | undefined;
  /** Entries after this time of the day (ns) are not needed. Undefined if all may be. */
  readonly bound: number | undefined;
}

export interface TaskPage {
  /** Indexes in the task's records, and in the footer's pages. */
  readonly record: number;
  readonly page: number;
  /** Indexes in the page's runs, ascending. Undefined for all. */
  readonly runs: readonly number[] | undefined;
}

/**
 * Marks a task that the worker plans itself: it finds the pages of the chunks and what to read of them.
 */
export interface PlannedByWorker {
  /** Number of the task's records that are its own, from the first on. The others are neighbors. */
  readonly own: number;
  /**
   * If more is left to scan (plan-tasks.ts) and the task has several chunks, the result is a SplitTaskAnswer.
   */
  readonly maxBytes: number;
  /** Tasks into which the worker divides the chunks, for others (merge-chunks.ts). 1 if it reads them itself. */
  readonly parts: number;
}

export interface Task {
  readonly tenant: string;
  /** Whether the query is over several tenants. */
  readonly isLabeled: boolean;
  readonly request: MetricTaskRequest | LogTaskRequest;
  readonly day: number;
  /** Range inside the day, ns, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly isUneven: boolean;
  /** Time at which the query read the clock, for retention. 0 if nothing of the day is expired. */
  readonly nowNs: bigint;
  readonly retention: RetentionLimits;
  /** Requests that hide entries of the day. */
  readonly deletes: readonly DeleteRequest[];
  readonly records: readonly ChunkRecord[];
  /** Scanned pages, in the order of the scan. */
  readonly pages: readonly TaskPage[];
  readonly neighbors: readonly TaskPage[];
  /** Indexes of the day in which its chunks may be, if its worker should look there first (index-survey.ts). */
  readonly indexes: readonly IndexRecord[];
  /** If set, the task has neither pages nor neighbors. */
  readonly plannedByWorker?: PlannedByWorker | undefined;
}

export interface TaskEntry extends EntryFields {
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  /** Hash of the stored stream; see entry-order.ts, also for the positions below. */
  readonly hash: bigint;
  /** Index in the task's records. */
  readonly record: number;
  /** Offset of the page in the chunk. */
  readonly page: number;
  readonly row: number;
}

/** Counters of a scan; see QueryStatistics. */
export interface TaskFigures {
  readonly pagesRead: number;
  readonly compressedBytes: number;
  readonly lineBytes: number;
  readonly metadataBytes: number;
  readonly lines: number;
  readonly postFilterLines: number;
  readonly duplicates: number;
  readonly downloadNs: number;
}

export const FIGURE_NAMES = Object.freeze([
  'pagesRead',
  'compressedBytes',
  'lineBytes',
  'metadataBytes',
  'lines',
  'postFilterLines',
  'duplicates',
  'downloadNs',
] as const satisfies readonly (keyof TaskFigures)[]);

export type TaskAnswer = MetricTaskAnswer | LogTaskAnswer | SplitTaskAnswer;

/** `ranIn` of a result that an earlier query cached. */
export const RAN_IN_CACHE = 'cache';

interface AnsweredTask {
  /** Thread or function that ran the task (TaskRunnerParts). */
  readonly ranIn: string;
  readonly figures: TaskFigures;
  /** Reads over a distant store, in milliseconds from the start of the task. Empty over files. */
  readonly reads: readonly TracedRead[];
}

export interface MetricTaskAnswer extends AnsweredTask {
  readonly kind: 'metric';
  /** Labels that group each series of the state, by its number. */
  readonly series: readonly (readonly { readonly name: string; readonly value: string }[])[];
  /** RangeAccumulator.encode. */
  readonly state: Uint8Array;
}

export interface LogTaskAnswer extends AnsweredTask {
  readonly kind: 'log';
  /** Entries in the order of the response (entry-order.ts). */
  readonly entries: readonly TaskEntry[];
}

/** Nothing was scanned, because more is left than one task may scan. */
export interface SplitTaskAnswer extends AnsweredTask {
  readonly kind: 'split';
  /** Bytes left to scan. */
  readonly bytes: number;
}
