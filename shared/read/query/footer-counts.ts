/**
 * Counts entries without lines. Footers of chunks contain the counts of whole minutes by stream and detected
 * level, which then pass through the query's own pipeline (counted-rows.ts).
 *
 * Pitfall: a footer knows how many entries there are, not which. It is used only if every entry of the stream
 * in that chunk counts. No other chunk may have the same time range of the stream, because equal entries
 * would count twice. Hidden entries must be known row by row and are subtracted. Windows must begin and end
 * at whole minutes.
 */

import { NS_PER_MINUTE } from '../../base/model/time-units.ts';
import type { RangeOp } from '../../language/logql/ast.ts';
import { minuteOf } from '../../storage/chunk/counts.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import { LEVEL_NAME, OTHER_LEVELS } from '../../storage/chunk/format.ts';
import { metadataOf } from '../../storage/chunk/stored-page.ts';
import type { HiddenRow } from '../../upkeep/deletion/shown-counts.ts';
import { CountedRows, type CountSinks } from './counted-rows.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { Overlaps } from './overlaps.ts';

const COUNTING: ReadonlySet<RangeOp> = new Set<RangeOp>([
  'count_over_time',
  'rate',
  'absent_over_time',
  'bytes_over_time',
  'bytes_rate',
]);

export interface FooterCountRequest extends CountSinks {
  /** Whether entries of the run's stream may be hidden, in this page or in a page that the plan pruned. */
  hides(page: PlannedPage, run: RunMeta): boolean;
}

/** Whether the query counts entries or their bytes, and reads only labels and metadata. */
export function countsWithoutLines({
  extractor,
  accumulator,
}: Pick<FooterCountRequest, 'extractor' | 'accumulator'>): boolean {
  const { op, unwrapped } = accumulator.spec;
  return !unwrapped && COUNTING.has(op) && extractor.needs.lines !== 'bytes';
}

/** Whether all windows begin and end at whole minutes. */
export function hasWholeMinutes({ spec }: FooterCountRequest['accumulator']): boolean {
  const { startNs, stepNs, rangeNs, offsetNs } = spec;
  return [startNs - offsetNs, stepNs, rangeNs].every(ns => ns % NS_PER_MINUTE === 0n);
}

/**
 * Counts what footers contain. Returns the plan of the pages left to read, or the same plan if that is all of
 * them.
 *
 * @param plan pages of a chunk are adjacent in it
 */
export function countFromFooters(plan: DayPlan, overlaps: Overlaps, request: FooterCountRequest): DayPlan {
  const { pages } = plan;
  const minutes = { from: minuteOf(plan.from), to: minuteOf(plan.to - 1) };
  const rows = new CountedRows(request, plan.day, minutes);
  const judge = new ChunkJudge(overlaps, request);
  const left: PlannedPage[] = [];
  for (let from = 0, end = 0; from < pages.length; from = end) {
    const { footer } = pages[from];
    while (end < pages.length && pages[end].footer === footer) end++;
    judge.look(pages, from, end);
    for (const stream of judge.counted) rows.add(footer, stream, judge.hiddenOf(stream));
    for (let i = from; i < end; i++) judge.leave(pages[i], left);
  }
  rows.finish();
  return left.length === pages.length && left.every((page, i) => page === pages[i])
    ? plan
    : { ...plan, pages: left };
}

const UNSEEN = 0;
const COUNTS = 1;
const IS_READ = 2;
const NOTHING: readonly HiddenRow[] = Object.freeze([]);

/** Decides which streams of a chunk its footer can count, one chunk at a time. */
class ChunkJudge {
  readonly #overlaps: Overlaps;
  readonly #request: FooterCountRequest;
  /** Verdict on each stream of the chunk, by index. */
  #verdicts = new Uint8Array(256);
  readonly #hidden = new Map<number, HiddenRow[]>();
  /** Indexes of the streams whose footer counts are used. */
  counted: number[] = [];

  constructor(overlaps: Overlaps, request: FooterCountRequest) {
    this.#overlaps = overlaps;
    this.#request = request;
  }

  /**
   * @param from index of the chunk's first page
   * @param end index after its last page
   */
  look(pages: readonly PlannedPage[], from: number, end: number): void {
    const { streams, levels } = pages[from].footer;
    const overlaps = this.#overlaps;
    const request = this.#request;
    const verdicts = this.#unseen(streams.length);
    const isLevelKnown = !wants(request, LEVEL_NAME) || !levels.includes(OTHER_LEVELS);
    const seen: number[] = [];
    for (let i = from; i < end; i++) {
      const page = pages[i];
      const isWhole = isLevelKnown && !splits(page.page, request);
      const shared = isWhole ? overlaps.sharedStreams(page) : NONE_SHARED;
      for (const run of page.runs) {
        const { stream } = run;
        if (verdicts[stream] === UNSEEN) {
          seen.push(stream);
          verdicts[stream] = COUNTS;
        }
        // A stream may be in several pages: all of them count, or none.
        const counts = isWhole && !(shared.size > 0 && shared.has(streams[stream].text));
        if (!counts || !this.#isKnown(page, run)) verdicts[stream] = IS_READ;
      }
    }
    this.counted = seen.filter(stream => verdicts[stream] === COUNTS);
  }

  /** Returns the hidden rows of a counted stream. */
  hiddenOf(stream: number): readonly HiddenRow[] {
    return this.#hidden.get(stream) ?? NOTHING;
  }

  /** Adds the uncounted part of a page to the pages left to read. */
  leave(page: PlannedPage, left: PlannedPage[]): void {
    const verdicts = this.#verdicts;
    let read = 0;
    for (const { stream } of page.runs) if (verdicts[stream] === IS_READ) read++;
    if (read === 0) return;
    if (read === page.runs.length) left.push(page);
    else left.push({ ...page, runs: page.runs.filter(({ stream }) => verdicts[stream] === IS_READ) });
  }

  #unseen(streams: number): Uint8Array {
    this.#hidden.clear();
    if (this.#verdicts.length < streams) this.#verdicts = new Uint8Array(2 * streams);
    return this.#verdicts.fill(UNSEEN, 0, streams);
  }

  /** Returns false if something of the run is hidden that is not known row by row. */
  #isKnown(page: PlannedPage, run: RunMeta): boolean {
    const { hides } = this.#request;
    if (!hides(page, run)) return true;
    const { deleteFilter } = page;
    // Retention, and requests without stages, do not report hidden rows individually.
    if (deleteFilter === undefined || hides({ ...page, deleteFilter: undefined }, run)) return false;
    const hidden = deleteFilter.hiddenIn(run.firstRow, run.rows);
    if (hidden === undefined) return false;
    const known = this.#hidden.get(run.stream);
    if (known === undefined) this.#hidden.set(run.stream, [...hidden]);
    else known.push(...hidden);
    return true;
  }
}

const NONE_SHARED: ReadonlySet<string> = new Set();

function wants({ extractor }: FooterCountRequest, name: string): boolean {
  const { metadata } = extractor.needs;
  return metadata === 'all' || metadata.has(name);
}

/** Whether metadata other than the level splits the series or is filtered. */
function splits(page: PageMeta, request: FooterCountRequest): boolean {
  return metadataOf(page).some(({ name }) => name !== LEVEL_NAME && wants(request, name));
}
