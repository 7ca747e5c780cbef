/**
 * Mines patterns of pages without stored ones, or with hidden entries, from their visible lines. A client
 * waits meanwhile, so the number of pages is limited. If there are more, each page read represents its
 * neighbors in time: its lines count as many times as their rows require.
 */

import { LEVEL_NAME } from '../../storage/chunk/format.ts';
import { MINED_BYTES, MINED_PAGES } from '../../upkeep/pattern-mining/bounds.ts';
import { levelsOfPage } from '../../upkeep/pattern-mining/levels.ts';
import { PatternBuilder } from '../../upkeep/pattern-mining/pattern-builder.ts';
import { type CountSink, readCounts } from '../../upkeep/pattern-mining/section-codec.ts';
import type { DayPlan, PlannedPage } from '../query/day-plan.ts';
import { Overlaps } from '../query/overlaps.ts';
import { type ScanContext, scanPages } from '../query/scan.ts';

const WANTS = { lines: 'bytes', metadata: new Set([LEVEL_NAME]) } as const;

/** A page and its weight. */
interface Sampled {
  readonly page: PlannedPage;
  readonly weight: number;
}

/** Selects the pages to mine, by time. */
export function samplePages(
  pages: readonly PlannedPage[],
  { maxBytes = MINED_BYTES, maxPages = MINED_PAGES } = {},
): Sampled[] {
  const bytes = pages.reduce((sum, { page }) => sum + page.lineBytes, 0);
  const each = Math.max(1, Math.ceil(bytes / maxBytes), Math.ceil(pages.length / maxPages));
  const byTime = pages.toSorted((a, b) => a.first - b.first || a.last - b.last);
  const sampled: Sampled[] = [];
  for (let i = 0; i < byTime.length; i += each) {
    const group = byTime.slice(i, i + each);
    const page = group[group.length >> 1];
    const rows = group.reduce((sum, one) => sum + rowsOf(one), 0);
    sampled.push({ page, weight: rows / rowsOf(page) });
  }
  return sampled;
}

function rowsOf({ runs }: PlannedPage): number {
  return runs.reduce((sum, { rows }) => sum + rows, 0);
}

/**
 * Mines pages of a plan. `sink` receives templates by the number that `numberOf` returns. Throws errors of
 * scanPages.
 */
export async function minePages(
  context: ScanContext,
  plan: DayPlan,
  sampled: readonly Sampled[],
  numberOf: (key: string) => number,
  sink: CountSink,
): Promise<void> {
  const builder = new PatternBuilder();
  const weights: number[] = [];
  const weightOf = new Map(sampled.map(({ page, weight }) => [page, weight]));
  const pages = sampled.map(({ page }) => page);
  const overlaps = new Overlaps({ ...plan, pages }, context.source, context.statistics);
  await scanPages(context, plan, pages, overlaps, WANTS, {
    wants: () => true,
    visit: (rows, selection, count, planned) => {
      const passed = new Uint8Array(rows.rows).fill(1);
      for (let i = 0; i < count; i++) passed[selection[i]] = 0;
      const { lines, lineOffsets, runs, times } = rows;
      const levels = levelsOfPage(rows.metadata, rows.rows);
      builder.addPage({ lines, lineOffsets, runs, times, base: planned.page.base, levels, passed });
      weights.push(weightOf.get(planned)!);
    },
  });
  const section = builder.section();
  if (section === undefined) return;
  const numbers = section.templates.map(numberOf);
  for (const [i, part] of section.pages.entries()) {
    readCounts(
      part,
      () => true,
      (template, level, second, lines) => sink(numbers[template], level, second, lines * weights[i]),
    );
  }
}
