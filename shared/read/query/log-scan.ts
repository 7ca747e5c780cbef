/** Scans a log query: pages in, entries into a collector. The engine and its workers run the same code. */

import type { Clock } from '../../base/ports/clock.ts';
import { compileLogPipeline, type LogPipeline } from '../../execution/pipeline/pipeline.ts';
import { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import type { PlannedPage } from './day-plan.ts';
import { EVERY_FIELD, EveryFieldScan, planEveryField } from './every-field-scan.ts';
import { type FieldPlan, FieldScan, planField } from './field-scan.ts';
import { HiddenRows } from './hidden-rows.ts';
import type { LogCollector } from './log-collector.ts';
import type { PagesOfPlan } from './metric-scan.ts';
import { keepReachable } from './reachable-rows.ts';
import { PageReads, type ScanContext, scanPages } from './scan.ts';

export interface LogScan {
  readonly pipeline: LogPipeline;
  readonly timeSlice: TimeSlice;
  /** Called by the pipeline. */
  readonly hidden: HiddenRows;
  /** The one field that is needed, or every field, if columns can provide it. */
  readonly field: FieldPlan | undefined;
  /** Whether no stage drops rows. */
  readonly keepsRows: boolean;
}

/**
 * Maximum bytes of the entries of a response: 5,000 lines of 25 KiB. They grow as JSON, and a V8 string is
 * limited to 512 Mi characters.
 */
export const MAX_ENTRY_BYTES = 128 * 1024 * 1024;

interface LogScanOptions {
  readonly clock: Clock;
  /** The only field of the lines that is needed, or every field; see LogRequest. */
  readonly field?: string | undefined;
}

/** Throws BadRequestError if a stage is invalid. */
export function compileLogScan(expr: LogExpr, { clock, field }: LogScanOptions): LogScan {
  const timeSlice = new TimeSlice();
  const hidden = new HiddenRows();
  const pipeline = compileLogPipeline(expr, { clock, timeSlice, hidden });
  return { pipeline, timeSlice, hidden, field: planOf(expr, field), keepsRows: expr.stages.length === 0 };
}

function planOf(expr: LogExpr, field: string | undefined): FieldPlan | undefined {
  if (field === undefined) return undefined;
  return field === EVERY_FIELD ? planEveryField(expr) : planField(expr, field);
}

function scanOf(plan: FieldPlan, collector: LogCollector): FieldScan | EveryFieldScan {
  return plan.name === EVERY_FIELD ? new EveryFieldScan(collector) : new FieldScan(plan, collector);
}

function wantsOf({ pipeline, field }: LogScan): PageWants {
  const fieldColumns = field === undefined ? pipeline.fieldColumns : field.fieldColumns;
  return { lines: 'bytes', metadata: 'all', fieldColumns };
}

/** Sorts pages by the direction of the query. The order of equal ones does not matter. */
export function inDirection(pages: readonly PlannedPage[], backward: boolean): PlannedPage[] {
  return pages.slice().sort((a, b) => (backward ? b.last - a.last : a.first - b.first));
}

/** Creates the reads of `scanEntries`, to start them early. */
export function readsOfEntries(
  context: Pick<ScanContext, 'source' | 'statistics'>,
  scan: LogScan,
  pages: readonly PlannedPage[],
): PageReads {
  return new PageReads(context, pages, wantsOf(scan), { prepares: true, endsEarly: true });
}

/**
 * Passes the entries of `pages`, which belong to one plan, to the collector. Ends as soon as it is full.
 *
 * @param reads reads of these pages, if they were started early
 */
export async function scanEntries(
  context: Omit<ScanContext, 'timeSlice' | 'hidden'>,
  scan: LogScan,
  { plan, pages, overlaps }: PagesOfPlan,
  collector: LogCollector,
  reads?: PageReads,
): Promise<void> {
  const { statistics } = context;
  const { pipeline, timeSlice, hidden, field, keepsRows } = scan;
  const wants = wantsOf(scan);
  const ofField = field && scanOf(field, collector);
  const sink = ofField ?? collector;
  await scanPages(
    { ...context, timeSlice, hidden },
    plan,
    pages,
    overlaps,
    wants,
    {
      endsEarly: true,
      wants: page => collector.reaches(page.first, page.last),
      prepare: (rows, selection, count, page) => {
        const keepsAll = keepsRows && page.deleteFilter === undefined;
        const left = keepReachable(collector, rows, page, selection, count, keepsAll);
        return (ofField ?? pipeline).prepare(rows, selection, left);
      },
      visit: (rows, selection, count, page) => {
        sink.begin(rows, page);
        statistics.postFilterLines += pipeline.run(rows, selection, count, sink);
        collector.settle();
      },
    },
    reads,
  );
}
