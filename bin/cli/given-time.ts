/**
 * Time formats that commands accept:
 *
 *     now   now-2h   now+5m
 *     2026-01-05   2026-01-05 10:00   2026-01-05T10:00:00.5        in the time zone of the command
 *     2026-01-05T10:00:00Z   2026-01-05 10:00+02:00
 *     1767607200   1767607200.25   1767607200000000000             Unix seconds or nanoseconds
 */

import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { parseRfc3339, parseTimestamp } from '../../shared/server/http/timestamp.ts';
import { readZoneMs } from './time-zone.ts';

const RELATIVE = /^now(?:([+-])(.+))?$/;
const NUMBER = /^-?\d+(\.\d+)?$/;
const DATED =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2})(?::(\d{2}))?(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}:\d{2})?$/;

/** Unix nanoseconds. Throws RangeError if the text is not a time. */
export function parseGivenTime(text: string, nowNs: bigint): bigint {
  const relative = RELATIVE.exec(text);
  if (relative !== null) {
    const [, sign, distance] = relative;
    if (sign === undefined) return nowNs;
    const ns = parsePrometheusDuration(distance);
    return sign === '-' ? nowNs - ns : nowNs + ns;
  }
  if (NUMBER.test(text)) return parseTimestamp(text);
  const dated = DATED.exec(text);
  if (dated === null) throw new RangeError('not a time');
  const [, date, minutes = '00:00', seconds = '00', fraction = '', offset] = dated;
  const wall = `${date}T${minutes}:${seconds}.${fraction || '0'}`;
  const ns = parseRfc3339(`${wall}${offset ?? 'Z'}`);
  if (ns === undefined) throw new RangeError('the date or time of day does not exist');
  if (offset !== undefined) return ns;
  // The fraction of a second is the same in every zone.
  const part = ((ns % NS_PER_SECOND) + NS_PER_SECOND) % NS_PER_SECOND;
  return BigInt(readZoneMs(Number((ns - part) / NS_PER_MS))) * NS_PER_MS + part;
}
