/**
 * Splits a metric query over a long range into parts, newest first. The values of a part are shown while the
 * next is computed. An instant has the same values in each split, because it depends only on its own window.
 */
import { MS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import { parseRangeDuration } from '../../../shared/language/logql/range-duration.ts';
import type { Labels, MatrixSeries } from '../api/types.ts';
import { tokensOf } from '../logql/tokens.ts';
import type { ResolvedRange } from '../time/time-range.ts';

/** Shorter ranges are one part, because the store computes them faster than several requests take. */
const MIN_RANGE_MS = MS_PER_HOUR;
/** Shares of the instants, newest first: values appear early, and few requests are made. */
const SHARES = [1 / 8, 1 / 2, 1];
/** Each part reads one window before its first instant again, so longer windows make no parts. */
const MAX_WINDOW_SHARE = 1 / 32;

/**
 * Parts of the instants from `fromMs` to `toMs`, newest first.
 *
 * @param queries as sent, without variables
 */
export function metricParts(
  queries: readonly string[],
  { fromMs, toMs }: ResolvedRange,
  stepMs: number,
): readonly ResolvedRange[] {
  const whole = [{ fromMs, toMs }];
  const lengthMs = toMs - fromMs;
  const instants = Math.floor(lengthMs / stepMs) + 1;
  const windowMs = Math.max(...queries.map(longestWindowMs));
  if (lengthMs <= MIN_RANGE_MS || windowMs > lengthMs * MAX_WINDOW_SHARE) return whole;
  let before = 0;
  return SHARES.flatMap(share => {
    const count = Math.round(instants * share);
    if (count === before) return [];
    const part = { fromMs: toMs - (count - 1) * stepMs, toMs: toMs - before * stepMs };
    before = count;
    return [part];
  });
}

/** Longest window of a query; infinite if one is not a duration, which the store reports. */
function longestWindowMs(query: string): number {
  const tokens = tokensOf(query);
  let longest = 0;
  for (const [i, { text, to }] of tokens.entries()) {
    if (text !== '[') continue;
    const end = tokens.slice(i).find(token => token.text === ']')?.from ?? to;
    try {
      longest = Math.max(longest, Number(parseRangeDuration(query.slice(to, end).trim())) / 1e6);
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  }
  return longest;
}

/** Share of the instants that are computed after a part, 0 to 1. */
export function computedShare({ fromMs, toMs }: ResolvedRange, part: ResolvedRange): number {
  return (toMs - part.fromMs) / (toMs - fromMs);
}

/** Series of all parts, newest first, as one result: in the store's order, samples by time. */
export function joinedSeries(parts: readonly (readonly MatrixSeries[])[]): readonly MatrixSeries[] {
  if (parts.length === 1) return parts[0];
  const byLabels = new Map<
    string,
    { metric: Labels; key: readonly string[]; values: MatrixSeries['values'] }
  >();
  for (const { metric, values } of parts.toReversed().flat()) {
    const key = Object.entries(metric)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .flat();
    const text = JSON.stringify(key);
    byLabels.set(text, { metric, key, values: [...(byLabels.get(text)?.values ?? []), ...values] });
  }
  return [...byLabels.values()]
    .sort((a, b) => compareKeys(a.key, b.key))
    .map(({ metric, values }) => ({ metric, values }));
}

/** Name before value, label by label; a prefix comes first. */
function compareKeys(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((text, i) => text !== b[i]);
  if (at === -1) return a.length - b.length;
  return b[at] !== undefined && a[at] < b[at] ? -1 : 1;
}
