/**
 * Parses the duration between the brackets of a log range: Prometheus's form, with its messages
 * (docs/dev/logql-semantics.md#range-durations).
 */
import { parsePrometheusDuration } from '../../base/model/duration.ts';
import { quote } from '../../base/model/quote.ts';

const UNITS = new Set(['y', 'w', 'd', 'h', 'm', 's', 'ms']);

/** Returns nanoseconds. Throws an Error with the reference's text. */
export function parseRangeDuration(text: string): bigint {
  const unit = firstUnknownUnit(text);
  if (unit !== undefined) throw new Error(`unknown unit ${quote(unit)} in duration ${quote(text)}`);
  return parsePrometheusDuration(text);
}

/** Returns the first text after digits that is not a unit, if everything before it is well formed. */
function firstUnknownUnit(text: string): string | undefined {
  const part = /([0-9]+)([^0-9]+)/y;
  for (let match = part.exec(text); match !== null; match = part.exec(text)) {
    if (!UNITS.has(match[2])) return match[2];
  }
  return undefined;
}
