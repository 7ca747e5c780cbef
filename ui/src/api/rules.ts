/** Rules and alerts of the tenant, with what they are doing (the metrics system's API). */
import { askJson } from './client.ts';
import type { ActiveAlert, RuleGroup } from './rules-types.ts';

export type {
  ActiveAlert,
  AlertingRule,
  AlertState,
  RecordingRule,
  Rule,
  RuleGroup,
  RuleHealth,
} from './rules-types.ts';

export async function askRules(signal?: AbortSignal): Promise<readonly RuleGroup[]> {
  const answer = await askJson<{ data: { groups: RuleGroup[] } }>('/compat/api/v1/rules', { signal });
  return answer.data.groups;
}

export async function askAlerts(signal?: AbortSignal): Promise<readonly ActiveAlert[]> {
  const answer = await askJson<{ data: { alerts: ActiveAlert[] } }>('/compat/api/v1/alerts', { signal });
  return answer.data.alerts;
}
