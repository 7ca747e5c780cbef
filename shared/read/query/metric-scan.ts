/**
 * Scans one range aggregation: pages in, samples into an accumulator. The engine and its workers run the same
 * code.
 */

import type { SharedMemory } from '../../base/model/memory-budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { needsOrder } from '../../execution/metrics/aggregators.ts';
import { createRangeAccumulator, type RangeAccumulator } from '../../execution/metrics/range-accumulator.ts';
import type { RangeSpec } from '../../execution/metrics/range-spec.ts';
import { compileSampleExtractor, type SampleExtractor } from '../../execution/pipeline/extractor.ts';
import { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import type { Grouping, LogRange } from '../../language/logql/ast.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import { HiddenRows } from './hidden-rows.ts';
import type { Overlaps } from './overlaps.ts';
import { sampleOrder } from './sample-order.ts';
import { PageReads, type ScanContext, scanPages } from './scan.ts';

export interface MetricScan {
  readonly extractor: SampleExtractor;
  readonly accumulator: RangeAccumulator;
  readonly timeSlice: TimeSlice;
  /** Called by the extractor. */
  readonly hidden: HiddenRows;
}

interface MetricScanOptions {
  readonly spec: RangeSpec;
  readonly grouping: Grouping | undefined;
  readonly clock: Clock;
  /** Memory limit of the accumulator. Default: its own. */
  readonly maxBytes?: number;
  /** Memory that accumulator and series are charged to, in addition. */
  readonly memory?: SharedMemory | undefined;
}

/** Throws BadRequestError if a stage is invalid. */
export function compileMetricScan(
  range: LogRange,
  { spec, grouping, clock, maxBytes, memory }: MetricScanOptions,
): MetricScan {
  const timeSlice = new TimeSlice();
  const hidden = new HiddenRows();
  const accumulator = createRangeAccumulator(spec, maxBytes, memory);
  const options = { op: spec.op, grouping, clock, timeSlice, hidden, memory };
  const extractor = compileSampleExtractor(range, options);
  return { extractor, accumulator, timeSlice, hidden };
}

function wantsOf({ extractor }: MetricScan): PageWants {
  return { ...extractor.needs, fieldColumns: extractor.fieldColumns };
}

/** Creates the reads of `scanSamples`, to start them early. */
export function readsOfSamples(
  context: Pick<ScanContext, 'source' | 'statistics'>,
  scan: MetricScan,
  pages: readonly PlannedPage[],
): PageReads {
  return new PageReads(context, pages, wantsOf(scan), { prepares: true, endsEarly: false });
}

/**
 * Adds the samples of `pages`, which belong to one plan.
 *
 * @param reads reads of these pages, if they were started early
 */
export async function scanSamples(
  context: Omit<ScanContext, 'timeSlice' | 'hidden'>,
  scan: MetricScan,
  { plan, pages, overlaps }: PagesOfPlan,
  reads?: PageReads,
): Promise<void> {
  const { statistics } = context;
  const { extractor, accumulator, timeSlice, hidden } = scan;
  const wants = wantsOf(scan);
  const isOrdered = needsOrder(accumulator.spec.op);
  await scanPages(
    { ...context, timeSlice, hidden },
    plan,
    pages,
    overlaps,
    wants,
    {
      wants: () => true,
      prepare: (rows, selection, count) => extractor.prepare(rows, selection, count),
      visit: (rows, selection, count, { record, page }) => {
        const batch = extractor.extract(rows, selection, count);
        statistics.postFilterLines += batch.count;
        const order = isOrdered ? sampleOrder(rows, record, page) : undefined;
        accumulator.addBatch(order === undefined ? batch : { ...batch, order });
      },
    },
    reads,
  );
}

/** Pages of a day to scan, in this order. */
export interface PagesOfPlan {
  readonly plan: DayPlan;
  readonly pages: readonly PlannedPage[];
  readonly overlaps: Overlaps;
}
