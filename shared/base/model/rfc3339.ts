/** Times as text, as Go writes them with RFC3339Nano. Reading them is for the edges, whose rules differ. */
import { NS_PER_SECOND } from './duration.ts';

/** Unix ns in UTC, with as many digits of the second as are needed. Years 1 to 9999. */
export function formatRfc3339Nano(ns: bigint): string {
  let rest = ns % NS_PER_SECOND;
  if (rest < 0n) rest += NS_PER_SECOND;
  const seconds = new Date(Number((ns - rest) / NS_PER_SECOND) * 1000).toISOString().slice(0, 19);
  const digits = String(rest).padStart(9, '0').replace(/0+$/, '');
  return `${seconds}${digits === '' ? '' : `.${digits}`}Z`;
}
