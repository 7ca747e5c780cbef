/** Converts a date and time of day from a log to Unix nanoseconds. */
import { MS_PER_DAY, MS_PER_MINUTE, NS_PER_MS } from '../../../shared/base/model/time-units.ts';
import { readZoneMs } from '../time-zone.ts';

export interface CalendarTime {
  /** Absent in syslog: the newest year in which the time is not in the future of `referenceMs`. */
  readonly year?: number;
  /** Month from 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  /** Digits after the decimal point. */
  readonly fraction?: string;
  /** Offset such as `Z`, `UTC`, `GMT` or `+02:00`. If absent, the time is in the time zone of the command. */
  readonly offset?: string;
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
/** Maximum distance of a time without a year after the reference time, because clocks and time zones differ. */
const MAX_AHEAD_MS = 2 * MS_PER_DAY;
/** Years whose nanoseconds fit in 64 bits. */
const MIN_YEAR = 1678;
const MAX_YEAR = 2261;

/** Month from 1, or 0 if the word is not a month. Full names match by their first three letters. */
export function monthNumber(name: string): number {
  return MONTHS.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

/** Unix nanoseconds; undefined if the date or time of day does not exist. */
export function calendarNs(time: CalendarTime, referenceMs: number): bigint | undefined {
  if (time.year !== undefined) return inYear(time, time.year);
  const year = new Date(referenceMs).getUTCFullYear();
  const latest = BigInt(Math.trunc(referenceMs + MAX_AHEAD_MS)) * NS_PER_MS;
  // The reference time may be in January and the line from December, or the reverse. February 29 exists only
  // in some years.
  for (let back = -1; back <= 8; back++) {
    const ns = inYear(time, year - back);
    if (ns !== undefined && ns <= latest) return ns;
  }
  return undefined;
}

function inYear(time: CalendarTime, year: number): bigint | undefined {
  const { month, day, hour, minute, second, fraction = '', offset } = time;
  if (year < MIN_YEAR || year > MAX_YEAR || month < 1 || month > 12 || day < 1) return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  // A leap second is the first of the next minute.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const wallMs = Date.UTC(year, month - 1, day, hour, minute, second);
  const ms = offset === undefined ? readZoneMs(wallMs) : withOffset(wallMs, offset);
  if (ms === undefined) return undefined;
  return BigInt(ms) * NS_PER_MS + BigInt(fraction.slice(0, 9).padEnd(9, '0'));
}

function withOffset(wallMs: number, offset: string): number | undefined {
  const found = /^([+-])(\d{2}):?(\d{2})$/.exec(offset);
  if (found === null) return /^(z|utc|gmt)$/i.test(offset) ? wallMs : undefined;
  const [, sign, hours, minutes] = found;
  if (Number(hours) > 24 || Number(minutes) > 59) return undefined;
  const distanceMs = (Number(hours) * 60 + Number(minutes)) * MS_PER_MINUTE;
  return sign === '-' ? wallMs + distanceMs : wallMs - distanceMs;
}
