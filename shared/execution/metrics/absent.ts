/**
 * Evaluates absent_over_time: a 1 at each instant at which no series has a sample (docs/dev/logql-semantics.md#absent_over_time).
 */

import { type Labels, labelsOf } from '../../base/model/labels.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { MatrixSeries, SeriesMatrix } from './matrix.ts';

/**
 * Returns the labels that the selector fixes: those of equality matchers, without names that another kind of
 * matcher uses or that occur twice.
 */
export function absentLabels(selector: readonly Matcher[]): Labels {
  const values = new Map<string, string>();
  const dropped = new Set<string>();
  for (const { name, op, value } of selector) {
    if (op !== '=' || values.has(name)) dropped.add(name);
    values.set(name, value);
  }
  // A label with an empty value counts as missing.
  return labelsOf([...values].filter(([name, value]) => !dropped.has(name) && value !== ''));
}

/** Inverts the counts of an absent_over_time. */
export function absentMatrix({ timesMs, series }: SeriesMatrix, labels: Labels): SeriesMatrix {
  const present = new Uint8Array(timesMs.length).fill(1);
  for (const one of series) {
    for (let i = 0; i < one.present.length; i++) if (one.present[i] === 1) present[one.first + i] = 0;
  }
  const absent: MatrixSeries = {
    labels,
    first: 0,
    values: new Float64Array(timesMs.length).fill(1),
    present,
  };
  return { timesMs, series: present.includes(1) ? [absent] : [] };
}
