/**
 * Divides the pages of the inputs of a merge: pages *apart* are copied as they are stored, and the rows of all others
 * are merged.
 *
 * A page is apart if no other input has a row of one of its streams between the first and the last one of that stream
 * in the page. So none of its rows is in another input, and none shares a timestamp with a row there. The footers show
 * it. Rows of the page need not be neighbors in the output, because pages of a chunk can be in any order
 * (docs/dev/format.md#33-pages).
 *
 * Rows of the other pages are merged in the order of streams and times. Pages that an earlier merge copied may not have
 * that order. So each sequence of pages in which rows ascend is a *strand* with its own cursor.
 */
import { lowerBound } from '../../base/model/binary-search.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import type { MergeInput } from './merge-reader.ts';

/** An input, and the index of each of its streams among those of all inputs. */
export interface NumberedInput {
  readonly input: MergeInput;
  readonly streamIndexes: Uint32Array;
}

/** Indexes of the pages of one input. */
export interface DividedPages {
  /** In their order, because they can share timestamps. */
  readonly apart: readonly number[];
  readonly strands: readonly (readonly number[])[];
}

/** @param mayCopy whether a page is copied if it is apart */
export function dividePages(
  inputs: readonly NumberedInput[],
  mayCopy: (page: PageMeta, input: NumberedInput) => boolean,
): DividedPages[] {
  const candidates = inputs.map(one => one.input.footer.pages.map(page => mayCopy(page, one)));
  const extents = candidates.some(ofInput => ofInput.includes(true)) ? new Extents(inputs) : undefined;
  return inputs.map((one, order) => {
    const apart = candidates[order].includes(true) ? pagesApart(one, order, candidates[order], extents!) : [];
    return { apart, strands: strandsOf(one, new Set(apart)) };
  });
}

function pagesApart(
  { input, streamIndexes }: NumberedInput,
  order: number,
  candidates: readonly boolean[],
  extents: Extents,
): number[] {
  const { pages } = input.footer;
  const apart: number[] = [];
  /** Times of the rows of each stream that are merged: they follow all copied pages of the output. */
  const merged = new Map<number, Extent>();
  for (const [index, page] of pages.entries()) {
    const runs = runsOf(page);
    const isApart = runs.every(({ stream, first, last }) => {
      const before = merged.get(stream);
      // Entries of a chunk with equal timestamps keep their order.
      if (before !== undefined && first <= before.last && last >= before.first) return false;
      return extents.isAlone(streamIndexes[stream], order, first, last);
    });
    if (candidates[index] && isApart) apart.push(index);
    else for (const { stream, first, last } of runs) widen(merged, stream, first, last);
  }
  return apart;
}

function strandsOf({ input, streamIndexes }: NumberedInput, apart: ReadonlySet<number>): number[][] {
  const { pages } = input.footer;
  const strands: number[][] = [];
  /** The last run of each strand. */
  const ends: RunMeta[] = [];
  for (const [index, page] of pages.entries()) {
    if (apart.has(index)) continue;
    const runs = runsOf(page);
    const [start] = runs;
    const strand = ends.findIndex(end => {
      const order = streamIndexes[start.stream] - streamIndexes[end.stream];
      return order > 0 || (order === 0 && start.first >= end.last);
    });
    if (strand < 0) strands.push([index]);
    else strands[strand].push(index);
    ends[strand < 0 ? ends.length : strand] = runs[runs.length - 1];
  }
  return strands;
}

/** The runs of a page that have rows. */
function runsOf({ runs }: PageMeta): readonly RunMeta[] {
  return runs.every(({ rows }) => rows > 0) ? runs : runs.filter(({ rows }) => rows > 0);
}

interface Extent {
  first: number;
  last: number;
}

function widen(extents: Map<number, Extent>, stream: number, first: number, last: number): void {
  const known = extents.get(stream);
  if (known === undefined) extents.set(stream, { first, last });
  else {
    known.first = Math.min(known.first, first);
    known.last = Math.max(known.last, last);
  }
}

/** First and last times of runs, each ascending when they are complete. */
interface Times {
  readonly firsts: number[];
  readonly lasts: number[];
}

/** Times of all runs by stream, and of those of each input. */
class Extents {
  readonly #all = new Map<number, Times>();
  readonly #own: readonly Map<number, Times>[];

  constructor(inputs: readonly NumberedInput[]) {
    this.#own = inputs.map(({ input, streamIndexes }) => {
      const own = new Map<number, Times>();
      for (const page of input.footer.pages) {
        for (const { stream, first, last } of runsOf(page)) {
          for (const times of [this.#all, own]) {
            const { firsts, lasts } = timesOf(times, streamIndexes[stream]);
            firsts.push(first);
            lasts.push(last);
          }
        }
      }
      return own;
    });
    for (const times of [this.#all, ...this.#own]) {
      for (const { firsts, lasts } of times.values()) {
        firsts.sort((a, b) => a - b);
        lasts.sort((a, b) => a - b);
      }
    }
  }

  /** Whether only one input has rows of the stream between these times, both inclusive: that of this order. */
  isAlone(stream: number, order: number, first: number, last: number): boolean {
    const own = this.#own[order].get(stream)!;
    return meeting(this.#all.get(stream)!, first, last) === meeting(own, first, last);
  }
}

function timesOf(times: Map<number, Times>, stream: number): Times {
  let known = times.get(stream);
  if (known === undefined) {
    known = { firsts: [], lasts: [] };
    times.set(stream, known);
  }
  return known;
}

/** Returns the number of runs that meet these times, which are whole nanoseconds. */
function meeting({ firsts, lasts }: Times, first: number, last: number): number {
  const begun = lowerBound(firsts, 0, firsts.length, last + 1);
  return begun - lowerBound(lasts, 0, lasts.length, first);
}
