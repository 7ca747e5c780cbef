/** What retention leaves of one UTC day at one moment. All times here are ns since the start of the day. */
import { NS_PER_DAY } from '../../base/model/duration.ts';
import type { Labels } from '../../base/model/labels.ts';
import { expiredBeforeNs, type Retention } from './retention.ts';

export interface DayRetention {
  /** Entries of the stream before this time are expired; 0 or less where none of the day is. */
  keptFrom(labels: Labels): number;
  /** The same for all streams: the least of them. */
  readonly leastKeptFrom: number;
  /** Every time that `keptFrom` may give, each once. */
  readonly starts: readonly number[];
}

/** Undefined where nothing of the day is expired for any stream. */
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
