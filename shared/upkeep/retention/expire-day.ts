/** Removes expired rows from the chunks of one day, in this thread or in another. */

import { NS_PER_DAY } from '../../base/model/time-units.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { readFooter } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import {
  type DayRewriterParts,
  type DayToRewrite,
  type Decision,
  type RewriteEnd,
  type RewriteFigures,
  rewriteDay,
} from '../compaction/day-rewriter.ts';
import { type Retention, type RetentionLimits, retentionOf } from './retention.ts';

interface DayToExpire extends Omit<DayToRewrite, 'decide'> {
  readonly retention: RetentionLimits;
  /** Unix ns. Rows expired at this time may be removed. */
  readonly nowNs: bigint;
}

export interface DayExpiry {
  /** See rewriteDay. An implementation in another thread also throws if that thread is lost. */
  expireDay(work: DayToExpire, figures: RewriteFigures): Promise<RewriteEnd>;
}

export function dayExpiry(rewriter: DayRewriterParts): DayExpiry {
  return {
    expireDay: ({ retention: limits, nowNs, ...work }, figures) => {
      const retention = retentionOf(limits, true);
      const decide = (record: ChunkRecord) => decisionOf(rewriter.store, record, retention, nowNs);
      return rewriteDay(rewriter, { ...work, decide }, figures);
    },
  };
}

/** Number of retention periods that have ended for every entry of the day. */
export function periodsOver({ periodsNs }: Retention, day: number, nowNs: bigint): number {
  const endNs = BigInt(day + 1) * NS_PER_DAY;
  return periodsNs.filter(periodNs => periodNs > 0n && endNs <= nowNs - periodNs).length;
}

export function isWhollyExpired(
  { day, last }: ChunkRecord,
  { longestNs }: Retention,
  nowNs: bigint,
): boolean {
  return longestNs > 0n && BigInt(day) * NS_PER_DAY + BigInt(last) < nowNs - longestNs;
}

async function decisionOf(
  store: ObjectStore,
  record: ChunkRecord,
  retention: Retention,
  nowNs: bigint,
): Promise<Decision> {
  if (isWhollyExpired(record, retention, nowNs)) return 'remove';
  if (periodsOver(retention, record.day, nowNs) === 0) return 'leave';
  const { streams, pages } = await readFooter(store, record);
  const startNs = BigInt(record.day) * NS_PER_DAY;
  const before = streams.map(({ labels }) => {
    const periodNs = retention.periodNsOf(labels);
    return periodNs === 0n ? undefined : nowNs - periodNs;
  });
  const isExpired = (stream: number, last: number) => {
    const cutNs = before[stream];
    return cutNs !== undefined && startNs + BigInt(last) < cutNs;
  };
  if (pages.every(({ runs }) => runs.every(({ stream, last }) => isExpired(stream, last)))) return 'remove';
  const isOver = before.map(cutNs => cutNs !== undefined && startNs + NS_PER_DAY <= cutNs);
  return isOver.includes(true) ? 'rewrite' : 'leave';
}
