/**
 * Queries of a tenant's tails, each compiled once. Tails with equal queries and forms share its work and its
 * entries.
 */

import { BadRequestError } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { compileLogPipeline, type LogPipeline } from '../../execution/pipeline/pipeline.ts';
import { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { FrameForm, Subscription } from '../../storage/catalog/subscriptions.ts';
import { compileSelector, type StreamSelector } from '../query/selector.ts';
import type { EntryForm } from './tail-entry.ts';

export interface TailQuery {
  readonly key: string;
  readonly expr: LogExpr;
  readonly form: EntryForm;
  readonly selector: StreamSelector;
  readonly pipeline: LogPipeline;
  readonly timeSlice: TimeSlice;
}

/**
 * Maximum time slice within a page. Tail clients do not notice 2 ms, but a push may wait for a time slice in
 * each of its rounds.
 */
const MAX_SLICE_MS = 2;
const CATEGORIZE_FLAG = 'categorize-labels';
export const ONLY_LOGS = 'only log selector is supported';

export function entryFormOf(form: FrameForm, flags: readonly string[]): EntryForm {
  if (form === 'legacy') return 'legacy';
  return flags.includes(CATEGORIZE_FLAG) ? 'categorized' : 'plain';
}

export function keyOfQuery({ query, form, flags }: Pick<Subscription, 'query' | 'form' | 'flags'>): string {
  return `${entryFormOf(form, flags)} ${query}`;
}

/** Throws ParseError. Throws BadRequestError if it is not a log query or a stage is invalid. */
export function compileTailQuery(
  subscription: Pick<Subscription, 'query' | 'form' | 'flags'>,
  clock: Clock,
): TailQuery {
  const expr = parseQuery(subscription.query);
  if (expr.kind !== 'log') throw new BadRequestError(ONLY_LOGS);
  const timeSlice = new TimeSlice(undefined, MAX_SLICE_MS);
  return {
    key: keyOfQuery(subscription),
    expr,
    form: entryFormOf(subscription.form, subscription.flags),
    selector: compileSelector(expr.selector),
    pipeline: compileLogPipeline(expr, { clock, timeSlice }),
    timeSlice,
  };
}
