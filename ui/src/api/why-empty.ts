/**
 * Explains why a log query found nothing: an unknown value, a filter that matches no line, or another time
 * range.
 */
import { MS_PER_DAY } from '../../../shared/base/model/time-units.ts';
import { nearestWord } from '../logql/nearest-word.ts';
import { selectionOf } from '../logql/selection.ts';
import { fetchStreamFigures } from './labels.ts';
import { fetchLabelValues, type MsRange } from './queries.ts';

type WhyEmpty =
  /** The streams have lines in the range, but the filters match none. */
  | { readonly kind: 'filter'; readonly entries: number }
  /** No stream has the value in the range. */
  | {
      readonly kind: 'value';
      readonly label: string;
      readonly value: string;
      readonly meant: string | undefined;
    }
  /** The streams have lines in a longer range. */
  | { readonly kind: 'time'; readonly days: number }
  | { readonly kind: 'none' };

const LONGER_DAYS = 7;
/** Maximum number of labels to check, with one request each. */
const MAX_LABELS = 5;

export async function fetchWhyEmpty(
  selector: string,
  range: MsRange,
  signal: AbortSignal,
): Promise<WhyEmpty> {
  const { entries } = await fetchStreamFigures(selector, range, signal);
  if (entries > 0) return { kind: 'filter', entries };
  for (const [label, values] of [...selectionOf(selector).values].slice(0, MAX_LABELS)) {
    const known = await fetchLabelValues(label, range, undefined, signal);
    const unknown = values.find(value => !known.includes(value));
    if (known.length > 0 && unknown !== undefined && values.every(value => !known.includes(value))) {
      return { kind: 'value', label, value: unknown, meant: nearestWord(unknown, known) };
    }
  }
  const longer = { fromMs: range.toMs - LONGER_DAYS * MS_PER_DAY, toMs: range.toMs };
  const found = await fetchStreamFigures(selector, longer, signal);
  return found.entries > 0 ? { kind: 'time', days: LONGER_DAYS } : { kind: 'none' };
}
