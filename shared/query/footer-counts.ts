/**
 * Counts without lines: what a metric query counts of whole minutes is in the footers of chunks, by stream and detected
 * level. Each (stream, level) of a chunk becomes one row of a made-up page, which goes through the query's own pipeline:
 * so label filters and the grouping are the same as for entries.
 *
 * What a reader would get wrong: a footer knows how many entries there are, not which. So it counts only where every
 * entry of the stream in that chunk counts: no other chunk has the same stretch of the stream's time (equal entries would
 * count twice), what is hidden of them is known row by row and taken out, and windows begin and end with minutes.
 */
import { minuteOf } from '../chunk/counts.ts';
import type { Footer, MinuteStretch, PageMeta, RunMeta } from '../chunk/format.ts';
import { ColumnKind, countsOf, LEVEL_NAME, NS_OF_MINUTE, OTHER_LEVELS } from '../chunk/format.ts';
import { type HiddenRow, type ShownCounts, shownCounts } from '../deletion/shown-counts.ts';
import type { RangeOp } from '../logql/ast.ts';
import type { RangeAccumulator } from '../metrics/range-accumulator.ts';
import { NS_PER_DAY } from '../model/duration.ts';
import type { MetadataColumn, PageRows, Run, Stream } from '../model/page.ts';
import type { SampleExtractor } from '../pipeline/extractor.ts';
import type { Turn } from '../pipeline/turn.ts';
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

export interface CountRequest {
  readonly extractor: SampleExtractor;
  readonly accumulator: RangeAccumulator;
  readonly turn: Turn;
  /** The stream as the query sees it. */
  shown(stream: Stream): Stream;
  /** True where something may hide entries of the run's stream, in this page or where the plan passed over a page. */
  hides(page: PlannedPage, run: RunMeta): boolean;
}

/** True where the query counts entries or their bytes in whole minutes, and looks at nothing but labels and metadata. */
export function countsWholeMinutes({
  extractor,
  accumulator,
}: Pick<CountRequest, 'extractor' | 'accumulator'>): boolean {
  const { op, unwrapped, startNs, stepNs, rangeNs, offsetNs } = accumulator.spec;
  if (unwrapped || !COUNTING.has(op) || extractor.needs.lines === 'bytes') return false;
  return [startNs - offsetNs, stepNs, rangeNs].every(ns => ns % MINUTE === 0n);
}

/** Counts what footers can tell; the plan of what is left to be read, the same one where that is all. */
export function countFromFooters(plan: DayPlan, overlaps: Overlaps, request: CountRequest): DayPlan {
  const byChunk = new Map<Footer, PlannedPage[]>();
  for (const page of plan.pages) {
    const ofChunk = byChunk.get(page.footer);
    if (ofChunk === undefined) byChunk.set(page.footer, [page]);
    else ofChunk.push(page);
  }
  const left: PlannedPage[] = [];
  for (const [footer, pages] of byChunk) {
    const counted = countable(footer, pages, overlaps, request);
    if (counted.size === 0) {
      left.push(...pages);
      continue;
    }
    count(footer, counted, { from: minuteOf(plan.from), to: minuteOf(plan.to - 1) }, request);
    for (const page of pages) {
      const runs = page.runs.filter(run => !counted.has(run.stream));
      if (runs.length === page.runs.length) left.push(page);
      else if (runs.length > 0) left.push({ ...page, runs });
    }
  }
  return left.length === plan.pages.length && left.every((page, i) => page === plan.pages[i])
    ? plan
    : { ...plan, pages: left };
}

/** The streams of a chunk whose counts are those of the query, by place, each with its rows that are hidden. */
type Countable = ReadonlyMap<number, readonly HiddenRow[]>;

