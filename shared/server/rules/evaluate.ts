/**
 * Evaluates one instant of a group: runs the queries of its rules, and returns the next record with new
 * states and with the samples to write. It sends and stores nothing.
 *
 * Pitfall: a rule that fails keeps its alerts and its series unchanged. Its health shows the failure, and
 * notification targets expire its alerts after a while, as in Prometheus.
 */

import { ClientError, messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import {
  type AlertState,
  type GroupState,
  type Rule,
  type RuleState,
  ruleKey,
  type StoredGroup,
} from '../../storage/catalog/rule-group.ts';
import type {
  GroupRecord,
  PendingSamples,
  RuleLabels,
  RuleSample,
} from '../../storage/catalog/rule-state.ts';
import { alertSamples, evaluateAlerting, OverLimitError } from './alerting.ts';
import { oldKeys } from './carry-over.ts';
import { evaluateRecording } from './recording.ts';
import { type OutageRules, restoreAlerts } from './restore.ts';
import type { ResultSample, RuleQuery } from './rule-query.ts';
import { ruleLabelsKey } from './series-labels.ts';
import type { TemplateRunner } from './template/run-template.ts';

export interface EvaluationParts {
  readonly query: RuleQuery;
  readonly templates: TemplateRunner;
  readonly clock: Clock;
  readonly outage: OutageRules;
}

interface EvaluationInstant {
  readonly timeNs: bigint;
  /** True if earlier instants were missed, so that pending alerts must be judged again. */
  readonly afterOutage: boolean;
  /** Endpoints for samples. Without endpoints, no samples are kept. */
  readonly receivers: readonly string[];
  /** True if alerts are sent to a target. Then resolved ones stay until they were sent. */
  readonly notifies: boolean;
  readonly signal: AbortSignal;
}

/** Waits before retrying a query after a temporary error, ms. */
const RETRY_WAITS_MS = [200, 1000];
const MAX_ERROR_LENGTH = 1000;

/**
 * Maximum pending samples of a group, so that an outage of an endpoint does not grow the state without limit.
 */
export const MAX_PENDING_SAMPLES = 50_000;

interface RuleOutcome {
  readonly state: RuleState;
  readonly series: readonly RuleLabels[];
  readonly samples: readonly RuleSample[];
}

/** Rejects only if the signal aborts. */
export async function evaluateInstant(
  parts: EvaluationParts,
  { tenant, group }: StoredGroup,
  before: GroupRecord,
  instant: EvaluationInstant,
): Promise<GroupRecord> {
  const { timeNs, receivers, signal } = instant;
  const { clock } = parts;
  const startedMs = clock.nowMs();
  const known = oldKeys(
    group.rules,
    new Set([...Object.keys(before.state.rules), ...Object.keys(before.series)]),
  );
  const rules: Record<string, RuleState> = {};
  const series: Record<string, readonly RuleLabels[]> = {};
  const samples: RuleSample[] = [];
  const used = new Set<string>();
  for (const [index, rule] of group.rules.entries()) {
    signal.throwIfAborted();
    const oldKey = known[index];
    if (oldKey !== undefined) used.add(oldKey);
    const old = {
      state: oldKey === undefined ? undefined : before.state.rules[oldKey],
      series: (oldKey === undefined ? undefined : before.series[oldKey]) ?? [],
      lastNs: BigInt(before.state.lastEvaluationNs),
    };
    const outcome = await evaluateRule(parts, { tenant, group, rule, old }, instant);
    const key = ruleKey(rule, index);
    rules[key] = outcome.state;
    if (receivers.length === 0) continue;
    series[key] = outcome.series;
    samples.push(...outcome.samples);
  }
  if (receivers.length > 0) {
    const gone = Object.entries(before.series).flatMap(([key, labels]) => (used.has(key) ? [] : labels));
    samples.push(...withoutCurrent(gone, samples));
  }
  const state: GroupState = {
    lastEvaluationNs: String(timeNs),
    evaluationSeconds: (clock.nowMs() - startedMs) / 1000,
    rules,
  };
  const record = { ...before, state, series };
  const sampleNs = timeNs - group.queryOffsetNs;
  return withPending(record, { timeNs: String(sampleNs), to: receivers, samples });
}

interface RuleTask {
  readonly tenant: string;
  readonly group: StoredGroup['group'];
  readonly rule: Rule;
  readonly old: {
    readonly state: RuleState | undefined;
    readonly series: readonly RuleLabels[];
    readonly lastNs: bigint;
  };
}

async function evaluateRule(
  parts: EvaluationParts,
  task: RuleTask,
  instant: EvaluationInstant,
): Promise<RuleOutcome> {
  const { clock } = parts;
  const { rule, group, tenant, old } = task;
  const startedMs = clock.nowMs();
  const stateOf = (alerts: readonly AlertState[], error: unknown): RuleState => ({
    health: error === undefined ? 'ok' : 'err',
    lastError: error === undefined ? '' : messageOf(error).slice(0, MAX_ERROR_LENGTH),
    lastEvaluationNs: String(instant.timeNs),
    evaluationSeconds: (clock.nowMs() - startedMs) / 1000,
    alerts,
  });
  const before = alertsBefore(parts, task, instant);
  try {
    const found = await queryWithRetries(
      parts,
      tenant,
      rule.expr,
      instant.timeNs - group.queryOffsetNs,
      instant.signal,
    );
    if (rule.kind === 'recording') {
      const samples = evaluateRecording(rule, found, group.limit);
      return { state: stateOf([], undefined), ...withEnds(samples, old.series) };
    }
    const { templates } = parts;
    const { timeNs, notifies } = instant;
    const { limit } = group;
    const alerts = evaluateAlerting({ rule, timeNs, found, before, limit, templates, notifies });
    return { state: stateOf(alerts, undefined), ...withEnds(alertSamples(alerts), old.series) };
  } catch (error) {
    instant.signal.throwIfAborted();
    if (error instanceof OverLimitError) return { state: stateOf([], error), ...withEnds([], old.series) };
    return { state: stateOf(before, error), series: old.series, samples: [] };
  }
}

function alertsBefore(
  { outage }: EvaluationParts,
  { rule, old }: RuleTask,
  instant: EvaluationInstant,
): readonly AlertState[] {
  const alerts = old.state?.alerts ?? [];
  if (rule.kind === 'recording') return [];
  if (!instant.afterOutage) return alerts;
  return restoreAlerts(rule, alerts, { lastNs: old.lastNs, timeNs: instant.timeNs }, outage);
}

/** Throws client errors immediately, and retries other errors. */
async function queryWithRetries(
  { query, clock }: EvaluationParts,
  tenant: string,
  expr: string,
  timeNs: bigint,
  signal: AbortSignal,
): Promise<readonly ResultSample[]> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await query(tenant, expr, timeNs, signal);
    } catch (error) {
      const isLast = attempt === RETRY_WAITS_MS.length;
      if (signal.aborted || isLast || (error instanceof ClientError && error.status < 500)) throw error;
      await clock.sleep(RETRY_WAITS_MS[attempt], signal);
    }
  }
}

/** Adds an end marker for each previous series without a sample. */
function withEnds(samples: readonly RuleSample[], before: readonly RuleLabels[]) {
  return {
    series: samples.map(({ labels }) => labels),
    samples: [...samples, ...withoutCurrent(before, samples)],
  };
}

function withoutCurrent(series: readonly RuleLabels[], current: readonly RuleSample[]): RuleSample[] {
  if (series.length === 0) return [];
  const keys = new Set(current.map(({ labels }) => ruleLabelsKey(labels)));
  return series
    .filter(labels => !keys.has(ruleLabelsKey(labels)))
    .map(labels => ({ labels, value: 'stale' }));
}

/** Drops the oldest samples above the limit. */
function withPending(record: GroupRecord, added: PendingSamples): GroupRecord {
  if (added.to.length === 0 || added.samples.length === 0) return record;
  const pending = [...record.pending, added];
  let waiting = pending.reduce((sum, { samples }) => sum + samples.length, 0);
  let { droppedSamples } = record;
  while (pending.length > 1 && waiting > MAX_PENDING_SAMPLES) {
    const { samples, to } = pending.shift() as PendingSamples;
    waiting -= samples.length;
    droppedSamples += samples.length * to.length;
  }
  return { ...record, pending, droppedSamples };
}
