/**
 * Parser actions for metric expressions. Semantic errors (a missing parameter, a forbidden grouping) are
 * recorded with their node. They are reported only after the whole text was read, outermost first. As in the
 * reference, a later syntax error takes precedence.
 */

import { binaryProblem, rangeProblem, vectorProblem } from './aggregation-checks.ts';
import type {
  BinaryExpr,
  BinaryOp,
  Expr,
  Grouping,
  LabelFilter,
  LabelReplaceExpr,
  LiteralExpr,
  LogRange,
  MetricExpr,
  RangeAggregationExpr,
  RangeOp,
  Unwrap,
  VectorAggregationExpr,
  VectorExpr,
  VectorMatching,
  VectorOp,
} from './ast.ts';
import type { Actions } from './automaton.ts';
import { ParseError } from './errors.ts';
import { foldLiteralMath } from './literal-math.ts';
import { parseLiteral } from './literals.ts';
import { compared, type RangePart } from './log-actions.ts';
import { labelReplaceProblem } from './regex-checks.ts';

/** Errors found while parsing, by node. */
export type Problems = Map<object, string>;

interface Modifiers {
  readonly bool: boolean;
  readonly matching?: VectorMatching;
}

interface MetricPart extends RangePart {
  readonly unwrap?: Unwrap;
  readonly offsetNs?: bigint;
}

export const METRIC_ACTIONS: Actions<Problems> = {
  offset: (v, b): MetricPart => ({ offsetNs: v[b + 1] as bigint }),
  unwrap: (v, b): MetricPart => ({ unwrap: { label: v[b + 2] as string, filters: [] } }),
  unwrapConversion: (v, b): MetricPart => ({
    unwrap: {
      label: v[b + 4] as string,
      conversion: v[b + 2] as Unwrap['conversion'],
      filters: [],
    },
  }),
  unwrapFilter: (v, b) => {
    ((v[b] as MetricPart).unwrap!.filters as LabelFilter[]).push(v[b + 2] as LabelFilter);
    return v[b];
  },
  logRange: (v, b): LogRange => {
    let rangeNs = 0n;
    let part: MetricPart = {};
    // The rule's values extend to the end of the stack; the parentheses among them are strings.
    for (const value of v.slice(b)) {
      if (typeof value === 'bigint') rangeNs = value;
      else if (typeof value === 'object') part = { ...part, ...value };
    }
    return {
      log: { kind: 'log', selector: part.selector!, stages: part.stages ?? [] },
      ...(part.unwrap === undefined ? {} : { unwrap: part.unwrap }),
      rangeNs,
      offsetNs: part.offsetNs ?? 0n,
    };
  },

  rangeAggregation: (v, b, problems) => rangeAggregation(problems, v[b], v[b + 2]),
  rangeAggregationGrouping: (v, b, problems) =>
    rangeAggregation(problems, v[b], v[b + 2], undefined, v[b + 4] as Grouping),
  rangeAggregationParameter: (v, b, problems) =>
    rangeAggregation(problems, v[b], v[b + 4], v[b + 2] as string),
  rangeAggregationBoth: (v, b, problems) =>
    rangeAggregation(problems, v[b], v[b + 4], v[b + 2] as string, v[b + 6] as Grouping),

  vectorAggregation: (v, b, problems) => vectorAggregation(problems, v[b], v[b + 2]),
  vectorAggregationBefore: (v, b, problems) =>
    vectorAggregation(problems, v[b], v[b + 3], undefined, v[b + 1] as Grouping),
  vectorAggregationAfter: (v, b, problems) =>
    vectorAggregation(problems, v[b], v[b + 2], undefined, v[b + 4] as Grouping),
  vectorParameter: (v, b, problems) => vectorAggregation(problems, v[b], v[b + 4], v[b + 2] as string),
  vectorParameterAfter: (v, b, problems) =>
    vectorAggregation(problems, v[b], v[b + 4], v[b + 2] as string, v[b + 6] as Grouping),
  vectorParameterBefore: (v, b, problems) =>
    vectorAggregation(problems, v[b], v[b + 5], v[b + 3] as string, v[b + 1] as Grouping),

  groupingLabels: (v, b): Grouping => ({ without: v[b] === 'without', labels: v[b + 2] as string[] }),
  groupingBare: (v, b): Grouping => ({ without: v[b] === 'without', labels: [] }),

  boolAbsent: (): Modifiers => ({ bool: false }),
  boolPresent: (): Modifiers => ({ bool: true }),
  matchingLabels: (v, b) => matching(v, b, v[b + 3] as string[]),
  matchingBare: (v, b) => matching(v, b, []),
  groupBare: (v, b) => grouped(v, b, []),
  groupLabels: (v, b) => grouped(v, b, v[b + 3] as string[]),
  binary: (v, b, problems) =>
    binary(problems, v[b] as Expr, v[b + 1] as BinaryOp, v[b + 2] as Modifiers, v[b + 3] as Expr),

  literal: (v, b, problems) => literal(problems, v[b] as string, 1),
  literalPlus: (v, b, problems) => literal(problems, v[b + 1] as string, 1),
  literalMinus: (v, b, problems) => literal(problems, v[b + 1] as string, -1),
  literalFilter: (v, b, problems): LabelFilter => {
    const number = v[b + 2] as LiteralExpr;
    const problem = problems.get(number);
    if (problem !== undefined) throw new ParseError(problem);
    return { kind: 'number', ...compared(v, b), value: number.value };
  },
  vector: (v, b, problems): VectorExpr => {
    const { value, problem } = parseLiteral(v[b + 2] as string);
    return noted(
      problems,
      { kind: 'vector', value },
      problem && `unable to parse vectorExpr as a float: ${problem}`,
    );
  },
  labelReplace: (v, b, problems): LabelReplaceExpr => {
    const [destination, replacement, source, regex] = [4, 6, 8, 10].map(index => v[b + index] as string);
    const node = {
      kind: 'labelReplace',
      expr: v[b + 2] as MetricExpr,
      destination,
      replacement,
      source,
      regex,
    } as const;
    return noted(problems, node, labelReplaceProblem(regex));
  },
};

