/**
 * A task: some pages of one day, and what a query asks of them. It is plain data that another thread or machine can work
 * on without the catalog: records say where chunks lie, footers are read from there, what is hidden comes as definitions.
 *
 * What a reader would get wrong: a task has more pages than it scans. Pages beside it that share a stretch of time of some
 * stream with a scanned one come along as neighbours, so that of equal entries every task drops the same ones.
 */

import type { TracedRead } from '../../../base/ports/read-trace.ts';
import type { RangeSpec } from '../../../execution/metrics/range-spec.ts';
import type { Grouping } from '../../../language/logql/ast.ts';
import type { ChunkRecord } from '../../../storage/catalog/chunk-record.ts';
import type { DeleteRequest } from '../../../storage/catalog/delete-request.ts';
import type { RetentionLimits } from '../../../upkeep/retention/retention.ts';
import type { EntryFields } from '../log-collector.ts';

export interface MetricAsk {
  readonly kind: 'metric';
  /** The range aggregation alone, printed; its windows are in `spec`. */
  readonly query: string;
  readonly spec: RangeSpec;
  readonly grouping: Grouping | undefined;
}

export interface LogAsk {
  readonly kind: 'log';
  readonly query: string;
  /** Entries wanted, at most. */
  readonly limit: number;
  readonly backward: boolean;
  readonly categorize: boolean;
  /** Of the lines only the field of this name is wanted; see LogRequest. */
  readonly field: string | undefined;
  /** Entries past this time of the day come too late (ns); undefined if none does. */
  readonly bound: number | undefined;
}

export interface TaskPage {
  /** Places in the task's records, and in the footer's pages. */
  readonly record: number;
  readonly page: number;
  /** Places in the page's runs, ascending; undefined for all. */
  readonly runs: readonly number[] | undefined;
}

/** The worker plans the task itself: it finds the pages of the chunks, and what of them is to be read. Of metric queries. */
export interface PlannedThere {
  /** So many of the task's records, from the first on, are its own; the others are neighbours. */
  readonly own: number;
  /** If more is left to be scanned (plan-tasks.ts), and the task has more chunks than one, it is answered by SplitTaskAnswer. */
  readonly maxBytes: number;
}

export interface Task {
  readonly tenant: string;
  /** The query is over several tenants. */
  readonly isLabelled: boolean;
  readonly ask: MetricAsk | LogAsk;
  readonly day: number;
  /** The range inside the day, ns, inclusive and exclusive. */
  readonly from: number;
  readonly to: number;
  readonly isUneven: boolean;
  /** The query's reading of the clock, for what is expired; 0 where nothing of the day is. */
  readonly nowNs: bigint;
  readonly retention: RetentionLimits;
  /** That mask some of the day. */
  readonly deletes: readonly DeleteRequest[];
  readonly records: readonly ChunkRecord[];
  /** In the order of the scan. */
  readonly pages: readonly TaskPage[];
  readonly neighbours: readonly TaskPage[];
  /** Then it has neither pages nor neighbours. */
  readonly plannedThere?: PlannedThere | undefined;
}

export interface TaskEntry extends EntryFields {
  /** Nanoseconds since the start of the day. */
  readonly time: number;
  /** Of the stored stream; see entry-order.ts, as of the places below. */
  readonly hash: bigint;
  /** Place in the task's records. */
  readonly record: number;
  /** Offset of the page in the chunk. */
  readonly page: number;
  readonly row: number;
}

/** What a scan counted; see QueryStatistics. */
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

/** The place of an answer that was kept from an earlier query. */
export const KEPT = 'cache';

interface AnsweredTask {
  /** The thread or function that worked on the task (TaskRunnerParts). */
  readonly place: string;
  readonly figures: TaskFigures;
  /** Reads over a distant store, in milliseconds from the start of the task; empty over files. */
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
  /** In the order of the answer (entry-order.ts). */
  readonly entries: readonly TaskEntry[];
}

/** Nothing was scanned: more is left than one task is to scan. */
export interface SplitTaskAnswer extends AnsweredTask {
  readonly kind: 'split';
  /** That are left. */
  readonly bytes: number;
}
