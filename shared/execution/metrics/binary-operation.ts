/**
 * Binary operations between two matrices (docs/dev/logql-semantics.md#binary-operations). Series are paired once
 * by signature, and then processed as a whole.
 *
 * Pitfall: with group_right, the right side is the "many" side and provides the labels. The operands still
 * remain in written order, and a comparison without `bool` still returns the left value.
 */

import { compareUtf8 } from '../../base/model/bytes.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import { type Labels, labelValue } from '../../base/model/labels.ts';
import type { BinaryOp, CompareOp, VectorMatching } from '../../language/logql/ast.ts';
import {
  type ArithmeticOp,
  arithmeticOf,
  comparisonOf,
  isComparison,
  isSetOp,
  type SetOp,
} from './arithmetic.ts';
import { keepLabels, labelsKey, withoutEmpty } from './grouping.ts';
import {
  checkOneSide,
  groupBySignature,
  InstantMarks,
  type SignatureGroup,
  signatureTest,
} from './matching.ts';
import { hasPoints, type MatrixSeries, type SeriesMatrix } from './matrix.ts';
import type { Steps } from './steps.ts';

export function* operateOnMatrices(
  left: SeriesMatrix,
  right: SeriesMatrix,
  op: BinaryOp,
  bool: boolean,
  matching: VectorMatching | undefined,
): Steps<SeriesMatrix> {
  const groups = yield* groupBySignature(left.series, right.series, matching);
  const marks = new InstantMarks(left.timesMs.length);
  const series = isSetOp(op)
    ? yield* combineSets(left.series, right.series, op, groups, marks)
    : yield* matchPairs(left.series, right.series, groups, matching, marks, calculation(op, bool));
  return { timesMs: left.timesMs, series };
}

/**
 * Selects left samples by whether the right side has their signature at the instant. For `or`, adds the right
 * samples whose signature the left side lacks.
 */
function* combineSets(
  left: readonly MatrixSeries[],
  right: readonly MatrixSeries[],
  op: SetOp,
  groups: readonly SignatureGroup[],
  marks: InstantMarks,
): Steps<MatrixSeries[]> {
  const results = new Map<MatrixSeries, MatrixSeries>();
  for (const group of groups) {
    const tested = op === 'or' ? group.right : group.left;
    const others = op === 'or' ? group.left : group.right;
    marks.clear();
    for (const series of others) {
      marks.mark(series);
      yield;
    }
    const wanted = op === 'and';
    for (const series of tested) {
      const present = series.present.map((is, i) =>
        is === 1 && marks.has(series.first + i) === wanted ? 1 : 0,
      );
      if (hasPoints(present)) results.set(series, { ...series, present });
      yield;
    }
  }
  const kept = (series: readonly MatrixSeries[]): MatrixSeries[] =>
    series.flatMap(one => results.get(one) ?? []);
  return op === 'or' ? [...left, ...kept(right)] : kept(left);
}

/** Operation on a pair of values: the result, and whether the sample remains. */
interface Calculation {
  readonly value: (left: number, right: number) => number;
  readonly keeps: ((left: number, right: number) => boolean) | undefined;
}

function calculation(op: ArithmeticOp | CompareOp, bool: boolean): Calculation {
  if (!isComparison(op)) return { value: arithmeticOf(op), keeps: undefined };
  const compare = comparisonOf(op);
  if (bool) return { value: (left, right) => (compare(left, right) ? 1 : 0), keeps: undefined };
  return { value: left => left, keeps: compare };
}

/** Series of the "many" side and of the "one" side that overlap in at least one instant. */
interface SeriesPair {
  readonly many: MatrixSeries;
  readonly one: MatrixSeries;
  readonly labels: Labels;
  /** Instants at which both series have a value. */
  readonly both: MatrixSeries;
}

