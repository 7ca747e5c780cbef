/**
 * Searches timestamps as a last resort: only for streams with entries before and after the interval in one
 * run, and not found in another chunk. Only timestamp columns are read.
 */

import { lowerBound } from '../../base/model/binary-search.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { Footer, PageMeta, RunMeta } from '../../storage/chunk/format.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { QueryStatistics } from './statistics.ts';
import { boundsVerdict, type DayInterval, Verdict } from './stream-presence-verdict.ts';

/** Maximum pages read at once. On S3 each takes 30 ms, and unpacked timestamps need 0.5 MB each. */
const PAGES_AT_ONCE = 8;
const TIMES_ONLY = { lines: 'none', metadata: new Set<string>() } as const;

interface PageSearch extends DayInterval {
  readonly source: ChunkSource;
  readonly statistics: QueryStatistics;
  readonly signal: AbortSignal;
  /** Whether the stream with this canonical text is known to have an entry. `found` adds streams. */
  isKnown(text: string): boolean;
  found(text: string): void;
}

interface PageWithRuns {
  readonly page: PageMeta;
  readonly runs: readonly RunMeta[];
}

/** Searches the streams of one chunk with these texts. Throws errors of the store, and CorruptionError. */
export async function searchPages(
  search: PageSearch,
  record: ChunkRecord,
  texts: ReadonlySet<string>,
): Promise<void> {
  const { source, signal, statistics } = search;
  if ([...texts].every(text => search.isKnown(text))) return;
  const footer = await source.footer(record);
  const pages = openPages(search, footer, texts);
  for (let i = 0; i < pages.length; i += PAGES_AT_ONCE) {
    signal.throwIfAborted();
    const some = pages.slice(i, i + PAGES_AT_ONCE).map(one => stillOpen(search, footer, one));
    await Promise.all(
      some.map(async ({ page, runs }) => {
        if (runs.length === 0) return;
        const { times } = await source.page(record, footer, page, TIMES_ONLY, statistics);
        for (const run of runs) {
          if (hasTime(times, run, page.base, search)) search.found(footer.streams[run.stream].text);
        }
      }),
    );
  }
}

/**
 * Returns pages with runs that only timestamps can decide. Runs that their bounds decide are reported at
 * once.
 */
function openPages(search: PageSearch, footer: Footer, texts: ReadonlySet<string>): PageWithRuns[] {
  const { from, to } = search;
  const wanted = footer.streams.map(({ text }) => texts.has(text) && !search.isKnown(text));
  const pages: PageWithRuns[] = [];
  for (const page of footer.pages) {
    const runs: RunMeta[] = [];
    for (const run of page.runs) {
      if (!wanted[run.stream]) continue;
      const verdict = boundsVerdict(run.first, run.last, from, to);
      if (verdict === Verdict.present) search.found(footer.streams[run.stream].text);
      else if (verdict === Verdict.open) runs.push(run);
    }
    if (runs.length > 0) pages.push({ page, runs });
  }
  return pages;
}

function stillOpen(search: PageSearch, footer: Footer, { page, runs }: PageWithRuns): PageWithRuns {
  return { page, runs: runs.filter(run => !search.isKnown(footer.streams[run.stream].text)) };
}

/** Whether a row of the run is in the interval. Rows of a run ascend by time. */
function hasTime(times: Float64Array, run: RunMeta, base: number, { from, to }: DayInterval): boolean {
  const end = run.firstRow + run.rows;
  const row = lowerBound(times, run.firstRow, end, from - base);
  return row < end && base + times[row] < to;
}
