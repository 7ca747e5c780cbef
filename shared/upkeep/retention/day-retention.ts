/** Retention of one UTC day at one instant. All times are ns since the start of the day. */
import type { Labels } from '../../base/model/labels.ts';
import { NS_PER_DAY } from '../../base/model/time-units.ts';
import { expiredBeforeNs, type Retention } from './retention.ts';

export interface DayRetention {
  /** Entries of the stream before this time are expired; 0 or less if none of the day is. */
  keptFrom(labels: Labels): number;
  /** Minimum of `keptFrom` over all streams. */
  readonly leastKeptFrom: number;
  /** All possible results of `keptFrom`, without duplicates. */
  readonly starts: readonly number[];
}

/** `undefined` if nothing of the day is expired for any stream. */
export function retentionOfDay(retention: Retention, nowNs: bigint, day: number): DayRetention | undefined {
  if (retention.isOff) return undefined;
  const dayStartNs = BigInt(day) * NS_PER_DAY;
  const startOf = (periodNs: bigint): number => {
    const ns = expiredBeforeNs(periodNs, nowNs);
    return ns === undefined || ns <= dayStartNs ? 0 : Number(ns - dayStartNs);
  };
  if (startOf(retention.shortestNs) === 0) return undefined;
  const byPeriod = new Map(retention.periodsNs.map(periodNs => [periodNs, startOf(periodNs)]));
  return {
    keptFrom: labels => byPeriod.get(retention.periodNsOf(labels))!,
    leastKeptFrom: startOf(retention.longestNs),
    starts: [...new Set(byPeriod.values())],
  };
}
