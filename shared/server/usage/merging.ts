/**
 * Cost of merging and indexing a day on AWS, which follows pushes: functions that merge, their reads and writes, and the
 * records that they replace. The figures are from docs/dev/cost-model.md. It is not part of the usage of a tenant.
 */
import type { Prices } from '../admin/prices.ts';

/** One flush of 512 MB in 979 pushes (docs/dev/benchmarks.md#requests-and-their-price), and simulated functions. */
export const MERGE = {
  /**
   * Simulated: seconds of functions for a GB of one tenant in 140 minutes, with planning, requests and publishing (`npm
   * run simulate -- fleet --compaction --tb 10 --functions 32 --minutes 140`). Each line is merged twice, of pushes and
   * for its hour, which takes 24 and 17 s of CPU (test/simulation/fleet/compact-fleet.ts).
   */
  secondsPerGb: 48,
  /** 2,150 GETs for the 902 objects that the pushes of a GB created. */
  getsPerObject: 2.4,
  putsPerGb: 10,
  /**
   * A transaction takes twice the units of its deletions; one half is part of a push (shared/server/usage/cost.ts).
   */
  writeUnitsPerRecordUnit: 1,
  /** Leases of the day and of the part, day and output for each merge of up to 97 chunks. */
  writeUnitsPerMerge: 17,
  chunksPerMerge: 97,
  memoryGb: 3008 / 1024,
} as const;

/** What pushes of a time stored. */
export interface StoredPushes {
  /** Lines, GB. */
  readonly gb: number;
  readonly pushes: number;
  readonly objects: number;
  /** Write units of their records, including the later deletion. */
  readonly writeUnits: number;
}

interface Merging {
  readonly gets: number;
  readonly puts: number;
  readonly writeUnits: number;
  /** Seconds of functions. */
  readonly seconds: number;
}

const MILLION = 1_000_000;

export function mergingOf({ gb, pushes, objects, writeUnits }: StoredPushes): Merging {
  return {
    gets: objects * MERGE.getsPerObject,
    puts: gb * MERGE.putsPerGb,
    writeUnits:
      (writeUnits / 2) * MERGE.writeUnitsPerRecordUnit +
      (pushes / MERGE.chunksPerMerge) * MERGE.writeUnitsPerMerge,
    seconds: gb * MERGE.secondsPerGb,
  };
}

/** In the currency of the prices. The cost of pushes has one read of each object (cost.ts). */
export function mergingCost(stored: StoredPushes, prices: Prices): number {
  const { gets, puts, writeUnits, seconds } = mergingOf(stored);
  const requests =
    (gets - stored.objects) * prices.objectGetMillion +
    puts * prices.objectPutMillion +
    writeUnits * prices.tableWriteMillion;
  return requests / MILLION + seconds * MERGE.memoryGb * prices.functionGbSecond;
}
