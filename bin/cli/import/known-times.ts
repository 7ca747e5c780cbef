/**
 * Time formats that are detected without options:
 *
 *     iso      2026-01-05T10:00:00.123Z   2026-01-05 10:00:00,123   2026/01/05 10:00:00 +0100
 *     clf      05/Jan/2026:10:00:00 +0100
 *     syslog   Jan  5 10:00:00
 *     ctime    Mon Jan 05 10:00:00.123456 2026
 *     rfc1123  Mon, 05 Jan 2026 10:00:00 GMT
 *     klog     I0105 10:00:00.123456
 *     unix, unix_ms, unix_us, unix_ns   distinguished by their number of digits
 */
import { MAX_INT64 } from '../../../shared/base/model/int64.ts';
import { calendarNs, monthNumber } from './calendar.ts';

export interface FoundTime {
  readonly ns: bigint;
  /** End of the time in the text, characters. */
  readonly end: number;
}

interface TimeForm {
  readonly names: readonly string[];
  /** Pattern that is anchored at the start. Every repetition is bounded, so matching is fast on any line. */
  readonly pattern: RegExp;
  read(match: RegExpExecArray, referenceMs: number): bigint | undefined;
}

const CLOCK = '(\\d{2}):(\\d{2}):(\\d{2})(?:[.,](\\d{1,9})\\d{0,9})?';
const OFFSET = '(?: ?([Zz]|UTC|GMT|[+-]\\d{2}:?\\d{2})(?![\\w:.]))?';
const MONTH = '(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}';
const WEEKDAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}';

const clock = (match: RegExpExecArray, at: number) => ({
  hour: Number(match[at]),
  minute: Number(match[at + 1]),
  second: Number(match[at + 2]),
  fraction: match[at + 3],
});

const KINDS: readonly TimeForm[] = [
  {
    names: ['iso', 'iso8601', 'rfc3339'],
    pattern: new RegExp(`^(\\d{4})[-/](\\d{2})[-/](\\d{2})[Tt _]${CLOCK}${OFFSET}`),
    read: (m, referenceMs) =>
      calendarNs(
        { year: Number(m[1]), month: Number(m[2]), day: Number(m[3]), ...clock(m, 4), offset: m[8] },
        referenceMs,
      ),
  },
  {
    names: ['clf'],
    pattern: new RegExp(`^(\\d{2})/${MONTH}/(\\d{4}):${CLOCK}${OFFSET}`),
    read: (m, referenceMs) =>
      calendarNs(
        { year: Number(m[3]), month: monthNumber(m[2]), day: Number(m[1]), ...clock(m, 4), offset: m[8] },
        referenceMs,
      ),
  },
  {
    names: ['syslog'],
    pattern: new RegExp(`^${MONTH} {1,2}(\\d{1,2}) ${CLOCK}(?!\\d)`),
    read: (m, referenceMs) =>
      calendarNs({ month: monthNumber(m[1]), day: Number(m[2]), ...clock(m, 3) }, referenceMs),
  },
  {
    names: ['ctime'],
    pattern: new RegExp(`^${WEEKDAY} ${MONTH} {1,2}(\\d{1,2}) ${CLOCK} (\\d{4})(?!\\d)`),
    read: (m, referenceMs) =>
      calendarNs(
        { year: Number(m[7]), month: monthNumber(m[1]), day: Number(m[2]), ...clock(m, 3) },
        referenceMs,
      ),
  },
  {
    names: ['rfc1123', 'rfc2822'],
    pattern: new RegExp(`^(?:${WEEKDAY}, )?(\\d{1,2}) ${MONTH} (\\d{4}) ${CLOCK}${OFFSET}`),
    read: (m, referenceMs) =>
      calendarNs(
        { year: Number(m[3]), month: monthNumber(m[2]), day: Number(m[1]), ...clock(m, 4), offset: m[8] },
        referenceMs,
      ),
  },
  {
    names: ['klog'],
    pattern: new RegExp(`^[IWEF](\\d{2})(\\d{2}) ${CLOCK}(?!\\d)`),
    read: (m, referenceMs) =>
      calendarNs({ month: Number(m[1]), day: Number(m[2]), ...clock(m, 3) }, referenceMs),
  },
  unixKind('unix', 10, 9),
  unixKind('unix_ms', 13, 6),
  unixKind('unix_us', 16, 3),
  unixKind('unix_ns', 19, 0),
];

/**
 * Unix time format. `digits` before the decimal point cover 2001 to 2286; `decimals` is the number of digits
 * that are missing to nanoseconds.
 */
function unixKind(name: string, digits: number, decimals: number): TimeForm {
  return {
    names: [name],
    pattern: new RegExp(`^(\\d{${digits}})(?:\\.(\\d{1,18}))?(?![\\w.:/-])`),
    read: match => unixNs(match[1], match[2] ?? '', decimals),
  };
}

function unixNs(whole: string, fraction: string, decimals: number): bigint | undefined {
  const ns = BigInt(whole + fraction.slice(0, decimals).padEnd(decimals, '0'));
  return ns <= MAX_INT64 ? ns : undefined;
}

/** Names for --time-format. */
export const TIME_NAMES: readonly string[] = KINDS.flatMap(({ names }) => names);

/** Time at the start of the text, optionally only of the named format. */
export function leadingTime(text: string, referenceMs: number, name?: string): FoundTime | undefined {
  for (const kind of KINDS) {
    if (name !== undefined && !kind.names.includes(name)) continue;
    const match = kind.pattern.exec(text);
    if (match === null) continue;
    const ns = kind.read(match, referenceMs);
    if (ns !== undefined) return { ns, end: match[0].length };
  }
  return undefined;
}

const UNIX_DECIMALS: ReadonlyMap<string, number> = new Map([
  ['unix', 9],
  ['unix_ms', 6],
  ['unix_us', 3],
  ['unix_ns', 0],
]);

/**
 * Unix time whose unit is named, with any number of digits. Undefined if the name is not a unit or the text
 * is not a number.
 */
export function namedUnixTime(text: string, name: string): bigint | undefined {
  const decimals = UNIX_DECIMALS.get(name);
  const found = /^(\d{1,19})(?:\.(\d{1,18}))?$/.exec(text);
  return decimals === undefined || found === null ? undefined : unixNs(found[1], found[2] ?? '', decimals);
}