function countable(
  footer: Footer,
  pages: readonly PlannedPage[],
  overlaps: Overlaps,
  { extractor, hides }: CountRequest,
): Countable {
  const { metadata } = extractor.needs;
  const wants = (name: string) => metadata === 'all' || metadata.has(name);
  const splits = (page: PageMeta) =>
    page.columns.some(({ kind, name }) => kind === ColumnKind.metadata && name !== LEVEL_NAME && wants(name));
  const isLevelKnown = !wants(LEVEL_NAME) || !footer.levels.includes(OTHER_LEVELS);
  const counted = new Map<number, HiddenRow[]>();
  const others = new Set<number>();
  for (const page of pages) {
    const isSplit = !isLevelKnown || splits(page.page);
    const shared = overlaps.sharedStreams(page);
    for (const run of page.runs) {
      const { stream } = run;
      const { text } = footer.streams[stream];
      const hidden = isSplit || shared.has(text) ? undefined : hiddenIn(page, run, hides);
      const known = counted.get(stream);
      if (hidden === undefined) others.add(stream);
      else if (known === undefined) counted.set(stream, [...hidden]);
      else known.push(...hidden);
    }
  }
  // A stream may lie in several pages: all of them count, or none.
  for (const stream of others) counted.delete(stream);
  return counted;
}

const NOTHING: readonly HiddenRow[] = Object.freeze([]);

/** The hidden rows of a run; undefined where they are not known one by one. */
function hiddenIn(
  page: PlannedPage,
  run: RunMeta,
  hides: CountRequest['hides'],
): readonly HiddenRow[] | undefined {
  if (!hides(page, run)) return NOTHING;
  const { mask } = page;
  // What else hides something, retention or a request without stages, is not told row by row.
  if (mask === undefined || hides({ ...page, mask: undefined }, run)) return undefined;
  return mask.hiddenIn(run.firstRow, run.rows);
}

/** Counts of a stream. */
interface StreamCounts {
  readonly stream: Stream;
  readonly counts: readonly ShownCounts[];
}

/** @param stretch that the plan asks for: no other minute counts */
function count(footer: Footer, counted: Countable, stretch: MinuteStretch, request: CountRequest): void {
  const { extractor, accumulator, turn, shown } = request;
  const streams = Array.from(counted, ([stream, hidden]): StreamCounts => {
    // Hidden rows may lie outside; they are taken from the minutes that counted them.
    const minutes = countsOf(footer, stream, hidden.length === 0 ? stretch : undefined);
    const counts = shownCounts(minutes, footer.levels, hidden);
    return { stream: shown(footer.streams[stream]), counts };
  });
  const rows = streams.flatMap(({ counts }) => counts);
  const page = new CountedPage(footer, streams);
  const dayStartNs = BigInt(footer.day) * NS_PER_DAY;
  const selection = Uint32Array.from(rows, (_, row) => row);
  turn.left = 0;
  for (let left = rows.length; left > 0; left = turn.left) {
    turn.begin();
    const batch = extractor.extract(page, selection, left);
    for (let i = 0; i < batch.count; i++) {
      accumulator.addMinutes(batch.series[i], dayStartNs, rows[batch.rows[i]]);
    }
  }
}

/** A row for each level of each stream. */
class CountedPage implements PageRows {
  readonly rows: number;
  readonly baseNs: bigint;
  readonly times: Float64Array;
  readonly lines = Buffer.alloc(0);
  readonly lineOffsets: Uint32Array;
  readonly runs: readonly Run[];
  readonly metadata: readonly MetadataColumn[];

  constructor(footer: Footer, streams: readonly StreamCounts[]) {
    const runs: Run[] = [];
    const ids: number[] = [];
    for (const { stream, counts } of streams) {
      runs.push({ stream, firstRow: ids.length, rows: counts.length });
      for (const { level } of counts) ids.push(level);
    }
    this.rows = ids.length;
    this.runs = runs;
    this.baseNs = BigInt(footer.day) * NS_PER_DAY;
    this.times = new Float64Array(ids.length);
    this.lineOffsets = new Uint32Array(ids.length + 1);
    // Level 0 is that of entries without one, as id 0 of a column is that of rows without the name.
    const values = footer.levels.slice(1);
    const column = {
      name: LEVEL_NAME,
      ids: Uint32Array.from(ids),
      count: values.length,
      valueAt: (i: number) => values[i],
    };
    this.metadata = values.length === 0 ? [] : [column];
  }
}
