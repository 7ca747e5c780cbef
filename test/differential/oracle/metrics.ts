/** Metric queries, instant by instant (docs/dev/logql-semantics.md#range-aggregations, #vector-aggregations, #binary-operations). */
import type {
  BinaryExpr,
  Grouping,
  MetricExpr,
  RangeAggregationExpr,
  VectorAggregationExpr,
  VectorMatching,
} from '../../../shared/language/logql/ast.ts';
import { type Bytes, toBytes, toText } from './bytes.ts';
import { compare } from './label-filters.ts';
import type { OracleEntry } from './pipeline.ts';
import { extreme, mean, type Sample, samplesOf, variance, vectorAt } from './range.ts';
import { wholeRegex } from './regex.ts';
import {
  chosen,
  type Element,
  groupBy,
  keyOf,
  type SeriesLabels,
  type Vector,
  withoutEmpty,
} from './series.ts';
import { Undecided } from './undecided.ts';

/** The query fails when it runs. */
export class MatchingFailure extends Error {}

type Operand = number | Vector;

/** Evaluates a query at one instant after the other. */
export class MetricOracle {
  readonly #expr: MetricExpr;
  readonly #select: (node: RangeAggregationExpr) => readonly OracleEntry[];
  readonly #samples = new Map<RangeAggregationExpr, readonly Sample[]>();

  /** @param select the entries of a selector, by time */
  constructor(expr: MetricExpr, select: (node: RangeAggregationExpr) => readonly OracleEntry[]) {
    this.#expr = expr;
    this.#select = select;
  }

  at(timeNs: bigint): Operand {
    return this.#evaluate(this.#expr, timeNs, undefined);
  }

  #evaluate(expr: MetricExpr, timeNs: bigint, outer: Grouping | undefined): Operand {
    switch (expr.kind) {
      case 'literal':
        return expr.value;
      case 'vector':
        return [{ labels: new Map(), value: expr.value }];
      case 'rangeAggregation': {
        let samples = this.#samples.get(expr);
        if (samples === undefined)
          this.#samples.set(expr, (samples = samplesOf(expr, outer, this.#select(expr))));
        return vectorAt(expr, samples, timeNs);
      }
      case 'vectorAggregation': {
        const pushed = expr.op === 'sum' ? (expr.grouping ?? { without: false, labels: [] }) : undefined;
        return aggregate(expr, vectorOf(this.#evaluate(expr.expr, timeNs, pushed)));
      }
      case 'labelReplace':
        return vectorOf(this.#evaluate(expr.expr, timeNs, undefined)).map(element =>
          replaceLabel(element, expr),
        );
      case 'binary': {
        const left = this.#evaluate(expr.left, timeNs, undefined);
        const right = this.#evaluate(expr.right, timeNs, undefined);
        return operate(expr, left, right);
      }
    }
  }
}

function vectorOf(operand: Operand): Vector {
  if (typeof operand === 'number') throw new MatchingFailure('a literal where a vector is needed');
  return operand;
}

// Vector aggregations.

function aggregate({ op, grouping, parameter: k = 0 }: VectorAggregationExpr, input: Vector): Vector {
  const { without, labels: names } = grouping ?? { without: false, labels: [] };
  const group = (labels: SeriesLabels) => chosen(labels, names.map(toBytes), without);
  if (op === 'sort' || op === 'sort_desc') return sorted(input, op === 'sort_desc');
  const groups = [...groupBy(input, ({ labels }) => keyOf(group(labels))).values()];
  if (op === 'topk' || op === 'bottomk' || op === 'approx_topk') {
    return groups.flatMap(members => ranked(members, k, op !== 'bottomk'));
  }
  return groups.map(members => {
    const values = members.map(({ value }) => value);
    const labels = group(members[0].labels);
    return { labels: without ? withoutEmpty(labels) : labels, value: reduce(op, values) };
  });
}

function reduce(op: VectorAggregationExpr['op'], values: readonly number[]): number {
  switch (op) {
    case 'sum':
      return values.reduce((total, value) => total + value, 0);
    case 'avg':
      return mean(values);
    case 'count':
      return values.length;
    case 'min':
      return extreme(values, (a, b) => a < b);
    case 'max':
      return extreme(values, (a, b) => a > b);
    case 'stddev':
      return Math.sqrt(spread(values));
    case 'stdvar':
      return spread(values);
    default:
      throw new Undecided(`aggregation ${op}`);
  }
}

/** The first value is the mean to begin with, even if it is not a number. */
function spread(values: readonly number[]): number {
  return values.length === 1 ? 0 : variance(values);
}

/** NaN comes last, in both directions. */
function sorted(input: Vector, descending: boolean): Element[] {
  const rank = ({ value }: Element) => (descending ? -value : value);
  return input.toSorted((a, b) => {
    if (Number.isNaN(a.value) || Number.isNaN(b.value))
      return Number(Number.isNaN(a.value)) - Number(Number.isNaN(b.value));
    return rank(a) === rank(b) ? 0 : rank(a) - rank(b);
  });
}

/** Which of equal values are among the first is not for the oracle to say. */
function ranked(members: Vector, k: number, descending: boolean): Element[] {
  const order = sorted(members, descending);
  if (order.length > k && sameValue(order[k - 1].value, order[k].value))
    throw new Undecided('equal values at the end of topk');
  return order.slice(0, k);
}

/** Sums of the same numbers in another order differ by a little. */
function sameValue(a: number, b: number): boolean {
  return Object.is(a, b) || Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b));
}

// Binary operations.

