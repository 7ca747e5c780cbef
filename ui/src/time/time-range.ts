/**
 * Time ranges as typed and as in links: `now-1h`, `now`, `2026-11-21 14:05:00` in the zone of the settings,
 * or Unix milliseconds. Absolute times in URLs are always milliseconds, so that a link means the same in
 * every zone.
 */
import { MS_PER_DAY, MS_PER_MINUTE, MS_PER_SECOND } from '../../../shared/base/model/time-units.ts';

export interface RangeText {
  readonly from: string;
  readonly to: string;
}

export interface ResolvedRange {
  /** Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
}

export const DEFAULT_RANGE: RangeText = { from: 'now-1h', to: 'now' };

export const QUICK_RANGES: readonly { readonly from: string; readonly title: string }[] = [
  { from: 'now-5m', title: 'Last 5 minutes' },
  { from: 'now-15m', title: 'Last 15 minutes' },
  { from: 'now-30m', title: 'Last 30 minutes' },
  { from: 'now-1h', title: 'Last hour' },
  { from: 'now-3h', title: 'Last 3 hours' },
  { from: 'now-6h', title: 'Last 6 hours' },
  { from: 'now-12h', title: 'Last 12 hours' },
  { from: 'now-24h', title: 'Last 24 hours' },
  { from: 'now-2d', title: 'Last 2 days' },
  { from: 'now-7d', title: 'Last 7 days' },
  { from: 'now-30d', title: 'Last 30 days' },
  { from: 'now-90d', title: 'Last 90 days' },
];

const UNITS_MS: Readonly<Record<string, number>> = {
  s: MS_PER_SECOND,
  m: 60 * MS_PER_SECOND,
  h: 3600 * MS_PER_SECOND,
  d: MS_PER_DAY,
  w: 7 * MS_PER_DAY,
  y: 365 * MS_PER_DAY,
};
const RELATIVE = /^now(?:-(\d+)([smhdwy]))?$/;
const ABSOLUTE = /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,3}))?)?)?(Z?)$/;

/** Unix milliseconds of a typed time; undefined if it is invalid. */
export function parseTime(text: string, { nowMs, utc }: { nowMs: number; utc: boolean }): number | undefined {
  const trimmed = text.trim();
  const relative = RELATIVE.exec(trimmed);
  if (relative !== null) {
    const [, count, unit] = relative;
    return count === undefined ? nowMs : nowMs - Number(count) * UNITS_MS[unit];
  }
  if (/^\d{12,14}$/.test(trimmed)) return Number(trimmed);
  const absolute = ABSOLUTE.exec(trimmed);
  if (absolute === null) return undefined;
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '0', zulu] = absolute;
  const parts = [
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
  ] as const;
  const ms = Number(fraction.padEnd(3, '0'));
  const date = utc || zulu === 'Z' ? new Date(Date.UTC(...parts, ms)) : new Date(...parts, ms);
  // Rejects 31 February, which would become March.
  const named = utc || zulu === 'Z' ? date.getUTCDate() : date.getDate();
  return named === Number(day) && Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60
    ? date.getTime()
    : undefined;
}

export function isRelative(text: string): boolean {
  return RELATIVE.test(text.trim());
}

/** Resolved range; undefined if a time is invalid or the range is empty. */
export function resolveRange(
  { from, to }: RangeText,
  zone: { nowMs: number; utc: boolean },
): ResolvedRange | undefined {
  const fromMs = parseTime(from, zone);
  const toMs = parseTime(to, zone);
  return fromMs === undefined || toMs === undefined || fromMs >= toMs ? undefined : { fromMs, toMs };
}

/** `2026-11-21 14:05:00`, with milliseconds if they are not zero. */
export function formatTime(ms: number, utc: boolean): string {
  const date = new Date(utc ? ms : ms - new Date(ms).getTimezoneOffset() * MS_PER_MINUTE);
  return date
    .toISOString()
    .slice(0, 23)
    .replace('T', ' ')
    .replace(/\.000$/, '');
}

/** Name of the range on its button. */
export function describeRange({ from, to }: RangeText, utc: boolean): string {
  if (to === 'now') {
    const quick = QUICK_RANGES.find(known => known.from === from);
    if (quick !== undefined) return quick.title;
  }
  const shown = (text: string) => (isRelative(text) ? text : formatTime(Number(text), utc));
  const [first, last] = [shown(from), shown(to)];
  const sameDay = !isRelative(from) && !isRelative(to) && first.slice(0, 10) === last.slice(0, 10);
  return `${first} → ${sameDay ? last.slice(11) : last}`;
}

/** Neighboring range of equal width: -1 for earlier, 1 for later. */
export function shiftRange({ fromMs, toMs }: ResolvedRange, direction: -1 | 1): ResolvedRange {
  const byMs = Math.round((toMs - fromMs) / 2) * direction;
  return { fromMs: fromMs + byMs, toMs: toMs + byMs };
}

/** Range of twice the width around the same middle; does not pass `nowMs` unless it already did. */
export function widenRange({ fromMs, toMs }: ResolvedRange, nowMs: number): ResolvedRange {
  const half = Math.round((toMs - fromMs) / 2);
  const end = toMs <= nowMs ? Math.min(toMs + half, nowMs) : toMs + half;
  return { fromMs: end - (toMs - fromMs) * 2, toMs: end };
}