function noted<T extends object>(problems: Problems, node: T, problem: string | undefined): T {
  if (problem !== undefined) problems.set(node, problem);
  return node;
}

function literal(problems: Problems, text: string, sign: 1 | -1): LiteralExpr {
  const { value, problem } = parseLiteral(text);
  return noted(
    problems,
    { kind: 'literal', value: sign * value },
    problem && `unable to parse literal as a float: ${problem}`,
  );
}

function rangeAggregation(
  problems: Problems,
  op: unknown,
  range: unknown,
  parameterText?: string,
  grouping?: Grouping,
): RangeAggregationExpr {
  const parameter = parameterText === undefined ? undefined : parseLiteral(parameterText);
  const node: RangeAggregationExpr = {
    kind: 'rangeAggregation',
    op: op as RangeOp,
    range: range as LogRange,
    ...(parameter === undefined ? {} : { parameter: parameter.value }),
    ...(grouping === undefined ? {} : { grouping }),
  };
  return noted(problems, node, rangeProblem(node, parameterText, parameter?.problem));
}

function vectorAggregation(
  problems: Problems,
  op: unknown,
  expr: unknown,
  parameterText?: string,
  grouping?: Grouping,
): VectorAggregationExpr {
  // `by ()` means the same as no clause, so the tree omits it. No result has as many series as the largest k.
  const says = grouping !== undefined && (grouping.without || grouping.labels.length > 0);
  const node: VectorAggregationExpr = {
    kind: 'vectorAggregation',
    op: op as VectorOp,
    expr: expr as MetricExpr,
    ...(parameterText === undefined
      ? {}
      : { parameter: Math.min(Number(parameterText), Number.MAX_SAFE_INTEGER) }),
    ...(says ? { grouping } : {}),
  };
  return noted(problems, node, vectorProblem(node, parameterText));
}

function matching(v: readonly unknown[], b: number, labels: string[]): Modifiers {
  return { bool: (v[b] as Modifiers).bool, matching: { on: v[b + 1] === 'on', labels, include: [] } };
}

function grouped(v: readonly unknown[], b: number, include: string[]): Modifiers {
  const before = v[b] as Modifiers;
  const group = v[b + 1] === 'group_left' ? 'left' : 'right';
  return { bool: before.bool, matching: { ...before.matching!, group, include } };
}

function binary(problems: Problems, left: Expr, op: BinaryOp, modifiers: Modifiers, right: Expr): MetricExpr {
  const problem = binaryProblem(op, left, right);
  if (problem === undefined && left.kind === 'literal' && right.kind === 'literal') {
    const node: LiteralExpr = { kind: 'literal', value: foldLiteralMath(op, left.value, right.value) };
    return noted(problems, node, problems.get(left) ?? problems.get(right));
  }
  const { matching: by } = modifiers;
  // `ignoring ()` means the same as no clause, so the tree omits it.
  const says = by !== undefined && (by.on || by.labels.length > 0 || by.group !== undefined);
  const node: BinaryExpr = {
    kind: 'binary',
    op,
    left: left as MetricExpr,
    right: right as MetricExpr,
    bool: modifiers.bool,
    ...(says ? { matching: by } : {}),
  };
  return noted(problems, node, problem);
}
