/** A query that is asked for what it costs: the answer tells what was looked at, passed over and why, and read. */
import { askJson } from './client.ts';
import { nsOf, type Range } from './queries.ts';
import type { Explained, Statistics } from './types.ts';

export interface ExplainedAnswer {
  readonly resultType: string;
  /** Undefined where the store tells nothing. */
  readonly explain?: Explained;
  readonly stats: {
    readonly summary: Statistics['summary'] & { readonly totalPostFilterLines?: number };
    readonly store?: { readonly totalDuplicates?: number };
    readonly index?: { readonly totalStreams?: number };
  };
}

export interface ExplainAsk extends Range {
  readonly query: string;
  /** Of a query that computes values. */
  readonly stepMs: number;
  /** Of a query for lines; the newest ones. */
  readonly limit: number;
}

export async function askExplained(asked: ExplainAsk, signal?: AbortSignal): Promise<ExplainedAnswer> {
  const { query, fromMs, toMs, stepMs, limit } = asked;
  const range = { start: nsOf(fromMs), end: nsOf(toMs) };
  const params = { query, ...range, step: stepMs / 1000, limit, direction: 'backward', explain: 'true' };
  return (await askJson<{ data: ExplainedAnswer }>('/svc/api/v1/query_range', { params, signal })).data;
}

/** The query as the store writes it. */
export async function askFormatted(query: string, signal?: AbortSignal): Promise<string> {
  return (await askJson<{ data: string }>('/svc/api/v1/format_query', { params: { query }, signal })).data;
}
