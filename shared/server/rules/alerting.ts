/**
 * Evaluates one instant of an alerting rule: the previous alerts and the query result give the new alerts.
 *
 *     found ----> pending --- for ---> firing --- gone, keep_firing_for ---> resolved --- 15 min ---> forgotten
 *                    +------- gone ------> forgotten immediately
 *
 * The function is pure: the same state, result and instant have the same outcome, so an instant can be
 * evaluated again.
 */
import { NS_PER_HOUR, NS_PER_MINUTE, NS_PER_SECOND } from '../../base/model/time-units.ts';
import type { AlertingRule, AlertState } from '../../storage/catalog/rule-group.ts';
import type { RuleLabels, RuleSample } from '../../storage/catalog/rule-state.ts';
import type { ResultSample } from './rule-query.ts';
import { joinLabels, NAME_LABEL, ruleLabelsKey } from './series-labels.ts';
import type { TemplateRunner } from './template/run-template.ts';

const ALERT_LABEL = 'alertname';
const STATE_LABEL = 'alertstate';
/** Resolved alerts stay this long, so that a target that was down learns of the end. */
const RESOLVED_RETENTION_NS = 15n * NS_PER_MINUTE;
/**
 * Resolved alerts without a notification stay this long: longer than most outages of targets, which then
 * expire alerts themselves.
 */
const UNSENT_RETENTION_NS = 4n * NS_PER_HOUR;
/**
 * Maximum alerts per rule, unless its group sets a lower limit. Each is a record, a series and a
 * notification.
 */
export const MAX_ALERTS = 10_000;
/** UTF-16 units of labels and annotations of all alerts of a rule, which are stored and sent. */
const MAX_ALERT_TEXT = 8 * 1024 * 1024;

export const DUPLICATE_ALERTS = 'vector contains metrics with the same labelset after applying alert labels';

interface AlertingInput {
  readonly rule: AlertingRule;
  /** Instant of the evaluation. */
  readonly timeNs: bigint;
  readonly found: readonly ResultSample[];
  readonly before: readonly AlertState[];
  /** Limit of the group; 0 is unlimited. */
  readonly limit: number;
  readonly templates: TemplateRunner;
  /** True if a target is configured. Then a resolved alert stays longer, until its notification is sent. */
  readonly notifies: boolean;
}

/** Throws if the rule cannot be evaluated. The previous alerts then stay, except after `OverLimitError`. */
export function evaluateAlerting(input: AlertingInput): AlertState[] {
  const { before, timeNs, limit } = input;
  const found = foundAlerts(input);
  const after: AlertState[] = [];
  const seen = new Set<string>();
  for (const alert of before) {
    const key = ruleLabelsKey(alert.labels);
    const now = found.get(key);
    if (alert.state === 'resolved') {
      // A recurring alert is a new one. The previous one stays until its end was sent.
      if (isKept(alert, now !== undefined, input)) after.push(alert);
      continue;
    }
    seen.add(key);
    const next = now === undefined ? withoutResult(alert, input) : withResult(alert, now, input);
    if (next !== undefined) after.push(next);
  }
  for (const [key, now] of found) {
    if (!seen.has(key)) after.push(withResult(newAlert(now, timeNs), now, input));
  }
  const active = after.filter(({ state }) => state !== 'resolved').length;
  const most = limit > 0 ? Math.min(limit, MAX_ALERTS) : MAX_ALERTS;
  if (active > most) throw new OverLimitError(`exceeded limit of ${most} with ${active} alerts`);
  return withoutOldest(after);
}

/** Limits resolved alerts separately, because labels that never recur would accumulate. */
function withoutOldest(alerts: AlertState[]): AlertState[] {
  const over = alerts.filter(({ state }) => state === 'resolved');
  if (over.length <= MAX_ALERTS) return alerts;
  over.sort((a, b) => Number(BigInt(a.resolvedAtNs) - BigInt(b.resolvedAtNs)));
  const dropped = new Set(over.slice(0, over.length - MAX_ALERTS));
  return alerts.filter(alert => !dropped.has(alert));
}

