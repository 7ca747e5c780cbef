/**
 * Records of chunks for queries that begin with them before it is certain that they are whole (shared/catalog/early-snapshot.ts).
 * What such a query finds counts once they are known to be; else it is run again with what is true. A failure counts as little.
 */
import type { Catalog } from '../catalog/catalog.ts';
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import { byDay, type DayRecords, type TimeRange } from './day-plan.ts';
import { addStatistics, newStatistics, type QueryStatistics } from './statistics.ts';

export interface EarlyRecords {
  /** Days in the direction of the query; days without chunks are left out. */
  readonly days: readonly DayRecords[];
  /** Undefined where these are all there are. Asked when other requests are sent anyway, it costs no time of its own. */
  confirm(): Promise<readonly DayRecords[] | undefined>;
}

/** Throws what the table throws. */
export async function earlyRecords(
  catalog: Catalog,
  tenant: string,
  range: TimeRange,
  backward: boolean,
  statistics: QueryStatistics,
): Promise<EarlyRecords> {
  const started = process.hrtime.bigint();
  const early = await catalog.earlySnapshot(tenant, range.startNs, range.endNs - 1n);
  statistics.chunkLookupNs += Number(process.hrtime.bigint() - started);
  const inOrder = (days: readonly { readonly records: readonly ChunkRecord[] }[]) =>
    byDay(
      days.flatMap(({ records }) => records),
      backward,
    );
  const days = inOrder(early.days);
  return {
    days,
    confirm: async () => {
      const corrected = await early.confirm();
      return corrected && inOrder(corrected);
    },
  };
}

/**
 * What `find` finds in the days of each lookup, in the order of the lookups. It is called once more where they were not whole,
 * and counts in the statistics that it is given. Throws what it throws, and what the table throws.
 */
export async function foundInAll<Result>(
  lookups: readonly EarlyRecords[],
  statistics: QueryStatistics,
  find: (days: readonly (readonly DayRecords[])[], statistics: QueryStatistics) => Promise<Result>,
): Promise<Result> {
  const own = newStatistics();
  for (const { days } of lookups) for (const { records } of days) own.chunksReferenced += records.length;
  const found = await outcomeOf(
    find(
      lookups.map(({ days }) => days),
      own,
    ),
  );
  const corrections = await Promise.all(lookups.map(lookup => lookup.confirm()));
  if (corrections.every(correction => correction === undefined)) {
    addStatistics(statistics, own);
    if ('error' in found) throw found.error;
    return found.result;
  }
  const corrected = lookups.map(({ days }, i) => corrections[i] ?? days);
  for (const days of corrected) for (const { records } of days) statistics.chunksReferenced += records.length;
  return find(corrected, statistics);
}

async function outcomeOf<Result>(
  work: Promise<Result>,
): Promise<{ readonly result: Result } | { readonly error: unknown }> {
  try {
    return { result: await work };
  } catch (error) {
    return { error };
  }
}
