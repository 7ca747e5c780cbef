/** Patterns of the lines of a selector over time. */
import { fetchJson } from './client.ts';
import { type MsRange, nsOf } from './queries.ts';
import type { Pattern } from './types.ts';

interface PatternsRequest extends MsRange {
  /** Stream selector. */
  readonly query: string;
  readonly stepMs: number;
}

/** Up to 300 patterns, most lines first. */
export async function fetchPatterns(
  asked: PatternsRequest,
  signal?: AbortSignal,
): Promise<readonly Pattern[]> {
  const { query, fromMs, toMs, stepMs } = asked;
  const params = { query, start: nsOf(fromMs), end: nsOf(toMs), step: stepMs / 1000 };
  return (await fetchJson<{ data?: Pattern[] }>('/svc/api/v1/patterns', { params, signal })).data ?? [];
}
