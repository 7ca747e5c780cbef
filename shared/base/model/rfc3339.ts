/**
 * Formats times as Go does with RFC3339Nano. Parsing is up to the HTTP handlers and commands, whose rules
 * differ.
 */
import { NS_PER_SECOND } from './time-units.ts';

/** Formats Unix ns in UTC, with only the fractional digits that are needed. Supports years 1 to 9999. */
export function formatRfc3339Nano(ns: bigint): string {
  let rest = ns % NS_PER_SECOND;
  if (rest < 0n) rest += NS_PER_SECOND;
  const seconds = new Date(Number((ns - rest) / NS_PER_SECOND) * 1000).toISOString().slice(0, 19);
  const digits = String(rest).padStart(9, '0').replace(/0+$/, '');
  return `${seconds}${digits === '' ? '' : `.${digits}`}Z`;
}
