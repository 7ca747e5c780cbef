/** Rules and alerts of the tenant with their state (Prometheus API). */
import { fetchJson, fetchText } from './client.ts';
import { ApiError } from './errors.ts';
import type { ActiveAlert, RuleGroup } from './rules-types.ts';

export type {
  ActiveAlert,
  AlertingRule,
  AlertStateName,
  RecordingRule,
  Rule,
  RuleGroup,
  RuleHealth,
} from './rules-types.ts';

export async function fetchRules(signal?: AbortSignal): Promise<readonly RuleGroup[]> {
  const answer = await fetchJson<{ data: { groups: RuleGroup[] } }>('/compat/api/v1/rules', { signal });
  return answer.data.groups;
}

export async function fetchAlerts(signal?: AbortSignal): Promise<readonly ActiveAlert[]> {
  const answer = await fetchJson<{ data: { alerts: ActiveAlert[] } }>('/compat/api/v1/alerts', { signal });
  return answer.data.alerts;
}

/** Rejects if the group exists, because storing a group replaces it. `group` is YAML or JSON. */
export async function createRuleGroup(namespace: string, name: string, group: string): Promise<void> {
  const path = `/svc/api/v1/rules/${encodeURIComponent(namespace)}`;
  try {
    await fetchText(`${path}/${encodeURIComponent(name)}`);
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    await fetchText(path, { method: 'POST', body: group, headers: { 'Content-Type': 'application/yaml' } });
    return;
  }
  throw new ApiError(`rule group ${namespace}/${name} already exists; choose another name`, 0);
}
