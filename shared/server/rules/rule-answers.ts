/**
 * Formats groups with the state of their rules as the Prometheus API does (docs/dev/wire-format.md#rules and
 * 6.5).
 */

import { formatRfc3339Nano } from '../../base/model/rfc3339.ts';
import { NS_PER_SECOND } from '../../base/model/time-units.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import { formatExpr } from '../../language/logql/printer.ts';
import {
  type AlertState,
  type GroupState,
  type Rule,
  type RuleState,
  ruleKey,
  type StoredGroup,
} from '../../storage/catalog/rule-group.ts';

/** Go's format of the zero time. */
const NEVER = '0001-01-01T00:00:00Z';

const NOT_EVALUATED: RuleState = {
  health: 'unknown',
  lastError: '',
  lastEvaluationNs: '0',
  evaluationSeconds: 0,
  alerts: [],
};

export interface RuleFilter {
  /** `undefined` includes both. */
  readonly kind: Rule['kind'] | undefined;
  /** Empty lists include all. */
  readonly files: readonly string[];
  readonly groups: readonly string[];
  readonly names: readonly string[];
}

/** `undefined` if no rule of the group is requested. */
export function groupAnswer(
  { namespace, group }: StoredGroup,
  state: GroupState | undefined,
  filter: RuleFilter,
  evaluationIntervalNs: bigint,
): object | undefined {
  if (!admits(filter.files, namespace) || !admits(filter.groups, group.name)) return undefined;
  const rules = group.rules.flatMap((rule, index) => {
    if (filter.kind !== undefined && rule.kind !== filter.kind) return [];
    if (!admits(filter.names, nameOf(rule))) return [];
    return [ruleAnswer(rule, state?.rules[ruleKey(rule, index)] ?? NOT_EVALUATED)];
  });
  if (rules.length === 0) return undefined;
  return {
    name: group.name,
    file: namespace,
    rules,
    interval: secondsOf(group.intervalNs > 0n ? group.intervalNs : evaluationIntervalNs),
    limit: group.limit,
    lastEvaluation: timeText(state?.lastEvaluationNs ?? '0'),
    evaluationTime: state?.evaluationSeconds ?? 0,
  };
}

/** Pending and firing alerts of a group. */
export function activeAlerts({ group }: StoredGroup, state: GroupState | undefined): object[] {
  return group.rules.flatMap((rule, index) => {
    const alerts = state?.rules[ruleKey(rule, index)]?.alerts ?? [];
    return alerts.filter(isActive).map(alertAnswer);
  });
}

function ruleAnswer(rule: Rule, state: RuleState): object {
  const health = {
    health: state.health,
    lastError: state.lastError,
    lastEvaluation: timeText(state.lastEvaluationNs),
    evaluationTime: state.evaluationSeconds,
  };
  const query = formatExpr(parseQuery(rule.expr));
  if (rule.kind === 'recording') {
    return { name: rule.record, query, labels: rule.labels, ...health, type: 'recording' };
  }
  const alerts = state.alerts.filter(isActive);
  return {
    state: stateOf(state, alerts),
    name: rule.alert,
    query,
    duration: secondsOf(rule.forNs),
    keepFiringFor: secondsOf(rule.keepFiringForNs),
    labels: rule.labels,
    annotations: rule.annotations,
    alerts: alerts.map(alertAnswer),
    ...health,
    type: 'alerting',
  };
}

function stateOf({ health }: RuleState, alerts: readonly AlertState[]): string {
  if (health === 'unknown') return 'unknown';
  if (alerts.some(({ state }) => state === 'firing')) return 'firing';
  return alerts.length > 0 ? 'pending' : 'inactive';
}

function alertAnswer({ labels, annotations, state, activeAtNs, value }: AlertState): object {
  return { labels, annotations, state, activeAt: timeText(activeAtNs), value: exponentText(value) };
}

function isActive({ state }: AlertState): boolean {
  return state !== 'resolved';
}

function nameOf(rule: Rule): string {
  return rule.kind === 'recording' ? rule.record : rule.alert;
}

function admits(wanted: readonly string[], name: string): boolean {
  return wanted.length === 0 || wanted.includes(name);
}

function secondsOf(ns: bigint): number {
  return Number(ns) / Number(NS_PER_SECOND);
}

/** @param ns Unix time; 0 is never */
function timeText(ns: string): string {
  const time = BigInt(ns);
  return time === 0n ? NEVER : formatRfc3339Nano(time);
}

/** Go's `'e', -1` format: the shortest digits, and an exponent of at least two digits. */
function exponentText(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  const sign = Object.is(value, -0) ? '-' : '';
  return sign + value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
}
