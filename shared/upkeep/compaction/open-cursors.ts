/** The cursors of a merge: one for the pages of each input that are copied, and one for each strand of its other pages. */
import type { PageRows, Stream } from '../../base/model/page.ts';
import type { PageMeta } from '../../storage/chunk/format.ts';
import { type DividedPages, dividePages, divideRuns } from './apart-pages.ts';
import { type CopiedCounts, hasExactCounts } from './copied-counts.ts';
import type { RowHasher } from './fingerprint.ts';
import { checkSums } from './footer-sums.ts';
import {
  COPIED_RUN_SHARE,
  COPIED_SHARE,
  MAX_OPEN_PAGES_BYTES,
  MergeTooLargeError,
  openPagesBytes,
  PLANNED_PAGES_BYTES,
  READ_BUDGET_BYTES,
} from './merge-bounds.ts';
import { MergeCursor } from './merge-cursor.ts';
import type { MergeInput } from './merge-reader.ts';
import { type NumberedInput, type Strand, wholePage } from './strands.ts';

interface CursorsOptions {
  /** These three as in MergeOptions. */
  readonly readBudgetBytes?: number;
  readonly maxOpenBytes?: number;
  dropRows?(page: PageRows, input: MergeInput): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Streams of all inputs, ascending. */
  readonly streams: readonly Stream[];
  /** For each stream, the index of its lane. */
  readonly laneOf: Uint8Array;
  /** Raw bytes of the lines of a page. */
  readonly pageBytes: number;
  /** Whether pages with short runs are encoded again, because rows of each stream then get together. */
  readonly runsGetTogether: boolean;
  readonly hasher: RowHasher;
  /** Gets the rows of inputs with pages that are copied. */
  readonly counts: CopiedCounts;
}

interface Cursors {
  /** Of pages that are copied, unless they lose rows or are damaged. */
  readonly apart: readonly MergeCursor[];
  /** Of pages whose rows are merged. */
  readonly merged: readonly MergeCursor[];
}

/**
 * Throws CorruptionError if a footer contradicts itself, and MergeTooLargeError if the open pages do not fit in memory.
 * @param byAge inputs by age
 */
export function openCursors(byAge: readonly MergeInput[], options: CursorsOptions): Cursors {
  const { streams, counts, hasher, dropRows: drop, readBudgetBytes = READ_BUDGET_BYTES } = options;
  const indexOf = new Map(streams.map(({ text }, i) => [text, i]));
  const inputs = byAge.map(input => {
    const streamIndexes = Uint32Array.from(input.footer.streams, ({ text }) => indexOf.get(text)!);
    return { input, streamIndexes };
  });
  const divided = divide(inputs, options);
  for (const [order, { apart }] of divided.entries()) {
    if (apart.length === 0) continue;
    checkSums(inputs[order].input);
    counts.add(inputs[order]);
  }
  const readers = divided.reduce((sum, { apart, strands }) => {
    return sum + strands.length + (apart.length > 0 ? 1 : 0);
  }, 0);
  const maxReadBytes = Math.floor(readBudgetBytes / 2 / Math.max(readers, 1));
  const cursorsOf = (order: number, strands: readonly Strand[]) => {
    const { input, streamIndexes } = inputs[order];
    const dropRows = drop && ((page: PageRows) => drop(page, input));
    return strands.map(strand => {
      return new MergeCursor(input, { order, streamIndexes, strand, maxReadBytes, hasher, dropRows });
    });
  };
  return {
    apart: divided.flatMap(({ apart }, order) => {
      const strand = apart.map(page => wholePage(byAge[order], page));
      return cursorsOf(order, strand.length > 0 ? [strand] : []);
    }),
    merged: divided.flatMap(({ strands }, order) => cursorsOf(order, strands)),
  };
}

/** Throws MergeTooLargeError. */
function divide(inputs: readonly NumberedInput[], options: CursorsOptions): DividedPages[] {
  const { maxOpenBytes = MAX_OPEN_PAGES_BYTES } = options;
  const sources = new Set(inputs.filter(({ input }) => isSource(input)));
  const byPages = dividePages(inputs, (page, one) => sources.has(one) && mayCopy(page, one, options));
  const all = inputs.map(({ input }) => input);
  if (openPagesBytes(all, byPages) <= Math.min(maxOpenBytes, PLANNED_PAGES_BYTES)) return byPages;
  const byRuns = divideRuns(inputs, byPages);
  const bytes = openPagesBytes(all, byRuns);
  if (bytes <= maxOpenBytes) return byRuns;
  throw new MergeTooLargeError(
    `${inputs.length} chunks have open pages of ${bytes} bytes, more than ${maxOpenBytes}`,
  );
}

/** Whether pages of the input may be copied. */
function isSource(input: MergeInput): boolean {
  return input.copySource !== undefined && hasExactCounts(input);
}

/** Whether the page is copied if it is apart. */
function mayCopy(
  { lineBytes, runs }: PageMeta,
  { streamIndexes }: NumberedInput,
  { pageBytes, laneOf, runsGetTogether }: CursorsOptions,
): boolean {
  if (lineBytes < pageBytes * COPIED_SHARE) return false;
  if (runsGetTogether && lineBytes < runs.length * pageBytes * COPIED_RUN_SHARE) return false;
  const lane = laneOf[streamIndexes[runs[0].stream]];
  // The output has counts of each stream, so a run without rows is not copied.
  return runs.every(({ stream, rows }) => rows > 0 && laneOf[streamIndexes[stream]] === lane);
}
