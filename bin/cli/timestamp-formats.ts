/** Formats of `--output-timestamp-format`, by the names that logcli has for them. */
import { NS_PER_MS } from '../../shared/base/model/time-units.ts';
import { shownMilliseconds, shownNanoseconds } from './time-text.ts';

export type TimeText = (ns: bigint) => string;

interface TimeTexts {
  /** `2026-01-05` */
  readonly date: string;
  /** `05 Jan` */
  readonly dayMonth: string;
  /** `Jan  5` */
  readonly monthDay: string;
  readonly year: string;
  readonly weekday: string;
  /** `10:00:00` */
  readonly clock: string;
  /** Nine decimals. */
  readonly fraction: string;
  /** `Z` or `+02:00` */
  readonly offset: string;
  /** `+0000` */
  readonly plainOffset: string;
  /** `UTC`, or the short name of the zone. */
  readonly zone: string;
}

const FORMATS: Readonly<Record<string, (parts: TimeTexts) => string>> = {
  rfc3339: ({ date, clock, offset }) => `${date}T${clock}${offset}`,
  rfc3339nano: ({ date, clock, fraction, offset }) =>
    `${date}T${clock}${`.${fraction}`.replace(/\.?0+$/, '')}${offset}`,
  rfc822z: ({ dayMonth, year, clock, plainOffset }) =>
    `${dayMonth} ${year.slice(-2)} ${clock.slice(0, -':00'.length)} ${plainOffset}`,
  rfc1123z: ({ weekday, dayMonth, year, clock, plainOffset }) =>
    `${weekday}, ${dayMonth} ${year} ${clock} ${plainOffset}`,
  stampmilli: ({ monthDay, clock, fraction }) => `${monthDay} ${clock}.${fraction.slice(0, 3)}`,
  stampmicro: ({ monthDay, clock, fraction }) => `${monthDay} ${clock}.${fraction.slice(0, 6)}`,
  stampnano: ({ monthDay, clock, fraction }) => `${monthDay} ${clock}.${fraction}`,
  unixdate: ({ weekday, monthDay, clock, zone, year }) => `${weekday} ${monthDay} ${clock} ${zone} ${year}`,
};

export const TIMESTAMP_FORMATS: readonly string[] = Object.keys(FORMATS);

/** Formatter for a name of TIMESTAMP_FORMATS. Undefined: RFC 3339 with milliseconds. */
export function timeTextOf(format: string | undefined): TimeText {
  if (format === undefined) return shownMilliseconds;
  const textOf = FORMATS[format];
  return ns => textOf(partsOf(ns));
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const PRINTED = /^((\d+)-(\d\d)-(\d\d))T(\d\d:\d\d:\d\d)\.(\d{9})(Z|[+-]\d\d:\d\d)$/;

function partsOf(ns: bigint): TimeTexts {
  const text = shownNanoseconds(ns);
  const parts = PRINTED.exec(text);
  if (parts === null) throw new Error(`${text} is not a printed time`);
  const [, date, year, monthNumber, day, clock, fraction, offset] = parts;
  const month = MONTHS[Number(monthNumber) - 1];
  return {
    date,
    dayMonth: `${day} ${month}`,
    monthDay: `${month} ${String(Number(day)).padStart(2)}`,
    year,
    weekday: WEEKDAYS[new Date(`${date}T00:00:00Z`).getUTCDay()],
    clock,
    fraction,
    offset,
    plainOffset: offset === 'Z' ? '+0000' : offset.replace(':', ''),
    zone: offset === 'Z' ? 'UTC' : zoneName(Number(ns / NS_PER_MS)),
  };
}

function zoneName(ms: number): string {
  const format = new Intl.DateTimeFormat('en', { timeZoneName: 'short' });
  return format.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
}
