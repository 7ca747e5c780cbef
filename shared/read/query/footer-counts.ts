/**
 * Counts without lines: what a metric query counts of whole minutes is in the footers of chunks, by stream and detected
 * level, and goes from there through the query's own pipeline (counted-rows.ts).
 *
 * What a reader would get wrong: a footer knows how many entries there are, not which. So it counts only where every
 * entry of the stream in that chunk counts: no other chunk has the same stretch of the stream's time (equal entries would
 * count twice), what is hidden of them is known row by row and taken out, and windows begin and end with minutes.
 */

import { NS_OF_MINUTE } from '../../base/model/time-units.ts';
import type { RangeOp } from '../../language/logql/ast.ts';
import { minuteOf } from '../../storage/chunk/counts.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import { ColumnKind, LEVEL_NAME, OTHER_LEVELS } from '../../storage/chunk/format.ts';
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
const MINUTE = BigInt(NS_OF_MINUTE);

export interface CountRequest extends CountSinks {
  /** True where something may hide entries of the run's stream, in this page or where the plan passed over a page. */
  hides(page: PlannedPage, run: RunMeta): boolean;
}

/** True where the query counts entries or their bytes, and looks at nothing but labels and metadata. */
export function countsWithoutLines({
  extractor,
  accumulator,
}: Pick<CountRequest, 'extractor' | 'accumulator'>): boolean {
  const { op, unwrapped } = accumulator.spec;
  return !unwrapped && COUNTING.has(op) && extractor.needs.lines !== 'bytes';
}

/** True where all windows begin and end with minutes. */
export function hasWholeMinutes({ spec }: CountRequest['accumulator']): boolean {
  const { startNs, stepNs, rangeNs, offsetNs } = spec;
  return [startNs - offsetNs, stepNs, rangeNs].every(ns => ns % MINUTE === 0n);
}

/**
 * Counts what footers can tell; the plan of what is left to be read, the same one where that is all.
 * @param plan pages of a chunk lie together in it
 */
export function countFromFooters(plan: DayPlan, overlaps: Overlaps, request: CountRequest): DayPlan {
  const { pages } = plan;
  const stretch = { from: minuteOf(plan.from), to: minuteOf(plan.to - 1) };
  const rows = new CountedRows(request, plan.day, stretch);
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

/** Tells which streams of one chunk after the other count by its footer. */
class ChunkJudge {
  readonly #overlaps: Overlaps;
  readonly #request: CountRequest;
  /** What becomes of a stream of the chunk, by its place. */
  #verdicts = new Uint8Array(256);
  readonly #hidden = new Map<number, HiddenRow[]>();
  /** Places of the streams whose counts are those of the query. */
  counted: number[] = [];

  constructor(overlaps: Overlaps, request: CountRequest) {
    this.#overlaps = overlaps;
    this.#request = request;
  }

  /** @param from first page of the chunk @param end behind its last one */
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
        // A stream may lie in several pages: all of them count, or none.
        const counts = isWhole && !(shared.size > 0 && shared.has(streams[stream].text));
        if (!counts || !this.#isKnown(page, run)) verdicts[stream] = IS_READ;
      }
    }
    this.counted = seen.filter(stream => verdicts[stream] === COUNTS);
  }

  /** Rows of a counted stream that are hidden. */
  hiddenOf(stream: number): readonly HiddenRow[] {
    return this.#hidden.get(stream) ?? NOTHING;
  }

  /** Puts what is not counted of a page of the chunk to the others that are left. */
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

  /** False where something of the run is hidden that is not known row by row. */
  #isKnown(page: PlannedPage, run: RunMeta): boolean {
    const { hides } = this.#request;
    if (!hides(page, run)) return true;
    const { mask } = page;
    // What else hides something, retention or a request without stages, is not told row by row.
    if (mask === undefined || hides({ ...page, mask: undefined }, run)) return false;
    const hidden = mask.hiddenIn(run.firstRow, run.rows);
    if (hidden === undefined) return false;
    const known = this.#hidden.get(run.stream);
    if (known === undefined) this.#hidden.set(run.stream, [...hidden]);
    else known.push(...hidden);
    return true;
  }
}

const NONE_SHARED: ReadonlySet<string> = new Set();

function wants({ extractor }: CountRequest, name: string): boolean {
  const { metadata } = extractor.needs;
  return metadata === 'all' || metadata.has(name);
}

/** True where metadata other than the level splits the series, or is filtered by. */
function splits({ columns }: PageMeta, request: CountRequest): boolean {
  for (const { kind, name } of columns) {
    if (kind === ColumnKind.metadata && name !== LEVEL_NAME && wants(request, name)) return true;
  }
  return false;
}
