/**
 * Copies a tenant day by day: first lists the streams of a day, then copies their entries in parts of one
 * hour, several at a time.
 */
import { mapAtOnce } from '../../../shared/base/model/at-once.ts';
import { NS_PER_DAY, NS_PER_HOUR } from '../../../shared/base/model/time-units.ts';
import type { PartState } from '../part-state.ts';
import type { StoreFlags } from '../store-client.ts';
import { nanosecondText } from '../time-text.ts';
import { copyPart } from './copy-part.ts';
import { streamsOf, type TimeWindow } from './log-source.ts';
import { coveringSelectors, labelNamesOf, type StreamLabels } from './streams-cover.ts';

/** Maximum number of differences that are listed; the rest is counted. */
const MAX_REPORTED = 100;

interface TenantMigration {
  readonly source: StoreFlags;
  readonly target: StoreFlags;
  /** Tenant ID for the state file and messages. */
  readonly tenant: string;
  /** Selectors to copy; empty selects all streams. */
  readonly selectors: readonly string[];
  readonly state: PartState;
  readonly parallel: number;
  readonly batch: number;
  readonly onProgress: (totals: MigrationTotals, day: string) => void;
  readonly onDay: (day: string, entries: number) => void;
  readonly onRetry: (problem: string) => void;
}

export interface MigrationTotals {
  readonly entries: number;
  /** Number of entries that an earlier run copied. */
  readonly earlier: number;
  readonly parts: number;
  /** Number of parts that have fewer entries in the target. The next run copies them again. */
  readonly incomplete: number;
  readonly missing: readonly string[];
}

/**
 * Runs the migration. Throws CommandError if a store refuses a request or cannot be reached. The state file
 * records where to continue.
 */
export async function migrateTenant(job: TenantMigration): Promise<MigrationTotals> {
  let totals: MigrationTotals = { entries: 0, earlier: 0, parts: 0, incomplete: 0, missing: [] };
  const { state, tenant, source, target, batch } = job;
  for (const day of timeWindows(state.window, NS_PER_DAY)) {
    const name = nanosecondText(day.startNs).slice(0, 10);
    const before = totals.entries + totals.earlier;
    const groups = await groupsOf(job, day);
    const parts = groups.flatMap(group =>
      timeWindows(day, NS_PER_HOUR).map(window => ({ ...group, window, source, target, batch })),
    );
    await mapAtOnce(parts, job.parallel, async part => {
      const id = { tenant, selector: part.selector, start: `${part.window.startNs}` };
      const earlier = state.doneEntries(id);
      if (earlier === undefined) {
        const { entries, missing } = await copyPart(part, job.onRetry);
        if (missing.length === 0) state.add({ ...id, entries });
        totals = {
          ...totals,
          entries: totals.entries + entries,
          parts: totals.parts + 1,
          incomplete: totals.incomplete + Math.min(missing.length, 1),
          missing: [...totals.missing, ...missing].slice(0, MAX_REPORTED),
        };
      } else totals = { ...totals, earlier: totals.earlier + earlier };
      job.onProgress(totals, name);
    });
    job.onDay(name, totals.entries + totals.earlier - before);
  }
  return totals;
}

interface StreamGroup {
  readonly selector: string;
  readonly names: readonly string[];
  readonly streams: readonly StreamLabels[];
}

async function groupsOf(
  { source, selectors }: TenantMigration,
  day: TimeWindow,
): Promise<readonly StreamGroup[]> {
  const groupFor = async (selector: string): Promise<StreamGroup> => {
    const streams = await streamsOf(source, day, selector);
    return { selector, streams, names: labelNamesOf(streams) };
  };
  const asked = selectors.length > 0 ? selectors : coveringSelectors(await streamsOf(source, day));
  const groups = await mapAtOnce(asked, 1, groupFor);
  return groups.filter(({ streams }) => streams.length > 0);
}

/** Splits a window into parts that end at multiples of `sizeNs` in UTC. */
export function timeWindows({ startNs, endNs }: TimeWindow, sizeNs: bigint): readonly TimeWindow[] {
  const windows: TimeWindow[] = [];
  for (let at = startNs; at < endNs; ) {
    const next = at - (((at % sizeNs) + sizeNs) % sizeNs) + sizeNs;
    const end = next < endNs ? next : endNs;
    windows.push({ startNs: at, endNs: end });
    at = end;
  }
  return windows;
}
