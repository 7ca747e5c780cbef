/**
 * Matches the series of two operands by equal signatures (docs/dev/logql-semantics.md#matching). In a signature, a label with
 * an empty value counts as absent. Each signature is computed once per series. Presence at the same instant
 * is checked only if a signature has several series.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { VectorMatching } from '../../language/logql/ast.ts';
import { type GroupKeyTest, keepLabels, labelsKey, withoutEmpty } from './grouping.ts';
import type { MatrixSeries } from './matrix.ts';
import type { Steps } from './steps.ts';

/** Series of both operands that share a signature. */
export interface SignatureGroup {
  readonly left: MatrixSeries[];
  readonly right: MatrixSeries[];
}

/** Selects the labels of signatures. */
export function signatureTest(matching: VectorMatching | undefined): GroupKeyTest {
  const listed = new Set(matching?.labels);
  return matching?.on === true ? name => listed.has(name) : name => !listed.has(name);
}

export function* groupBySignature(
  left: readonly MatrixSeries[],
  right: readonly MatrixSeries[],
  matching: VectorMatching | undefined,
): Steps<SignatureGroup[]> {
  const test = signatureTest(matching);
  const groups = new Map<string, SignatureGroup>();
  const groupOf = (series: MatrixSeries): SignatureGroup => {
    const key = labelsKey(withoutEmpty(keepLabels(series.labels, test)));
    let group = groups.get(key);
    if (group === undefined) {
      group = { left: [], right: [] };
      groups.set(key, group);
    }
    return group;
  };
  for (const series of left) {
    groupOf(series).left.push(series);
    yield;
  }
  for (const series of right) {
    groupOf(series).right.push(series);
    yield;
  }
  return [...groups.values()];
}

/** Marks by instant that can be cleared in constant time. */
export class InstantMarks {
  readonly #marks: Uint32Array;
  #round = 0;

  constructor(instants: number) {
    this.#marks = new Uint32Array(instants);
  }

  clear(): void {
    this.#round++;
  }

  has(instant: number): boolean {
    return this.#marks[instant] === this.#round;
  }

  /**
   * Marks the instants of a series; returns false if one of them was already marked. `only` restricts the
   * instants.
   */
  mark({ first, present }: MatrixSeries, only?: InstantMarks): boolean {
    let fresh = true;
    for (let i = 0; i < present.length; i++) {
      if (present[i] === 0 || (only !== undefined && !only.has(first + i))) continue;
      if (this.#marks[first + i] === this.#round) fresh = false;
      this.#marks[first + i] = this.#round;
    }
    return fresh;
  }
}

/** Refuses two elements of the "one" side with one signature at one instant, even without a match. */
export function* checkOneSide(
  one: readonly MatrixSeries[],
  side: 'left' | 'right',
  marks: InstantMarks,
): Steps<void> {
  if (one.length < 2) return;
  marks.clear();
  for (const series of one) {
    yield;
    if (marks.mark(series)) continue;
    throw new BadRequestError(
      `found duplicate series on the ${side} hand-side;many-to-many matching not allowed: matching labels must ` +
        'be unique on one side',
    );
  }
}
