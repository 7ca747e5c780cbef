/**
 * Cost of merging and indexing a day on AWS, which follows pushes: functions that merge, their reads and writes, and the
 * records that they replace. The figures are from docs/dev/cost-model.md. It is not part of the usage of a tenant.
 */
import type { Prices } from '../admin/prices.ts';

/**
 * Fitted to the simulated fleet with planning, publishing and indexing (test/simulation/fleet/compact-fleet.ts), for 50 and
 * 500 GB a day in pushes of 10 KB to 1 MB. test/bench/simulated.test.ts compares it. Emulators count 2.4 reads for an object
 * of 0.5 MB of lines that is flushed at once (docs/dev/benchmarks.md#requests-and-their-price).
 */
const MERGE = {
  /** A merge of pushes has up to 97 chunks (swap.ts), and is full with 64 MiB of lines (plan-merges.ts). */
  chunksPerMerge: 97,
  gbPerMerge: (64 * 1024 * 1024) / 1e9,
  /** Merges per full merge: of pushes of the last seconds, and for the hour. */
  mergesPerFull: 1.08,
  /** Each line is merged twice, of pushes and for its hour, which takes 24 and 17 s of CPU for a GB. */
  secondsPerGb: 45,
  /** Calling, planning, waiting and publishing. */
  secondsPerMerge: 0.72,
  /** Footer and pages of each object, and footers for the index. */
  getsPerObject: 2.1,
  /** With the PUTs of indexes. */
  putsPerMerge: 1.1,
  /**
   * A transaction takes twice the units of its deletions; one half is part of a push (shared/server/usage/cost.ts).
   */
  writeUnitsPerRecordUnit: 1,
  /** Leases of the day and of the part, day and output. */
  writeUnitsPerMerge: 20,
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
  const merges = MERGE.mergesPerFull * Math.max(pushes / MERGE.chunksPerMerge, gb / MERGE.gbPerMerge);
  return {
    gets: objects * MERGE.getsPerObject,
    puts: merges * MERGE.putsPerMerge,
    writeUnits: (writeUnits / 2) * MERGE.writeUnitsPerRecordUnit + merges * MERGE.writeUnitsPerMerge,
    seconds: gb * MERGE.secondsPerGb + merges * MERGE.secondsPerMerge,
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
