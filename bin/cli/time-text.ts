/** Nanosecond timestamps as text in UTC, and the time range that a command's options name. */
import { parseTimestamp } from '../../shared/http/timestamp.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../shared/model/duration.ts';

/** RFC 3339 with nine decimals: every nanosecond. */
export function nanosecondText(ns: bigint): string {
  const { seconds, fraction } = split(ns);
  return `${seconds}.${fraction.toString().padStart(9, '0')}Z`;
}

/** RFC 3339 with three decimals, cut: enough to read. */
export function millisecondText(ns: bigint): string {
  const { seconds, fraction } = split(ns);
  return `${seconds}.${(fraction / NS_PER_MS).toString().padStart(3, '0')}Z`;
}

function split(ns: bigint): { seconds: string; fraction: bigint } {
  let fraction = ns % NS_PER_SECOND;
  // Before 1970 the remainder is negative.
  if (fraction < 0n) fraction += NS_PER_SECOND;
  const wholeMs = Number((ns - fraction) / NS_PER_MS);
  return { seconds: new Date(wholeMs).toISOString().slice(0, -'.000Z'.length), fraction };
}

export interface RangeFlags {
  readonly sinceNs: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
}

export interface NsRange {
  readonly startNs: bigint;
  /** Exclusive for log queries. */
  readonly endNs: bigint;
}

/** `--from` wins over `--since`; without `--to` the range ends now. */
export function rangeOf({ sinceNs, from, to }: RangeFlags, nowNs: bigint): NsRange {
  const endNs = to ?? nowNs;
  return { startNs: from ?? endNs - sinceNs, endNs };
}

/** A timestamp as the store's parameters take it, or `now`. Throws BadRequestError. */
export function parseInstant(text: string, nowNs: bigint): bigint {
  return text === 'now' ? nowNs : parseTimestamp(text);
}