function* matchPairs(
  left: readonly MatrixSeries[],
  right: readonly MatrixSeries[],
  groups: readonly SignatureGroup[],
  matching: VectorMatching | undefined,
  marks: InstantMarks,
  { value, keeps }: Calculation,
): Steps<MatrixSeries[]> {
  const manyOnRight = matching?.group === 'right';
  for (const group of groups) {
    yield* checkOneSide(manyOnRight ? group.left : group.right, manyOnRight ? 'left' : 'right', marks);
  }
  const labelsOf = resultLabels(matching);
  const results = new Map<MatrixSeries, MatrixSeries[]>();
  for (const group of groups) {
    const ones = manyOnRight ? group.left : group.right;
    const pairs: SeriesPair[] = [];
    for (const many of manyOnRight ? group.right : group.left) {
      for (const one of ones) {
        const both = overlap(many, one);
        if (both !== undefined) pairs.push({ many, one, labels: labelsOf(many.labels, one.labels), both });
        yield;
      }
    }
    yield* checkManySide(pairs, matching?.group !== undefined, marks);
    for (const { many, one, labels, both } of pairs) {
      const made = calculate(both, manyOnRight ? one : many, manyOnRight ? many : one, value, keeps);
      if (!hasPoints(made.present)) continue;
      const others = results.get(many);
      if (others === undefined) results.set(many, [{ ...made, labels }]);
      else others.push({ ...made, labels });
      yield;
    }
  }
  return (manyOnRight ? right : left).flatMap(many => results.get(many) ?? []);
}

/**
 * Returns the instants at which both series have a value, with space for values; undefined if there are none.
 */
function overlap(a: MatrixSeries, b: MatrixSeries): MatrixSeries | undefined {
  const first = Math.max(a.first, b.first);
  const end = Math.min(a.first + a.values.length, b.first + b.values.length);
  if (end <= first) return undefined;
  const present = new Uint8Array(end - first);
  for (let i = 0; i < present.length; i++) {
    present[i] = a.present[first + i - a.first] & b.present[first + i - b.first];
  }
  return hasPoints(present)
    ? { labels: a.labels, first, values: new Float64Array(end - first), present }
    : undefined;
}

function calculate(
  both: MatrixSeries,
  left: MatrixSeries,
  right: MatrixSeries,
  value: Calculation['value'],
  keeps: Calculation['keeps'],
): MatrixSeries {
  const { first, values, present } = both;
  const leftShift = first - left.first;
  const rightShift = first - right.first;
  for (let i = 0; i < values.length; i++) {
    if (present[i] === 0) continue;
    const a = left.values[i + leftShift];
    const b = right.values[i + rightShift];
    values[i] = value(a, b);
    if (keeps !== undefined && !keeps(a, b)) present[i] = 0;
  }
  return both;
}

/** Refuses two matches of one signature (with grouping: of one label set) at one instant. */
function* checkManySide(pairs: readonly SeriesPair[], grouped: boolean, marks: InstantMarks): Steps<void> {
  if (pairs.length < 2) return;
  const byResult = new Map<string, MatrixSeries[]>();
  for (const { labels, both } of pairs) {
    const key = grouped ? labelsKey(labels) : '';
    const same = byResult.get(key);
    if (same === undefined) byResult.set(key, [both]);
    else same.push(both);
  }
  for (const same of byResult.values()) {
    marks.clear();
    for (const both of same) {
      yield;
      if (marks.mark(both)) continue;
      throw new BadRequestError(
        grouped
          ? 'multiple matches for labels: grouping labels must ensure unique matches'
          : 'multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)',
      );
    }
  }
}

/**
 * Returns the result labels. One to one: the labels of the match. With grouping: the labels of the many side,
 * with included labels from the other side. Labels with empty values are omitted.
 */
function resultLabels(matching: VectorMatching | undefined): (many: Labels, one: Labels) => Labels {
  if (matching?.group === undefined) {
    const test = signatureTest(matching);
    return many => withoutEmpty(keepLabels(many, test));
  }
  const included = new Set(matching.include);
  if (included.size === 0) return withoutEmpty;
  return (many, one) => {
    const labels = many.filter(({ name }) => !included.has(name));
    for (const name of included) labels.push({ name, value: labelValue(one, name) ?? '' });
    return withoutEmpty(labels.sort((a, b) => compareUtf8(a.name, b.name)));
  };
}
