/**
 * Alert of a query: its expression with the condition, when it would have fired, and the group for the rules
 * API.
 */
import { MS_PER_DAY, MS_PER_MINUTE } from '../../../../shared/base/model/time-units.ts';
import type { MatrixSeries } from '../../api/types.ts';
import { asksForLines } from '../../logql/tokens.ts';
import { fillVariables } from '../../logql/variables.ts';

export const COMPARISON_OPERATORS = ['>', '>=', '<', '<=', '==', '!='] as const;
export type Operator = (typeof COMPARISON_OPERATORS)[number];

export interface AlertDraft {
  readonly name: string;
  /** Metric query. */
  readonly query: string;
  readonly operator: Operator;
  readonly threshold: string;
  /** Minutes for which the condition must hold. */
  readonly forMinutes: number;
  readonly severity: string;
  readonly summary: string;
  readonly namespace: string;
}

/** Window for variables. A rule is evaluated every minute, independent of the chart's step. */
const WINDOW_MS = 5 * MS_PER_MINUTE;

export function newAlert(query: string): AlertDraft {
  return {
    name: '',
    query: metricOf(query),
    operator: '>',
    threshold: '0',
    forMinutes: 0,
    severity: 'warning',
    summary: '',
    namespace: 'explorer',
  };
}

/** Metric query; a log query becomes the number of its lines in five minutes. */
export function metricOf(query: string): string {
  const filled = fillVariables(query.trim(), { rangeMs: MS_PER_DAY, stepMs: WINDOW_MS });
  if (filled === '' || !asksForLines(filled)) return filled;
  // A comment at the end of the query ends at the line break.
  return `sum(count_over_time(${filled}${filled.includes('#') ? '\n' : ' '}[5m]))`;
}

/** Returns the first problem of the form, or undefined if it is complete. */
export function faultOf({ name, query, threshold, namespace }: AlertDraft): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,99}$/.test(name))
    return 'Enter a name of letters, digits and _, such as ManyErrors.';
  if (query.trim() === '') return 'Enter a metric query.';
  if (asksForLines(query)) return 'Enter a metric query, such as sum(count_over_time({app="shop"} [5m])).';
  if (threshold.trim() === '' || Number.isNaN(Number(threshold))) return 'Enter a number as the threshold.';
  return namespace.trim() === '' ? 'Enter a namespace.' : undefined;
}

export function expressionOf({ query, operator, threshold }: AlertDraft): string {
  return `(\n${query.trim()}\n) ${operator} ${Number(threshold)}`;
}

/** Group of one rule as JSON, which is valid YAML. */
export function groupOf(draft: AlertDraft): string {
  const { name, forMinutes, severity, summary } = draft;
  return JSON.stringify({
    name,
    interval: '1m',
    rules: [
      {
        alert: name,
        expr: expressionOf(draft),
        ...(forMinutes > 0 ? { for: `${forMinutes}m` } : {}),
        labels: severity === '' ? {} : { severity },
        annotations: summary === '' ? {} : { summary },
      },
    ],
  });
}

interface Preview {
  /** Number of alerts that would have fired, each counted once regardless of duration. */
  readonly firings: number;
  /** Number of series that would have fired. */
  readonly series: number;
}

/** Preview on the samples of a chart; misses a condition that held only between two samples. */
export function previewOf(
  series: readonly Pick<MatrixSeries, 'values'>[],
  { operator, threshold, forMinutes }: Pick<AlertDraft, 'operator' | 'threshold' | 'forMinutes'>,
  stepMs: number,
): Preview {
  const limit = Number(threshold);
  const forSeconds = forMinutes * 60;
  let firings = 0;
  let found = 0;
  for (const { values } of series) {
    const before = firings;
    let since: number | undefined;
    let last = Number.NEGATIVE_INFINITY;
    let isFiring = false;
    for (const [at, text] of values) {
      // A missing sample resets a pending alert.
      const isGap = at - last > (stepMs / 1000) * 1.5;
      last = at;
      if (isGap || !holds(Number(text), operator, limit)) {
        since = undefined;
        isFiring = false;
      }
      if (!holds(Number(text), operator, limit)) continue;
      since ??= at;
      if (!isFiring && at - since >= forSeconds) {
        isFiring = true;
        firings++;
      }
    }
    if (firings > before) found++;
  }
  return { firings, series: found };
}

function holds(value: number, operator: Operator, limit: number): boolean {
  switch (operator) {
    case '>':
      return value > limit;
    case '>=':
      return value >= limit;
    case '<':
      return value < limit;
    case '<=':
      return value <= limit;
    case '==':
      return value === limit;
    case '!=':
      return value !== limit;
  }
}
