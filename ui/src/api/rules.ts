/** Rules and alerts of the tenant, with what they are doing (the metrics system's API). */
import { askJson } from './client.ts';
import type { Labels } from './types.ts';

export type RuleHealth = 'ok' | 'err' | 'unknown';
export type AlertState = 'firing' | 'pending' | 'inactive' | 'unknown';

export interface ActiveAlert {
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly state: 'firing' | 'pending';
  /** RFC 3339. */
  readonly activeAt: string;
  /** A number as Go writes it with an exponent. */
  readonly value: string;
}

interface CommonRule {
  readonly name: string;
  readonly query: string;
  readonly labels: Labels;
  readonly health: RuleHealth;
  readonly lastError: string;
  readonly lastEvaluation: string;
  /** Seconds. */
  readonly evaluationTime: number;
}

export interface AlertingRule extends CommonRule {
  readonly type: 'alerting';
  readonly state: AlertState;
  /** Seconds; `for` of the rule. */
  readonly duration: number;
  readonly keepFiringFor: number;
  readonly annotations: Labels;
  readonly alerts: readonly ActiveAlert[];
}

export interface RecordingRule extends CommonRule {
  readonly type: 'recording';
}

export type Rule = AlertingRule | RecordingRule;

export interface RuleGroup {
  readonly name: string;
  /** The namespace. */
  readonly file: string;
  readonly rules: readonly Rule[];
  /** Seconds. */
  readonly interval: number;
  readonly lastEvaluation: string;
  readonly evaluationTime: number;
}

export async function askRules(signal?: AbortSignal): Promise<readonly RuleGroup[]> {
  const answer = await askJson<{ data: { groups: RuleGroup[] } }>('/compat/api/v1/rules', { signal });
  return answer.data.groups;
}

export async function askAlerts(signal?: AbortSignal): Promise<readonly ActiveAlert[]> {
  const answer = await askJson<{ data: { alerts: ActiveAlert[] } }>('/compat/api/v1/alerts', { signal });
  return answer.data.alerts;
}
