/** Formats timestamps as Go's RFC3339Nano, in UTC, without trailing zeros of the fraction. */
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';

export function instantText(ns: bigint): string {
  let fraction = ns % NS_PER_SECOND;
  // The remainder is negative before 1970.
  if (fraction < 0n) fraction += NS_PER_SECOND;
  const seconds = new Date(Number((ns - fraction) / NS_PER_MS)).toISOString().slice(0, -'.000Z'.length);
  if (fraction === 0n) return `${seconds}Z`;
  return `${seconds}.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}Z`;
}
