/** Usage of a tenant by UTC day of arrival, and its cost. */
import { fetchJson } from './client.ts';
import { type MsRange, nsOf } from './queries.ts';
import type { Usage } from './usage-types.ts';

export type { Usage, UsageDay } from './usage-types.ts';

/** @param tenant tenant other than the current one */
export async function fetchUsage(
  { fromMs, toMs }: MsRange,
  { tenant, signal }: { readonly tenant?: string; readonly signal?: AbortSignal } = {},
): Promise<Usage> {
  const answer = await fetchJson<{ data: Usage }>('/svc/api/v1/usage', {
    params: { start: nsOf(fromMs), end: nsOf(toMs) },
    headers: tenant === undefined ? {} : { 'X-Scope-OrgID': tenant },
    signal,
  });
  return answer.data;
}