/** The rule then has no active alerts, as in Prometheus. */
export class OverLimitError extends Error {}

interface FoundAlert {
  readonly labels: RuleLabels;
  readonly annotations: RuleLabels;
  readonly value: number;
}

function foundAlerts({ rule, found, templates }: AlertingInput): Map<string, FoundAlert> {
  const alerts = new Map<string, FoundAlert>();
  let text = 0;
  for (const { labels, value } of found) {
    const expand = (texts: RuleLabels) =>
      Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, templates.run(text, { labels, value })]),
      );
    const own = joinLabels(labels, { [NAME_LABEL]: '' }, expand(rule.labels), { [ALERT_LABEL]: rule.alert });
    const key = ruleLabelsKey(own);
    if (alerts.has(key)) throw new Error(DUPLICATE_ALERTS);
    const annotations = expand(rule.annotations);
    text += key.length + Object.values(annotations).reduce((sum, { length }) => sum + length, 0);
    if (text > MAX_ALERT_TEXT)
      throw new Error(`labels and annotations of the alerts exceed ${MAX_ALERT_TEXT} characters`);
    alerts.set(key, { labels: own, annotations, value });
  }
  return alerts;
}

function newAlert({ labels, annotations, value }: FoundAlert, timeNs: bigint): AlertState {
  return {
    labels,
    annotations,
    value,
    state: 'pending',
    activeAtNs: String(timeNs),
    firedAtNs: '0',
    resolvedAtNs: '0',
    keepFiringSinceNs: '0',
    lastSentNs: '0',
  };
}

function withResult(
  alert: AlertState,
  { annotations, value }: FoundAlert,
  { rule, timeNs }: AlertingInput,
): AlertState {
  const now = { ...alert, annotations, value, keepFiringSinceNs: '0' };
  const isDue = alert.state === 'pending' && timeNs - BigInt(alert.activeAtNs) >= rule.forNs;
  return isDue ? fired(now, timeNs) : now;
}

function fired(alert: AlertState, timeNs: bigint): AlertState {
  return { ...alert, state: 'firing', firedAtNs: String(timeNs) };
}

function isKept(
  { lastSentNs, resolvedAtNs }: AlertState,
  isThereAgain: boolean,
  { timeNs, notifies }: AlertingInput,
): boolean {
  const since = timeNs - BigInt(resolvedAtNs);
  const isSent = !notifies || BigInt(lastSentNs) >= BigInt(resolvedAtNs);
  return isSent ? !isThereAgain && since <= RESOLVED_RETENTION_NS : since <= UNSENT_RETENTION_NS;
}

/** `undefined` if the alert is forgotten. */
function withoutResult(alert: AlertState, { rule, timeNs }: AlertingInput): AlertState | undefined {
  if (alert.state === 'pending') return undefined;
  if (rule.keepFiringForNs > 0n) {
    const since = alert.keepFiringSinceNs === '0' ? timeNs : BigInt(alert.keepFiringSinceNs);
    if (timeNs - since < rule.keepFiringForNs) return { ...alert, keepFiringSinceNs: String(since) };
  }
  return { ...alert, state: 'resolved', resolvedAtNs: String(timeNs), keepFiringSinceNs: '0' };
}

/** Series that represent alerts for a metrics store. */
export function alertSamples(alerts: readonly AlertState[]): RuleSample[] {
  return alerts.flatMap(({ state, labels, activeAtNs }) => {
    if (state === 'resolved') return [];
    const seconds = Number(BigInt(activeAtNs) / NS_PER_SECOND);
    return [
      { labels: { ...labels, [NAME_LABEL]: 'ALERTS', [STATE_LABEL]: state }, value: 1 },
      { labels: { ...labels, [NAME_LABEL]: 'ALERTS_FOR_STATE' }, value: seconds },
    ];
  });
}
