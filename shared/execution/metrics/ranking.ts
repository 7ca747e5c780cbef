/**
 * Evaluates topk, bottomk, sort and sort_desc (docs/dev/logql-semantics.md#vector-aggregations), which select or order existing series.
 *
 * Each instant is ranked separately, so a range query may return more than k series. NaN ranks last in both
 * directions. If the reference leaves ties to chance, the smaller label set wins, so that results are
 * reproducible.
 */

import { compareLabels } from '../../base/model/labels.ts';
import type { Grouping } from '../../language/logql/ast.ts';
import { groupBy } from './grouping.ts';
import { type MatrixSeries, type SeriesMatrix, spanOf } from './matrix.ts';
import type { Steps } from './steps.ts';

/**
 * Returns the k largest of each group and instant, or (`ascending`) the k smallest. A result for one instant
 * has that order.
 */
export function* rankGroups(
  matrix: SeriesMatrix,
  k: number,
  ascending: boolean,
  grouping: Grouping | undefined,
): Steps<SeriesMatrix> {
  const chosen: MatrixSeries[] = [];
  for (const { members } of yield* groupBy(matrix.series, grouping)) {
    const kept = members.length <= k ? members : yield* chooseOf(members, k, ascending);
    const ordered = matrix.timesMs.length === 1 ? inValueOrder(kept, ascending) : kept;
    for (const one of ordered) chosen.push(one);
    yield;
  }
  return { timesMs: matrix.timesMs, series: chosen };
}

/** Sorts the elements of an instant vector by value; a matrix has no such order and is unchanged. */
export function sortSeries(matrix: SeriesMatrix, ascending: boolean): SeriesMatrix {
  if (matrix.timesMs.length !== 1) return matrix;
  return { timesMs: matrix.timesMs, series: inValueOrder(matrix.series, ascending) };
}

function inValueOrder(series: readonly MatrixSeries[], ascending: boolean): MatrixSeries[] {
  return [...series].sort(
    (a, b) => compareRank(a.values[0], b.values[0], ascending) || compareLabels(a.labels, b.labels),
  );
}

/** Returns a negative number if `a` comes before `b`. */
function compareRank(a: number, b: number, ascending: boolean): number {
  if (a === b) return 0;
  if (Number.isNaN(a)) return Number.isNaN(b) ? 0 : 1;
  if (Number.isNaN(b)) return -1;
  return a < b === ascending ? -1 : 1;
}

function* chooseOf(members: readonly MatrixSeries[], k: number, ascending: boolean): Steps<MatrixSeries[]> {
  const { first, end } = spanOf(members);
  // At one instant, labels are compared only for equal values. At many, sorting once costs less.
  const isOne = end - first === 1;
  const ordered = isOne ? members : [...members].sort(byLabels);
  const best = new BestOf(
    k,
    ascending,
    isOne ? (i, j) => byLabels(members[i], members[j]) || i - j : byIndex,
  );
  const present: (Uint8Array | undefined)[] = [];
  const byStart = Array.from(ordered.keys());
  if (!isOne) byStart.sort((x, y) => ordered[x].first - ordered[y].first || x - y);
  // Members that have begun and not ended, so that the cost of an instant depends only on them.
  let active: number[] = [];
  let started = 0;
  for (let instant = first; instant < end; instant++) {
    for (; started < byStart.length && ordered[byStart[started]].first === instant; started++) {
      active.push(byStart[started]);
    }
    const ended = chooseAt(instant, { active, ordered, best, present });
    if (ended) active = active.filter(index => instant < ordered[index].first + ordered[index].values.length);
    yield;
  }
  const chosen: MatrixSeries[] = [];
  for (const [index, own] of present.entries())
    if (own !== undefined) chosen.push({ ...ordered[index], present: own });
  return isOne ? chosen.sort(byLabels) : chosen;
}

function byLabels(a: MatrixSeries, b: MatrixSeries): number {
  return compareLabels(a.labels, b.labels);
}

function byIndex(i: number, j: number): number {
  return i - j;
}

interface Choosing {
  /** Indexes of members that have begun. */
  readonly active: readonly number[];
  readonly ordered: readonly MatrixSeries[];
  readonly best: BestOf;
  /** Selected instants of each member; undefined if there are none. */
  readonly present: (Uint8Array | undefined)[];
}

/** Marks the best members of an instant; returns whether a member has ended. */
function chooseAt(instant: number, { active, ordered, best, present }: Choosing): boolean {
  let ended = false;
  best.clear();
  for (const index of active) {
    const { first: start, values, present: own } = ordered[index];
    const at = instant - start;
    if (at >= values.length) ended = true;
    else if (own[at] === 1) best.offer(values[at], index);
  }
  for (let i = 0; i < best.count; i++) {
    const index = best.indexes[i];
    const { first: start, values } = ordered[index];
    present[index] ??= new Uint8Array(values.length);
    present[index][instant - start] = 1;
  }
  return ended;
}

/** Collects the k best offers in a heap with the worst on top. */
class BestOf {
  readonly indexes: number[] = [];
  readonly #values: number[] = [];
  readonly #k: number;
  readonly #ascending: boolean;
  readonly #order: (index: number, other: number) => number;

  /** @param order compares the members of two offers with equal values */
  constructor(k: number, ascending: boolean, order: (index: number, other: number) => number) {
    this.#k = k;
    this.#ascending = ascending;
    this.#order = order;
  }

  get count(): number {
    return this.indexes.length;
  }

  clear(): void {
    this.indexes.length = 0;
    this.#values.length = 0;
  }

  offer(value: number, index: number): void {
    if (this.count < this.#k) {
      this.indexes.push(index);
      this.#values.push(value);
      this.#rise(this.count - 1);
    } else if (this.#before(value, index, this.#values[0], this.indexes[0])) {
      this.indexes[0] = index;
      this.#values[0] = value;
      this.#sink();
    }
  }

  /** Returns whether the first offer is better. */
  #before(value: number, index: number, otherValue: number, otherIndex: number): boolean {
    return (compareRank(value, otherValue, this.#ascending) || this.#order(index, otherIndex)) < 0;
  }

  #worse(i: number, j: number): boolean {
    return this.#before(this.#values[j], this.indexes[j], this.#values[i], this.indexes[i]);
  }

  #rise(at: number): void {
    for (let i = at; i > 0; ) {
      const parent = (i - 1) >> 1;
      if (!this.#worse(i, parent)) return;
      this.#swap(i, parent);
      i = parent;
    }
  }

  #sink(): void {
    for (let i = 0; ; ) {
      let worst = i;
      const left = 2 * i + 1;
      if (left < this.count && this.#worse(left, worst)) worst = left;
      if (left + 1 < this.count && this.#worse(left + 1, worst)) worst = left + 1;
      if (worst === i) return;
      this.#swap(i, worst);
      i = worst;
    }
  }

  #swap(i: number, j: number): void {
    [this.indexes[i], this.indexes[j]] = [this.indexes[j], this.indexes[i]];
    [this.#values[i], this.#values[j]] = [this.#values[j], this.#values[i]];
  }
}
