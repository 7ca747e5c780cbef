/** Explained queries: the response describes the data considered, pruned (with the reason), and read. */
import { fetchJson } from './client.ts';
import { type MsRange, nsOf } from './queries.ts';
import type { Explained, Statistics } from './types.ts';

export interface ExplainedAnswer {
  readonly resultType: string;
  /** Explanation; undefined if the store returns none. */
  readonly explain?: Explained;
  readonly stats: {
    readonly summary: Statistics['summary'] & { readonly totalPostFilterLines?: number };
    readonly store?: { readonly totalDuplicates?: number };
    readonly index?: { readonly totalStreams?: number };
  };
}

interface ExplainRequest extends MsRange {
  readonly query: string;
  /** Step of a metric query. */
  readonly stepMs: number;
  /** Maximum number of entries of a log query, newest first. */
  readonly limit: number;
}

export async function fetchExplained(asked: ExplainRequest, signal?: AbortSignal): Promise<ExplainedAnswer> {
  const { query, fromMs, toMs, stepMs, limit } = asked;
  const range = { start: nsOf(fromMs), end: nsOf(toMs) };
  const params = { query, ...range, step: stepMs / 1000, limit, direction: 'backward', explain: 'true' };
  return (await fetchJson<{ data: ExplainedAnswer }>('/svc/api/v1/query_range', { params, signal })).data;
}

/** The query in the canonical format of the store. */
export async function fetchFormatted(query: string, signal?: AbortSignal): Promise<string> {
  return (await fetchJson<{ data: string }>('/svc/api/v1/format_query', { params: { query }, signal })).data;
}
