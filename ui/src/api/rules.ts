/** Rules and alerts of the tenant with their state (Prometheus API). */
import { ask, askJson } from './client.ts';
import { ApiError } from './errors.ts';
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

/** Rejects if the group exists, because storing a group replaces it. `group` is YAML or JSON. */
export async function createRuleGroup(namespace: string, name: string, group: string): Promise<void> {
  const path = `/svc/api/v1/rules/${encodeURIComponent(namespace)}`;
  try {
    await ask(`${path}/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    await ask(path, { method: 'POST', body: group, headers: { 'Content-Type': 'application/yaml' } });
    return;
  }
  throw new ApiError(`rule group ${namespace}/${name} already exists; choose another name`, 0);
}
