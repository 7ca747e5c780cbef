/** Timestamps as Go's RFC3339Nano writes them, in UTC: as many decimals as there are, none where there are none. */
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/duration.ts';

export function instantText(ns: bigint): string {
  let fraction = ns % NS_PER_SECOND;
  // Before 1970 the remainder is negative.
  if (fraction < 0n) fraction += NS_PER_SECOND;
  const seconds = new Date(Number((ns - fraction) / NS_PER_MS)).toISOString().slice(0, -'.000Z'.length);
  if (fraction === 0n) return `${seconds}Z`;
  return `${seconds}.${fraction.toString().padStart(9, '0').replace(/0+$/, '')}Z`;
}
