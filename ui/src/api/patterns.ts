/** What kinds of lines a selector has, and when. */
import { askJson } from './client.ts';
import { nsOf, type Range } from './queries.ts';
import type { Pattern } from './types.ts';

export interface PatternAsk extends Range {
  /** A selector. */
  readonly query: string;
  readonly stepMs: number;
}

/** At most 300, those of most lines. */
export async function askPatterns(asked: PatternAsk, signal?: AbortSignal): Promise<readonly Pattern[]> {
  const { query, fromMs, toMs, stepMs } = asked;
  const params = { query, start: nsOf(fromMs), end: nsOf(toMs), step: stepMs / 1000 };
  return (await askJson<{ data?: Pattern[] }>('/svc/api/v1/patterns', { params, signal })).data ?? [];
}
