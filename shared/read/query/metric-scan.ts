/** The scan of one range aggregation: pages in, samples into an accumulator. The engine and its workers run the same. */

import type { SharedMemory } from '../../base/model/memory-budget.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { createRangeAccumulator, type RangeAccumulator } from '../../execution/metrics/range-accumulator.ts';
import type { RangeSpec } from '../../execution/metrics/range-spec.ts';
import { compileSampleExtractor, type SampleExtractor } from '../../execution/pipeline/extractor.ts';
import { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import type { Grouping, LogRange } from '../../language/logql/ast.ts';
import type { PageWants } from '../../storage/chunk/reader.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import { HiddenRows } from './hidden-rows.ts';
import type { Overlaps } from './overlaps.ts';
import { PageReads, type ScanContext, scanPages } from './scan.ts';

export interface MetricScan {
  readonly extractor: SampleExtractor;
  readonly accumulator: RangeAccumulator;
  readonly turn: TimeSlice;
  /** The extractor asks it. */
  readonly hidden: HiddenRows;
}

export interface MetricScanOptions {
  readonly spec: RangeSpec;
  readonly grouping: Grouping | undefined;
  readonly clock: Clock;
  /** Of the accumulator; without it its own default. */
  readonly maxBytes?: number;
  /** What accumulator and series take is charged to it too. */
  readonly memory?: SharedMemory | undefined;
}

/** Throws BadRequestError where a stage cannot be built. */
export function compileMetricScan(
  range: LogRange,
  { spec, grouping, clock, maxBytes, memory }: MetricScanOptions,
): MetricScan {
  const turn = new TimeSlice();
  const hidden = new HiddenRows();
  const accumulator = createRangeAccumulator(spec, maxBytes, memory);
  const options = { op: spec.op, grouping, clock, turn, hidden, memory };
  const extractor = compileSampleExtractor(range, options);
  return { extractor, accumulator, turn, hidden };
}

function wantsOf({ extractor }: MetricScan): PageWants {
  return { ...extractor.needs, promoted: extractor.promoted };
}

/** The reads of `scanSamples`, to begin before it. */
export function readsOfSamples(
  context: Pick<ScanContext, 'source' | 'statistics'>,
  scan: MetricScan,
  pages: readonly PlannedPage[],
): PageReads {
  return new PageReads(context, pages, wantsOf(scan), { prepares: true, endsEarly: false });
}

/** Adds the samples of `pages`, of one plan. @param reads of these pages, where they have begun */
export async function scanSamples(
  context: Omit<ScanContext, 'turn' | 'hidden'>,
  scan: MetricScan,
  { plan, pages, overlaps }: PagesOfPlan,
  reads?: PageReads,
): Promise<void> {
  const { statistics } = context;
  const { extractor, accumulator, turn, hidden } = scan;
  const wants = wantsOf(scan);
  await scanPages(
    { ...context, turn, hidden },
    plan,
    pages,
    overlaps,
    wants,
    {
      wants: () => true,
      prepare: (rows, selection, count) => extractor.prepare(rows, selection, count),
      visit: (rows, selection, count) => {
        const batch = extractor.extract(rows, selection, count);
        statistics.postFilterLines += batch.count;
        accumulator.addBatch(batch);
      },
    },
    reads,
  );
}

/** Pages of a day to be scanned, in this order. */
export interface PagesOfPlan {
  readonly plan: DayPlan;
  readonly pages: readonly PlannedPage[];
  readonly overlaps: Overlaps;
}