function operate(
  { op, bool, left: _l, right: _r, matching }: BinaryExpr,
  left: Operand,
  right: Operand,
): Operand {
  if (typeof left === 'number' && typeof right === 'number') {
    return isComparison(op) ? Number(compareWith(op, left, right)) : arithmetic(op, left, right);
  }
  if (op === 'and' || op === 'or' || op === 'unless')
    return setOperation(op, vectorOf(left), vectorOf(right), matching);
  if (typeof left !== 'number' && typeof right !== 'number')
    return matched({ op, bool, matching }, left, right);
  const elements = vectorOf(typeof left === 'number' ? right : left);
  return elements.flatMap(element => {
    const a = typeof left === 'number' ? left : element.value;
    const b = typeof right === 'number' ? right : element.value;
    return results({ op, bool }, a, b, element.value).map(value => ({ labels: element.labels, value }));
  });
}

function isComparison(op: BinaryExpr['op']): boolean {
  return ['==', '!=', '>', '>=', '<', '<='].includes(op);
}

function compareWith(op: BinaryExpr['op'], a: number, b: number): boolean {
  return compare(a, op as '==', b);
}

function arithmetic(op: BinaryExpr['op'], a: number, b: number): number {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b === 0 ? Number.NaN : a / b;
    case '%':
      return b === 0 ? Number.NaN : a % b;
    case '^':
      return goPower(a, b);
    default:
      throw new Undecided(`operator ${op}`);
  }
}

/** Cases in which Go's math.Pow differs from JavaScript's: 1 to any power, and -1 to an infinite one. */
function goPower(a: number, b: number): number {
  return a === 1 || (a === -1 && Math.abs(b) === Infinity) ? 1 : a ** b;
}

/** One value, or none if a comparison without `bool` is false. */
function results(
  { op, bool }: Pick<BinaryExpr, 'op' | 'bool'>,
  a: number,
  b: number,
  kept: number,
): number[] {
  if (!isComparison(op)) return [arithmetic(op, a, b)];
  const holds = compareWith(op, a, b);
  if (bool) return [Number(holds)];
  return holds ? [kept] : [];
}

/** A label with an empty value counts as absent. */
function signatureOf(labels: SeriesLabels, matching: VectorMatching | undefined): string {
  const { on, labels: names } = matching ?? { on: false, labels: [] };
  return keyOf(withoutEmpty(chosen(labels, names.map(toBytes), !on)));
}

function setOperation(
  op: 'and' | 'or' | 'unless',
  left: Vector,
  right: Vector,
  matching?: VectorMatching,
): Vector {
  const signatures = (vector: Vector) => new Set(vector.map(({ labels }) => signatureOf(labels, matching)));
  const inRight = signatures(right);
  const inLeft = signatures(left);
  const has = (set: ReadonlySet<string>) => (element: Element) =>
    set.has(signatureOf(element.labels, matching));
  if (op === 'and') return left.filter(has(inRight));
  if (op === 'unless') return left.filter(element => !has(inRight)(element));
  return [...left, ...right.filter(element => !has(inLeft)(element))];
}

function matched(expr: Pick<BinaryExpr, 'op' | 'bool' | 'matching'>, left: Vector, right: Vector): Vector {
  const { matching } = expr;
  const groupRight = matching?.group === 'right';
  const [many, one] = groupRight ? [right, left] : [left, right];
  const bySignature = new Map<string, Element>();
  for (const element of one) {
    const signature = signatureOf(element.labels, matching);
    if (bySignature.has(signature)) throw new MatchingFailure('found duplicate series');
    bySignature.set(signature, element);
  }
  const seen = new Set<string>();
  const out: Element[] = [];
  for (const element of many) {
    const signature = signatureOf(element.labels, matching);
    const partner = bySignature.get(signature);
    if (partner === undefined) continue;
    const [a, b] = groupRight ? [partner, element] : [element, partner];
    const labels = resultLabels(element.labels, partner.labels, matching);
    const unique = matching?.group === undefined ? signature : signature + keyOf(labels);
    if (seen.has(unique)) throw new MatchingFailure('multiple matches for labels');
    seen.add(unique);
    out.push(...results(expr, a.value, b.value, a.value).map(value => ({ labels, value })));
  }
  return out;
}

function resultLabels(
  many: SeriesLabels,
  one: SeriesLabels,
  matching: VectorMatching | undefined,
): SeriesLabels {
  if (matching === undefined) return withoutEmpty(many);
  const names = matching.labels.map(toBytes);
  if (matching.group === undefined) return withoutEmpty(chosen(many, names, !matching.on));
  const labels = withoutEmpty(many);
  for (const name of matching.include.map(toBytes)) {
    const value = one.get(name) ?? '';
    if (value === '') labels.delete(name);
    else labels.set(name, value);
  }
  return labels;
}

// label_replace.

function replaceLabel(
  element: Element,
  { destination, replacement, source, regex }: Extract<MetricExpr, { kind: 'labelReplace' }>,
): Element {
  const value = element.labels.get(toBytes(source)) ?? '';
  const groups = wholeValue(regex).exec(value);
  if (groups === undefined) return element;
  const text = toBytes(replacement).replace(/\$(\d)/g, (_, group: string) => groups[Number(group)] ?? '');
  // Halves of characters that come together are one again.
  const labels = new Map<Bytes, Bytes>(element.labels).set(toBytes(destination), toBytes(toText(text)));
  return { ...element, labels: withoutEmpty(labels) };
}

function wholeValue(regex: string) {
  return wholeRegex(`(?-s:${regex})`);
}
