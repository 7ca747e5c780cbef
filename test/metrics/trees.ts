/** Short ways to write syntax trees and matrices in tests; a leaf is named by a number in its selector. */

import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { type EvaluationContext, evaluateMetric } from '../../shared/execution/metrics/evaluate.ts';
import type { MatrixSeries, SeriesMatrix } from '../../shared/execution/metrics/matrix.ts';
import type { MetricResult } from '../../shared/execution/metrics/result.ts';
import type {
  BinaryExpr,
  BinaryOp,
  Grouping,
  Matcher,
  MetricExpr,
  RangeAggregationExpr,
  RangeOp,
  VectorAggregationExpr,
  VectorMatching,
  VectorOp,
} from '../../shared/language/logql/ast.ts';

export const by = (...labels: string[]): Grouping => ({ without: false, labels });
export const without = (...labels: string[]): Grouping => ({ without: true, labels });

export function leaf(
  name: string,
  op: RangeOp = 'count_over_time',
  over: { grouping?: Grouping; rangeNs?: bigint; offsetNs?: bigint; selector?: Matcher[] } = {},
): RangeAggregationExpr {
  return {
    kind: 'rangeAggregation',
    op,
    range: {
      log: { kind: 'log', selector: over.selector ?? [{ name: 'leaf', op: '=', value: name }], stages: [] },
      rangeNs: over.rangeNs ?? 1n,
      offsetNs: over.offsetNs ?? 0n,
    },
    grouping: over.grouping,
  };
}

export function aggregation(
  op: VectorOp,
  expr: MetricExpr,
  grouping?: Grouping,
  parameter?: number,
): VectorAggregationExpr {
  return { kind: 'vectorAggregation', op, expr, grouping, parameter };
}

export const literal = (value: number): MetricExpr => ({ kind: 'literal', value });
export const vector = (value: number): MetricExpr => ({ kind: 'vector', value });

export function binary(
  left: MetricExpr,
  op: BinaryOp,
  right: MetricExpr,
  over: { bool?: boolean; matching?: VectorMatching } = {},
): BinaryExpr {
  return { kind: 'binary', op, left, right, bool: over.bool ?? false, matching: over.matching };
}

export const on = (labels: string[], group?: 'left' | 'right', include: string[] = []): VectorMatching => ({
  on: true,
  labels,
  group,
  include,
});
export const ignoring = (
  labels: string[],
  group?: 'left' | 'right',
  include: string[] = [],
): VectorMatching => ({
  ...on(labels, group, include),
  on: false,
});

/** Labels `a=1,b=2`; values by instant, `_` for none. */
export type Rows = Readonly<Record<string, readonly (number | '_')[]>>;

export function parseLabels(text: string): MatrixSeries['labels'] {
  const pairs = text === '' ? [] : text.replace(/#.*/, '').split(',').filter(Boolean);
  return labelsOf(pairs.map(pair => pair.split('=') as [string, string]));
}

/** The text after `#` in a key only distinguishes two rows of equal labels. */
export function matrixOf(rows: Rows): SeriesMatrix {
  const instants = Math.max(0, ...Object.values(rows).map(row => row.length));
  const series = Object.entries(rows).flatMap(([text, row]): MatrixSeries[] => {
    const first = row.findIndex(value => value !== '_');
    if (first < 0) return [];
    const shown = row.slice(first);
    return [
      {
        labels: parseLabels(text),
        first,
        values: Float64Array.from(shown, value => (value === '_' ? 0 : value)),
        present: Uint8Array.from(shown, value => (value === '_' ? 0 : 1)),
      },
    ];
  });
  return { timesMs: Float64Array.from({ length: instants }, (_, i) => i), series };
}

export function evaluate(
  expr: MetricExpr,
  leaves: Readonly<Record<string, Rows>> = {},
  over: Partial<EvaluationContext> = {},
): MetricResult {
  const lengths = Object.values(leaves).flatMap(rows => Object.values(rows).map(row => row.length));
  const instants = Math.max(1, ...lengths);
  return evaluateMetric(expr, {
    leaf: node => matrixOf(leaves[node.range.log.selector[0].value] ?? {}),
    startNs: 0n,
    endNs: BigInt(instants - 1) * 1_000_000n,
    stepNs: 1_000_000n,
    instant: false,
    maxSeries: 0,
    ...over,
  });
}

/** `[labels, value]` of a vector; `[labels, [time, value], ...]` of a matrix; the value of a scalar. */
export function shown(result: MetricResult): unknown {
  if (result.kind === 'scalar') return result.value;
  if (result.kind === 'vector')
    return result.samples.map(({ labels, value }) => [formatLabels(labels), value]);
  return result.series.map(({ labels, timesMs, values }) => [
    formatLabels(labels),
    ...Array.from(values, (value, i) => [timesMs[i], value]),
  ]);
}

/** A range query's answer. */
export function ranged(expr: MetricExpr, leaves: Readonly<Record<string, Rows>> = {}): unknown {
  return shown(evaluate(expr, leaves));
}

/** An instant query's answer; rows have one value each. */
export function instant(
  expr: MetricExpr,
  leaves: Readonly<Record<string, Readonly<Record<string, number>>>> = {},
): unknown {
  const rows = Object.fromEntries(
    Object.entries(leaves).map(([name, values]) => [
      name,
      Object.fromEntries(Object.entries(values).map(([labels, value]) => [labels, [value]])),
    ]),
  );
  return shown(evaluate(expr, rows, { instant: true, stepNs: 0n }));
}
