/** What a tenant used, by UTC day of arrival, and what that costs. */
import { askJson } from './client.ts';
import { nsOf, type Range } from './queries.ts';

export interface UsageDay {
  /** `2026-11-21` */
  readonly day: string;
  readonly pushes: number;
  readonly lines: number;
  readonly bytes: number;
  readonly structured_metadata_bytes: number;
  readonly streams: number;
  /** By reason. */
  readonly refused: Readonly<Record<string, { readonly lines: number; readonly bytes: number }>>;
  readonly queries: number;
  readonly query_bytes: number;
  readonly query_seconds: number;
  readonly stored_bytes: number;
  readonly cost: {
    readonly ingest: number;
    readonly storage: number;
    readonly queries: number;
    readonly total: number;
  };
}

export interface Usage {
  readonly tenant: string;
  readonly currency: string;
  /** False: stored bytes are more than these; asking again goes on counting. */
  readonly stored_bytes_complete: boolean;
  readonly days: readonly UsageDay[];
}

/** @param tenant another than that of the page */
export async function askUsage(
  { fromMs, toMs }: Range,
  { tenant, signal }: { readonly tenant?: string; readonly signal?: AbortSignal } = {},
): Promise<Usage> {
  const answer = await askJson<{ data: Usage }>('/svc/api/v1/usage', {
    params: { start: nsOf(fromMs), end: nsOf(toMs) },
    headers: tenant === undefined ? {} : { 'X-Scope-OrgID': tenant },
    signal,
  });
  return answer.data;
}
