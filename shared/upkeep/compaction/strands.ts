/**
 * Sequences of the rows of one input, each with its own cursor and one page in memory. Rows ascend in a *strand*. Pages that
 * an earlier merge copied are in any order, so an input has several strands.
 *
 * By pages, each page is decoded once. If many pages have the same few streams, each is a strand:
 *
 *     pages       [ a 1-9  b 1-9 ] [ a 10-19  b 10-19 ] [ a 20-29  b 20-29 ]        three strands, three open pages
 *     by runs     a 1-9, a 10-19, a 20-29, b 1-9, b 10-19, b 20-29                  one strand, each page decoded twice
 *
 * So where pages do not fit in memory, strands are made by runs. A page is then decoded again for each of its streams that
 * other pages continue.
 */
import { MergeTooLargeError } from './merge-bounds.ts';
import type { MergeInput } from './merge-reader.ts';

/** An input, and the index of each of its streams among those of all inputs. */
export interface NumberedInput {
  readonly input: MergeInput;
  readonly streamIndexes: Uint32Array;
}

/** Runs `from` (inclusive) to `to` (exclusive) of a page, which is its index in the input. */
interface PageRuns {
  readonly page: number;
  readonly from: number;
  readonly to: number;
}

/** In the order in which the rows ascend. */
export type Strand = readonly PageRuns[];

/** Maximum strands of one input: those of an ordinary chunk would not fit in memory. */
const MAX_STRANDS = 256;

export function wholePage({ footer }: MergeInput, page: number): PageRuns {
  return { page, from: 0, to: footer.pages[page].runs.length };
}

/** Returns strands of whole pages, or undefined if there are too many. @param left pages, ascending */
export function strandsOfPages(numbered: NumberedInput, left: readonly number[]): Strand[] | undefined {
  const { input } = numbered;
  const strands: PageRuns[][] = [];
  /** The last run of each strand. */
  const ends: PlacedRun[] = [];
  for (const page of left) {
    const runs = runsOf(numbered, page);
    const found = ends.findIndex(end => precedes(end, runs[0]));
    const strand = found < 0 ? strands.length : found;
    if (strand === MAX_STRANDS) return undefined;
    strands[strand] ??= [];
    strands[strand].push(wholePage(input, page));
    ends[strand] = runs[runs.length - 1];
  }
  return strands;
}

/**
 * Returns strands of runs: as many as runs of a stream meet at a time, usually one. Throws MergeTooLargeError if there are
 * too many.
 */
export function strandsOfRuns(numbered: NumberedInput, left: readonly number[]): Strand[] {
  const runs = left.flatMap(page => runsOf(numbered, page));
  runs.sort((a, b) => a.stream - b.stream || a.first - b.first || a.page - b.page || a.run - b.run);
  const strands: PageRuns[][] = [];
  const ends: PlacedRun[] = [];
  for (const run of runs) {
    const found = ends.findIndex(end => precedes(end, run));
    const strand = found < 0 ? strands.length : found;
    if (strand === MAX_STRANDS) {
      const { tenant, id } = numbered.input.footer;
      throw new MergeTooLargeError(
        `chunk ${tenant}/${id}: more than ${MAX_STRANDS} runs of a stream overlap`,
      );
    }
    strands[strand] ??= [];
    append(strands[strand], run, ends[strand]);
    ends[strand] = run;
  }
  return strands;
}

/** A run with rows, and its index in its page. */
interface PlacedRun {
  /** Index among the streams of all inputs. */
  readonly stream: number;
  readonly first: number;
  readonly last: number;
  readonly page: number;
  readonly run: number;
}

function runsOf({ input, streamIndexes }: NumberedInput, page: number): PlacedRun[] {
  const placed: PlacedRun[] = [];
  for (const [run, { stream, first, last, rows }] of input.footer.pages[page].runs.entries()) {
    if (rows > 0) placed.push({ stream: streamIndexes[stream], first, last, page, run });
  }
  return placed;
}

/** Whether all rows of `a` come before those of `b`. Entries with equal timestamps are in the order of their pages. */
function precedes(a: PlacedRun, b: PlacedRun): boolean {
  if (a.stream !== b.stream) return a.stream < b.stream;
  return (
    a.last < b.first || (a.last === b.first && (a.page < b.page || (a.page === b.page && a.run < b.run)))
  );
}

function append(strand: PageRuns[], { page, run }: PlacedRun, before: PlacedRun | undefined): void {
  if (before?.page === page && before.run === run - 1) {
    const { from } = strand.pop()!;
    strand.push({ page, from, to: run + 1 });
  } else strand.push({ page, from: run, to: run + 1 });
}
