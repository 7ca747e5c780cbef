/** Computes a range aggregation from cached pieces (instant-pieces.ts), and from scans of the others. */
import { mapAtOnce } from '../../base/model/at-once.ts';
import { BYTES_PER_CELL, type SeriesMatrix } from '../../execution/metrics/matrix.ts';
import type { RangeSpec } from '../../execution/metrics/range-spec.ts';
import { runWithYields, type YieldPoint } from '../../execution/metrics/steps.ts';
import { windowsOf } from '../../execution/metrics/windows.ts';
import { type DayRecords, insideDay, type TimeRange } from './day-plan.ts';
import {
  BYTES_PER_ROW,
  type CutPiece,
  cutPiece,
  joinParts,
  type Part,
  type Piece,
  piecesOf,
  runsOf,
  seriesOfCut,
} from './instant-pieces.ts';
import type { PartialAnswer } from './partial-answer.ts';
import {
  BYTES_PER_LABEL,
  keep,
  keyOf,
  MAX_KEYED_RECORDS,
  type QueryCounters,
  type ResultKey,
  recall,
  type TenantRecords,
} from './results-cache.ts';
import { addStatistics, newStatistics, type QueryStatistics, shareOf } from './statistics.ts';
import type { AnswerCache } from './tasks/answer-cache.ts';

/** Instants of an aggregation, and the data to read for them. */
export interface RangeReads {
  readonly spec: RangeSpec;
  readonly times: TimeRange;
  readonly records: readonly TenantRecords[];
}

interface CachedPiecesOptions extends QueryCounters {
  readonly answers: AnswerCache;
  /** The aggregation, with everything that decides its result except times. */
  readonly query: string;
  readonly terms: readonly string[];
  readonly whole: RangeReads;
  /** Maximum concurrent scans. */
  readonly width: number;
  /** For joining the pieces. */
  readonly thread: YieldPoint;
  /** See `cachedOrComputed`. */
  readonly partialAnswer: PartialAnswer | undefined;
}

type Scan = (reads: RangeReads, statistics: QueryStatistics) => Promise<SeriesMatrix>;

/** A piece to scan, with its key if it can be cached. */
interface MissingPiece extends Piece {
  readonly key: ResultKey<CutPiece> | undefined;
}

/** Returns the time that the windows cover. They are open on the left and closed on the right. */
export function timesOf(spec: RangeSpec): TimeRange {
  const { originNs, readToNs } = windowsOf(spec);
  return { startNs: originNs + 1n, endNs: readToNs + 1n };
}

/**
 * Returns the matrix, which must not be modified. Throws errors of the scans, and of `charge`, `memory` and
 * `thread`.
 */
export async function computeInPieces(options: CachedPiecesOptions, scan: Scan): Promise<SeriesMatrix> {
  const { answers, query, terms, whole, width, thread, memory, statistics } = options;
  if (!answers.keeps(query)) return scan(whole, statistics);
  const found: Part[] = [];
  const missing: MissingPiece[] = [];
  for (const { piece, spec, records } of keyedPieces(whole)) {
    const asked = { query, terms: [...terms, spec.startNs, spec.endNs, spec.stepNs] };
    const key = keyOf<CutPiece>(asked, records);
    const known = key && recall(answers, key, options);
    if (known === undefined) missing.push({ ...piece, key });
    else found.push({ piece, series: seriesOfCut(known, piece) });
  }
  const runs = runsOf(missing);
  const matrices = await mapAtOnce(runs, width, async run => {
    const pieces = missing.filter(({ first }) => first >= run.first && first < run.first + run.count);
    return scanRun(options, run, pieces, scan);
  });
  if (found.length === 0 && matrices.length === 1) return matrices[0];
  const scanned = matrices.map(({ series }, i) => ({ piece: runs[i], series }));
  const parts = [...found, ...scanned].sort((a, b) => a.piece.first - b.piece.first);
  memory?.reserve(parts.reduce((bytes, { series }) => bytes + bytesOfCells(series), 0));
  return runWithYields(joinParts(whole.spec, parts), thread);
}

/**
 * Returns the pieces with their reads. A chunk is in the keys of all windows that meet it: if these are long
 * and the chunks many, the query is one piece.
 */
function keyedPieces(whole: RangeReads): (RangeReads & { readonly piece: Piece })[] {
  const pieces = piecesOf(whole.spec);
  const keyed = pieces.map(piece => ({ piece, ...readsOf(whole, piece) }));
  if (keyed.reduce((sum, reads) => sum + recordsOf(reads), 0) <= MAX_KEYED_RECORDS) return keyed;
  return runsOf(pieces).map(piece => ({ piece, ...readsOf(whole, piece) }));
}

function recordsOf({ records }: RangeReads): number {
  return records.reduce((sum, { days }) => days.reduce((all, day) => all + day.records.length, sum), 0);
}

function bytesOfCells(series: SeriesMatrix['series']): number {
  return series.reduce((bytes, { values }) => bytes + values.length * BYTES_PER_CELL, 0);
}

/** Scans a run of pieces and caches each. */
async function scanRun(
  { answers, whole, statistics, partialAnswer }: CachedPiecesOptions,
  run: Piece,
  pieces: readonly MissingPiece[],
  scan: Scan,
): Promise<SeriesMatrix> {
  const own = newStatistics();
  const matrix = await scan(readsOf(whole, run), own);
  addStatistics(statistics, own);
  if (partialAnswer?.isUsed === true) return matrix;
  const { series } = matrix;
  const labelBytes = series.reduce((sum, { labels }) => {
    return labels.reduce(
      (bytes, { name, value }) => bytes + BYTES_PER_LABEL + name.length + value.length,
      sum,
    );
  }, 0);
  // Cells of all series in all pieces at the most.
  const cells = series.length * (run.count * BYTES_PER_CELL + pieces.length * BYTES_PER_ROW);
  if (!answers.accepts(labelBytes + cells)) return matrix;
  for (const piece of pieces) {
    if (piece.key === undefined) continue;
    const result = cutPiece(run, series, piece);
    // Pieces of a run share their labels.
    const bytes =
      labelBytes / pieces.length + result.labels.length * (BYTES_PER_ROW + piece.count * BYTES_PER_CELL);
    // A scan does not count by piece.
    const from = piece.first - run.first;
    const share = shareOf(own, from / run.count, (from + piece.count) / run.count);
    keep(answers, piece.key, { result, bytes, statistics: share });
  }
  return matrix;
}

/** Returns the part of the whole with these instants, and only the chunks that it meets. */
function readsOf(whole: RangeReads, { startNs, endNs }: Piece): RangeReads {
  const spec = { ...whole.spec, startNs, endNs };
  const times = timesOf(spec);
  const records = whole.records.map(tenant => ({
    ...tenant,
    days: tenant.days.map(day => during(day, times)).filter(({ records }) => records.length > 0),
  }));
  return { spec, times, records };
}

function during(day: DayRecords, times: TimeRange): DayRecords {
  const { from, to } = insideDay(day.day, times);
  return { ...day, records: day.records.filter(({ first, last }) => first < to && last >= from) };
}
