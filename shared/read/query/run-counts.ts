/**
 * Counts entries without lines, for windows of any length. A footer contains for each run (the rows of one
 * stream in one page) the number of entries and bytes, and the first and last time. If no window begins or
 * ends in between, counting needs no more. Pages are short for heavy streams, so a rate over 15 seconds reads
 * few of them.
 *
 * Counts by minute (footer-counts.ts) are used first: they know detected levels, and cover many pages at
 * once.
 */

import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { PageMeta } from '../../storage/chunk/format.ts';
import { metadataOf } from '../../storage/chunk/stored-page.ts';
import type { CountSinks } from './counted-rows.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { FooterCountRequest } from './footer-counts.ts';
import type { Overlaps } from './overlaps.ts';
import { NO_SERIES, StreamRows, seriesOfRows } from './stream-rows.ts';

/** Maximum runs held at once: a megabyte. */
const MAX_RUNS = 32_768;

/**
 * Counts what runs contain. Returns the plan of the pages left to read, or the same plan if that is all of
 * them.
 */
export function countFromRuns(plan: DayPlan, overlaps: Overlaps, request: FooterCountRequest): DayPlan {
  const { accumulator, extractor, hides } = request;
  const { metadata } = extractor.needs;
  const dayStartNs = BigInt(plan.day) * NS_PER_DAY;
  const counted = new CountedRuns(request, dayStartNs);
  const left: PlannedPage[] = [];
  for (const page of plan.pages) {
    if (hasWanted(page.page, metadata)) {
      left.push(page);
      continue;
    }
    const { streams } = page.footer;
    const shared = overlaps.sharedStreams(page);
    const runs = page.runs.filter(run => {
      const { stream, first, last } = run;
      if (first < plan.from || last >= plan.to || !accumulator.isOnePane(dayStartNs, first, last))
        return true;
      if ((shared.size > 0 && shared.has(streams[stream].text)) || hides(page, run)) return true;
      counted.add(page, run);
      return false;
    });
    if (runs.length === page.runs.length) left.push(page);
    else if (runs.length > 0) left.push({ ...page, runs });
  }
  counted.finish();
  return left.length === plan.pages.length && left.every((page, i) => page === plan.pages[i])
    ? plan
    : { ...plan, pages: left };
}

class CountedRuns {
  readonly #sinks: CountSinks;
  readonly #dayStartNs: bigint;
  #rows = new StreamRows();
  /** Row, time of the day, and amount of each run, in parallel arrays. */
  #rowOf: number[] = [];
  #times: number[] = [];
  #amounts: number[] = [];

  constructor(sinks: CountSinks, dayStartNs: bigint) {
    this.#sinks = sinks;
    this.#dayStartNs = dayStartNs;
  }

  add({ footer }: PlannedPage, { stream, last, rows, lineBytes }: PlannedPage['runs'][number]): void {
    if (this.#rowOf.length >= MAX_RUNS) this.finish();
    this.#rowOf.push(this.#rows.rowOf(footer.streams[stream], 0));
    this.#times.push(last);
    this.#amounts.push(this.#sinks.accumulator.countsEntries ? rows : lineBytes);
  }

  /** Passes the added counts on. Throws BadRequestError if the memory budget is exhausted. */
  finish(): void {
    const sinks = this.#sinks;
    const dayStartNs = this.#dayStartNs;
    const rowOf = this.#rowOf;
    const times = this.#times;
    const amounts = this.#amounts;
    if (rowOf.length === 0) return;
    const series = seriesOfRows(this.#rows, sinks, dayStartNs);
    for (let i = 0; i < rowOf.length; i++) {
      const one = series[rowOf[i]];
      if (one !== NO_SERIES) sinks.accumulator.addAmount(one, dayStartNs, times[i], amounts[i]);
    }
    this.#rows = new StreamRows();
    this.#rowOf = [];
    this.#times = [];
    this.#amounts = [];
  }
}

/** Whether metadata splits the series or is filtered. */
function hasWanted(page: PageMeta, metadata: 'all' | ReadonlySet<string>): boolean {
  return metadataOf(page).some(({ name }) => metadata === 'all' || metadata.has(name));
}
