/**
 * Instants at which groups are evaluated: multiples of their interval, shifted by an offset per group, so
 * that not all groups of a store are due at the same time. The offset depends only on the names, so every
 * process and every retry has the same instants.
 *
 *     |---offset--T----interval----T----interval----T--->
 */

import { createHash } from 'node:crypto';
import { floorDivide } from '../../base/model/floor-divide.ts';
import { NS_PER_MS, NS_PER_SECOND } from '../../base/model/time-units.ts';

/** Shorter intervals are evaluated every second. */
const MIN_INTERVAL_NS = NS_PER_SECOND;
/** Maximum number and maximum age of instants that are evaluated after an outage. */
export const MAX_CAUGHT_UP = 10;
export const MAX_CATCH_UP_NS = 3600n * NS_PER_SECOND;

interface GroupSchedule {
  readonly intervalNs: bigint;
  /** Less than the interval, whole ms. */
  readonly offsetNs: bigint;
}

export function scheduleOf(
  names: readonly [tenant: string, namespace: string, name: string],
  wantedNs: bigint,
): GroupSchedule {
  const intervalNs = wantedNs < MIN_INTERVAL_NS ? MIN_INTERVAL_NS : wantedNs;
  const hash = createHash('sha256').update(JSON.stringify(names)).digest().readUIntBE(0, 6);
  return { intervalNs, offsetNs: (BigInt(hash) % (intervalNs / NS_PER_MS)) * NS_PER_MS };
}

interface DueInstants {
  /** Ascending. */
  readonly instants: readonly bigint[];
  /** Number of missed instants that are skipped. */
  readonly missed: number;
  /** First instant after now. */
  readonly nextNs: bigint;
}

/** @param lastNs newest evaluated instant; 0 if none, and then only the newest past one is due */
export function dueInstants(
  { intervalNs, offsetNs }: GroupSchedule,
  lastNs: bigint,
  nowNs: bigint,
): DueInstants {
  const intervalAt = (ns: bigint) => floorDivide(ns - offsetNs, intervalNs);
  const newest = intervalAt(nowNs);
  const nextNs = (newest + 1n) * intervalNs + offsetNs;
  const first = lastNs === 0n ? newest : intervalAt(lastNs) + 1n;
  const count = Number(newest - first) + 1;
  if (count <= 0) return { instants: [], missed: 0, nextNs };
  const inAge = Number(MAX_CATCH_UP_NS / intervalNs);
  // The newest instant is always evaluated, however long the interval.
  const kept = Math.min(count, MAX_CAUGHT_UP, Math.max(1, inAge));
  const instants = Array.from(
    { length: kept },
    (_, i) => (newest - BigInt(kept - 1 - i)) * intervalNs + offsetNs,
  );
  return { instants, missed: count - kept, nextNs };
}
