/** Formats nanosecond timestamps, and computes the time range of a command's options. */
import { MS_PER_MINUTE, NS_PER_MS, NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { parseGivenTime } from './given-time.ts';
import { shownOffsetMs } from './time-zone.ts';

/** RFC 3339 in UTC with nine decimals. */
export function nanosecondText(ns: bigint): string {
  const { seconds, fraction } = split(ns);
  return `${seconds}.${fraction.toString().padStart(9, '0')}Z`;
}

/** RFC 3339 in UTC with three decimals, truncated. */
export function millisecondText(ns: bigint): string {
  const { seconds, fraction } = split(ns);
  return `${seconds}.${(fraction / NS_PER_MS).toString().padStart(3, '0')}Z`;
}

/** `nanosecondText` in the time zone of printed times. */
export function shownNanoseconds(ns: bigint): string {
  return inShownZone(ns, nanosecondText);
}

/** `millisecondText` in the time zone of printed times. */
export function shownMilliseconds(ns: bigint): string {
  return inShownZone(ns, millisecondText);
}

function inShownZone(ns: bigint, textOf: (ns: bigint) => string): string {
  const offsetMs = shownOffsetMs(Number(ns / NS_PER_MS));
  if (offsetMs === 0) return textOf(ns);
  const minutes = Math.abs(offsetMs) / MS_PER_MINUTE;
  const clock = [Math.floor(minutes / 60), Math.floor(minutes % 60)].map(part =>
    String(part).padStart(2, '0'),
  );
  return `${textOf(ns + BigInt(offsetMs) * NS_PER_MS).slice(0, -1)}${offsetMs < 0 ? '-' : '+'}${clock.join(':')}`;
}

function split(ns: bigint): { seconds: string; fraction: bigint } {
  let fraction = ns % NS_PER_SECOND;
  // The remainder is negative before 1970.
  if (fraction < 0n) fraction += NS_PER_SECOND;
  const wholeMs = Number((ns - fraction) / NS_PER_MS);
  return { seconds: new Date(wholeMs).toISOString().slice(0, -'.000Z'.length), fraction };
}

interface RangeTexts {
  readonly sinceNs: bigint;
  readonly from?: string;
  readonly to?: string;
}

export interface NsRange {
  readonly startNs: bigint;
  /** Exclusive for log queries. */
  readonly endNs: bigint;
}

/** Range of the options. `--from` overrides `--since`; without `--to` the range ends now. */
export function rangeOf({ sinceNs, from, to }: RangeTexts, nowNs: bigint): NsRange {
  const endNs = to === undefined ? nowNs : parseGivenTime(to, nowNs);
  return { startNs: from === undefined ? endNs - sinceNs : parseGivenTime(from, nowNs), endNs };
}
