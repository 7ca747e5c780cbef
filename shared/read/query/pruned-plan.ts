/**
 * Plans the pages of one day, and prunes them by text. Over a distant store, text indexes are not read after
 * the footers:
 *
 *     few footers      footers ‖ text indexes ──▶ pages        one round less
 *     many footers     text indexes ──▶ footers of the chunks that are left ──▶ pages
 *
 * New chunks have no text index, but their lines are in memory. Chunks without the text are skipped
 * first, so nothing is planned for them.
 *
 * Footers are a thousandth of the lines. A rare text is in few chunks, so a query for it over a terabyte does
 * not read and decode a gigabyte of footers.
 */
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { ChunkSource } from './chunk-source.ts';
import { type DayPlan, type DayRecords, planDay, type TimeRange } from './day-plan.ts';
import type { StreamSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';
import type { EarlyIndexReads, TextPruner } from './text-prune.ts';
import type { Visible } from './visibility.ts';

interface DayToPlan {
  readonly source: ChunkSource;
  readonly selector: StreamSelector;
  readonly range: TimeRange;
  readonly visible: Visible;
  readonly pruner: TextPruner;
  readonly statistics: QueryStatistics;
  readonly signal: AbortSignal;
}

interface PrunedPlan {
  /** Plan before pruning by text, of chunks whose footers were read. */
  readonly all: DayPlan;
  readonly plan: DayPlan;
}

export async function planPruned(
  { source, selector, range, visible, pruner, statistics, signal }: DayToPlan,
  { day, records }: Pick<DayRecords, 'day' | 'records'>,
): Promise<PrunedPlan> {
  let left = await pruner.searchNew(records, selector, signal);
  let ahead: EarlyIndexReads | undefined;
  if (source.isDistant && pruner.prunesChunks) {
    const matching = left.filter(({ pairs }) => selector.mayMatch(pairs));
    if (footerBytesOf(matching) < source.manyFooterBytes) ahead = pruner.readAhead(matching);
    else {
      const possible = new Set(await pruner.possible(matching, signal));
      const pruned = new Set(matching.filter(record => !possible.has(record)));
      left = left.filter(record => !pruned.has(record));
    }
  }
  const all = await planDay(source, day, left, selector, range, statistics, signal, visible, pruner.prunes);
  return { all, plan: await pruner.prune(all, signal, ahead) };
}

/** Size of the footers that the text index may save. */
function footerBytesOf(records: readonly ChunkRecord[]): number {
  return records.reduce((sum, { textIndex, footerBytes }) => sum + (textIndex ? footerBytes : 0), 0);
}
