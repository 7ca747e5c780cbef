/**
 * Divides the pages of the inputs of a merge: pages *apart* are copied as they are stored, and the rows of all others
 * are merged.
 *
 * A page is apart if no other input has a row of one of its streams between the first and the last one of that stream
 * in the page. So none of its rows is in another input, and none shares a timestamp with a row there. The footers show
 * it. Rows of the page need not be neighbors in the output, because pages of a chunk can be in any order
 * (docs/dev/format.md#33-pages).
 *
 * Rows of the other pages are merged in the order of streams and times (strands.ts).
 */
import { lowerBound } from '../../base/model/binary-search.ts';
import type { PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import { type NumberedInput, type Strand, strandsOfPages, strandsOfRuns } from './strands.ts';

export interface DividedPages {
  /** Indexes in the input, in their order, because pages can share timestamps. */
  readonly apart: readonly number[];
  /** Of all other pages. */
  readonly strands: readonly Strand[];
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
    const left = pagesLeft(one, apart);
    return { apart, strands: strandsOfPages(one, left) ?? strandsOfRuns(one, left) };
  });
}

/** Returns the same pages apart, and strands that need less memory. Throws MergeTooLargeError. */
export function divideRuns(
  inputs: readonly NumberedInput[],
  divided: readonly DividedPages[],
): DividedPages[] {
  return inputs.map((one, order) => {
    const { apart } = divided[order];
    return { apart, strands: strandsOfRuns(one, pagesLeft(one, apart)) };
  });
}

function pagesLeft({ input }: NumberedInput, apart: readonly number[]): number[] {
  const isApart = new Set(apart);
  return input.footer.pages.map((_, i) => i).filter(page => !isApart.has(page));
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
