/**
 * One instant of an alerting rule: what was active before and what the query found give what is active now.
 *
 *     found ----> pending --- for ---> firing --- gone, keep_firing_for ---> resolved --- 15 min ---> forgotten
 *                    +------- gone ------> forgotten at once
 *
 * Pure: the same state, result and instant always give the same, so an instant that is evaluated again is the same one.
 */
import type { AlertingRule, AlertState } from '../../storage/catalog/rule-group.ts';
import type { RuleSample, SeriesLabels } from '../../storage/catalog/rule-state.ts';
import type { ResultSample } from './rule-query.ts';
import { joinLabels, labelsKey, NAME_LABEL } from './series-labels.ts';
import type { TemplateRunner } from './template/run-template.ts';

const ALERT_LABEL = 'alertname';
const STATE_LABEL = 'alertstate';
/** Receivers that were away learn of the end when they are back. */
export const RESOLVED_KEPT_NS = 15n * 60_000_000_000n;
/** Resolved and not told to anybody: longer than most outages of receivers, which forget alerts by themselves. */
export const UNSENT_KEPT_NS = 4n * 60n * 60_000_000_000n;
/** Alerts of one rule at most, where its group names no smaller limit: each is a record, a series and a notification. */
export const MAX_ALERTS = 10_000;
/** UTF-16 units of labels and annotations of the alerts of one rule: all of it is kept, and sent. */
export const MAX_ALERT_TEXT = 8 * 1024 * 1024;

export const DUPLICATE_ALERTS = 'vector contains metrics with the same labelset after applying alert labels';

export interface AlertingInput {
  readonly rule: AlertingRule;
  /** Instant of the evaluation. */
  readonly timeNs: bigint;
  readonly found: readonly ResultSample[];
  readonly before: readonly AlertState[];
  /** Of the group; 0 is none. */
  readonly limit: number;
  readonly templates: TemplateRunner;
  /** Somebody is told: an alert that is over stays longer until they were. */
  readonly tells: boolean;
}

/** Throws where the rule cannot be evaluated; what was active stays as it is then, but for `OverLimitError`. */
export function evaluateAlerting(input: AlertingInput): AlertState[] {
  const { before, timeNs, limit } = input;
  const found = foundAlerts(input);
  const after: AlertState[] = [];
  const seen = new Set<string>();
  for (const alert of before) {
    const key = labelsKey(alert.labels);
    const now = found.get(key);
    if (alert.state === 'resolved') {
      // What is there again is another alert; the one before stays until its end was told.
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

/** Those that are over have a bound of their own: labels that never come again would gather. */
function withoutOldest(alerts: AlertState[]): AlertState[] {
  const over = alerts.filter(({ state }) => state === 'resolved');
  if (over.length <= MAX_ALERTS) return alerts;
  over.sort((a, b) => Number(BigInt(a.resolvedAtNs) - BigInt(b.resolvedAtNs)));
  const dropped = new Set(over.slice(0, over.length - MAX_ALERTS));
  return alerts.filter(alert => !dropped.has(alert));
}

/** As in the metrics system nothing of the rule is active then. */
export class OverLimitError extends Error {}

interface FoundAlert {
  readonly labels: SeriesLabels;
  readonly annotations: SeriesLabels;
  readonly value: number;
}

function foundAlerts({ rule, found, templates }: AlertingInput): Map<string, FoundAlert> {
  const alerts = new Map<string, FoundAlert>();
  let text = 0;
  for (const { labels, value } of found) {
    const expand = (texts: SeriesLabels) =>
      Object.fromEntries(
        Object.entries(texts).map(([name, text]) => [name, templates.run(text, { labels, value })]),
      );
    const own = joinLabels(labels, { [NAME_LABEL]: '' }, expand(rule.labels), { [ALERT_LABEL]: rule.alert });
    const key = labelsKey(own);
    if (alerts.has(key)) throw new Error(DUPLICATE_ALERTS);
    const annotations = expand(rule.annotations);
    text += key.length + Object.values(annotations).reduce((sum, { length }) => sum + length, 0);
    if (text > MAX_ALERT_TEXT)
      throw new Error(`labels and annotations of the alerts take more than ${MAX_ALERT_TEXT} characters`);
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
  { timeNs, tells }: AlertingInput,
): boolean {
  const since = timeNs - BigInt(resolvedAtNs);
  const isTold = !tells || BigInt(lastSentNs) >= BigInt(resolvedAtNs);
  return isTold ? !isThereAgain && since <= RESOLVED_KEPT_NS : since <= UNSENT_KEPT_NS;
}

/** Undefined where it is forgotten. */
function withoutResult(alert: AlertState, { rule, timeNs }: AlertingInput): AlertState | undefined {
  if (alert.state === 'pending') return undefined;
  if (rule.keepFiringForNs > 0n) {
    const since = alert.keepFiringSinceNs === '0' ? timeNs : BigInt(alert.keepFiringSinceNs);
    if (timeNs - since < rule.keepFiringForNs) return { ...alert, keepFiringSinceNs: String(since) };
  }
  return { ...alert, state: 'resolved', resolvedAtNs: String(timeNs), keepFiringSinceNs: '0' };
}

/** The series that show alerts to whoever keeps metrics. */
export function alertSamples(alerts: readonly AlertState[]): RuleSample[] {
  return alerts.flatMap(({ state, labels, activeAtNs }) => {
    if (state === 'resolved') return [];
    const seconds = Number(BigInt(activeAtNs) / 1_000_000_000n);
    return [
      { labels: { ...labels, [NAME_LABEL]: 'ALERTS', [STATE_LABEL]: state }, value: 1 },
      { labels: { ...labels, [NAME_LABEL]: 'ALERTS_FOR_STATE' }, value: seconds },
    ];
  });
}
