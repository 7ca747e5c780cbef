/**
 * Prunes pages that cannot contain an entry which the query returns, as far as their chunks prove it
 * (shared/execution/text-index), or earlier searches of their lines (filtered-rows.ts).
 * Lines are checked by the terms of the text index. Labels are checked by streams, metadata dictionaries in
 * the footer, summaries of field columns, and values in the text index.
 * Pages without such data stay. So do pages of a chunk with a corrupt index: their content decides.
 *
 * Equal entries of two chunks have equal lines and metadata. If a page of one is pruned, no copy of the entry
 * is returned.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CorruptionError } from '../../base/model/errors.ts';
import { soughtFilter } from '../../execution/pipeline/page-filters.ts';
import { labelSummaryOf } from '../../execution/text-index/chunk-label-summary.ts';
import { probePages, unitsOf, withoutFilter } from '../../execution/text-index/filter-reader.ts';
import {
  labelsPredicate,
  linePredicate,
  storedLineFilters,
} from '../../execution/text-index/line-predicate.ts';
import { allOf, type PruningPredicate } from '../../execution/text-index/pruning-predicate.ts';
import type { PageSummary } from '../../execution/text-index/summary-codec.ts';
import type { Stage } from '../../language/logql/ast.ts';
import type { ChunkRecord, TextIndexPosition } from '../../storage/catalog/chunk-record.ts';
import { type Footer, SectionKind } from '../../storage/chunk/format.ts';
import type { ChunkFilter, ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { StreamSelector } from './selector.ts';
import type { QueryStatistics } from './statistics.ts';

/** Chunks whose text indexes are checked concurrently. Each takes a few small reads. */
const CHUNKS_AT_ONCE = 8;
const DISTANT_CHUNKS_AT_ONCE = 64;
/** Time after which other work may run, ms. */
const TURN_MS = 1;
/** Pages without a text index between two looks at the clock. Searching one takes up to 0.1 ms. */
const PAGES_A_CHECK = 8;

/**
 * Text indexes of a day that are read next to their footers. Each takes about 200 KB until its chunk is
 * pruned. Queries of more chunks read the indexes first (pruned-plan.ts).
 */
const READ_AHEAD_CHUNKS = 16;

export interface TextPruner {
  /** Whether it can prune. If not, it reads nothing. */
  readonly prunes: boolean;
  /** Whether it can prune chunks by their records and text indexes, without footers. */
  readonly prunesChunks: boolean;
  /**
   * Searches new chunks whose lines are all in memory, and returns the chunks without those that lack a text which matching
   * lines contain. They then need no plan. Throws CorruptionError.
   */
  searchNew(
    records: readonly ChunkRecord[],
    selector: StreamSelector,
    signal: AbortSignal,
  ): Promise<readonly ChunkRecord[]>;
  /** Starts to read text indexes whose positions are in the records, for `prune`. Never fails. */
  readAhead(records: readonly ChunkRecord[]): EarlyIndexReads;
  /**
   * Returns the chunks that may have an entry, without reading footers. Throws errors of the store.
   */
  possible(records: readonly ChunkRecord[], signal: AbortSignal): Promise<readonly ChunkRecord[]>;
  /**
   * Returns the plan without the pages that cannot matter, or the same plan if that is none. Throws errors of
   * the store.
   */
  prune(plan: DayPlan, signal: AbortSignal, ahead?: EarlyIndexReads): Promise<DayPlan>;
}

/** Text index of a chunk, and some of its units. */
interface ReadIndex {
  readonly filter: ChunkFilter;
  readonly units: ReadonlyMap<number, Buffer>;
}

/** Text indexes whose reads began before their footers were known. Failed ones are undefined. */
export type EarlyIndexReads = ReadonlyMap<ChunkRecord, Promise<ReadIndex | undefined>>;

/** 1 for each page of a chunk that may match. */
interface Verdicts {
  readonly text: Uint8Array;
  readonly values: Uint8Array;
}

export function compileTextPruner(
  stages: readonly Stage[],
  source: ChunkSource,
  statistics: QueryStatistics,
): TextPruner {
  const line = linePredicate(stages);
  const filters = storedLineFilters(stages).map(soughtFilter);
  const readsLabels = stages.some(({ kind }) => kind === 'labelFilter');
  const readsFields = readsLabels && stages.some(({ kind }) => kind === 'json' || kind === 'logfmt');

  async function summariesOf({ record, footer }: PlannedPage): Promise<readonly PageSummary[]> {
    const section = footer.sections.find(({ kind }) => kind === SectionKind.summaries);
    if (!readsFields || section === undefined) return [];
    try {
      return await source.pageSummaries(record, footer, section, statistics);
    } catch (error) {
      if (error instanceof CorruptionError) return [];
      throw error;
    }
  }

  async function labelsOf(pages: readonly PlannedPage[]): Promise<PruningPredicate> {
    const { streams, pages: all } = pages[0].footer;
    const planned = new Map(pages.map(({ page, runs }) => [page, runs]));
    return labelsPredicate(
      stages,
      labelSummaryOf({ streams, pages: all, planned, summaries: await summariesOf(pages[0]) }),
    );
  }

  /** Reads a text index, or what is missing of one that was read ahead. */
  async function read(
    record: ChunkRecord,
    position: TextIndexPosition,
    predicate: PruningPredicate,
    ahead?: EarlyIndexReads,
  ): Promise<ReadIndex> {
    const known = await ahead?.get(record);
    const filter = known?.filter ?? (await source.filter(record, position, predicate, statistics));
    const missing = unitsOf(filter.index, predicate).filter(unit => known?.units.has(unit) !== true);
    return { filter, units: new Map([...(known?.units ?? []), ...(await filter.units(missing))]) };
  }

  /** Whether a chunk may have a line that the query returns. */
  async function mayHaveLine(record: ChunkRecord): Promise<boolean> {
    const { textIndex } = record;
    if (textIndex === undefined) return true;
    try {
      const { filter, units } = await read(record, textIndex, line);
      return probePages(filter.index, line, units).includes(1);
    } catch (error) {
      // As with its pages: the content decides.
      if (error instanceof CorruptionError) return true;
      throw error;
    }
  }

  function countPruned({ storedBytes, footerBytes, textIndex }: ChunkRecord): void {
    const { plan } = statistics;
    const bytes = storedBytes - footerBytes;
    const pages = textIndex?.pages ?? 0;
    plan.chunks++;
    plan.pages += pages;
    plan.pageBytes += bytes;
    plan.pagesByText += pages;
    plan.bytesByText += bytes;
  }

  /** Returns undefined if nothing can be pruned. */
  async function ofChunk(
    pages: readonly PlannedPage[],
    ahead: EarlyIndexReads | undefined,
  ): Promise<Verdicts | undefined> {
    const { record, footer } = pages[0];
    const labels: PruningPredicate = readsLabels ? await labelsOf(pages) : { kind: 'anything' };
    const predicate = allOf([line, labels]);
    if (predicate.kind === 'anything') return undefined;
    const known = withoutFilter(labels, footer.pages.length);
    const text = new Uint8Array(footer.pages.length).fill(1);
    const section = footer.sections.find(({ kind }) => kind === SectionKind.filter);
    if (section === undefined || indexesOf(pages).every(index => known[index] === 0)) {
      return { text, values: known };
    }
    try {
      const { offset, storedBytes } = section.block;
      const index = { offset, storedBytes, pages: footer.pages.length };
      const { filter, units } = await read(record, index, predicate, ahead);
      return {
        text: probePages(filter.index, line, units),
        values: probePages(filter.index, labels, units),
      };
    } catch (error) {
      if (error instanceof CorruptionError) return { text, values: known };
      throw error;
    }
  }

  /** Whether lines of a page may pass, as far as they are in memory, or earlier queries have searched them. */
  function mayPass({ record, page, runs }: PlannedPage): boolean {
    if (filters.length === 0 || !source.excludes(record, page, filters, runs)) return true;
    statistics.plan.pagesByText++;
    statistics.plan.bytesByText += page.storedBytes;
    return false;
  }

  /** Returns a function that lets other work run if TURN_MS have passed since. */
  function turns(signal: AbortSignal): () => Promise<void> {
    let turnMs = source.scheduler.nowMs();
    return async () => {
      if (source.scheduler.nowMs() - turnMs < TURN_MS) return;
      await nextTurn();
      signal.throwIfAborted();
      turnMs = source.scheduler.nowMs();
    };
  }

  const searches = filters.some(({ search }) => search !== undefined);
  const prunes = line.kind !== 'anything' || readsLabels;
  /** Whether labels or a text index may exclude pages of a chunk. Chunks of pushes have no text index. */
  const hasVerdicts = ({ sections }: Footer): boolean =>
    readsLabels || (prunes && sections.some(({ kind }) => kind === SectionKind.filter));
  const atOnce = source.isDistant ? DISTANT_CHUNKS_AT_ONCE : CHUNKS_AT_ONCE;
  return {
    prunes,
    prunesChunks: line.kind !== 'anything',

    async searchNew(records, selector, signal) {
      if (!searches) return records;
      const giveWay = turns(signal);
      const left: ChunkRecord[] = [];
      for (let i = 0; i < records.length; i++) {
        const record = records[i];
        // A merged chunk has a text index, which takes less time than a search.
        const isNew = record.level === 0;
        if (!isNew || !source.excludesChunk(record, filters, selector, statistics)) left.push(record);
        if (i % PAGES_A_CHECK === 0) await giveWay();
      }
      return left.length === records.length ? records : left;
    },

    readAhead(records) {
      const ahead = new Map<ChunkRecord, Promise<ReadIndex | undefined>>();
      for (const record of line.kind === 'anything' ? [] : records.slice(0, READ_AHEAD_CHUNKS)) {
        const { textIndex } = record;
        if (textIndex === undefined || source.tailHasTextIndex(record)) continue;
        // A failure is reported when the index is read again.
        const index = read(record, textIndex, line).catch(() => undefined);
        ahead.set(record, index);
      }
      return ahead;
    },

    async possible(records, signal) {
      const verdicts: boolean[] = [];
      for (let i = 0; i < records.length; i += atOnce) {
        signal.throwIfAborted();
        verdicts.push(...(await Promise.all(records.slice(i, i + atOnce).map(mayHaveLine))));
        await nextTurn();
      }
      return records.filter((record, i) => {
        if (!verdicts[i]) countPruned(record);
        return verdicts[i];
      });
    },

    async prune(plan, signal, ahead) {
      if (!prunes && filters.length === 0) return plan;
      const giveWay = turns(signal);
      const indexed: PlannedPage[] = [];
      const left: PlannedPage[] = [];
      for (const [i, page] of plan.pages.entries()) {
        if (hasVerdicts(page.footer)) indexed.push(page);
        else if (mayPass(page)) left.push(page);
        if (i % PAGES_A_CHECK === 0) await giveWay();
      }
      const lists = [...Map.groupBy(indexed, ({ footer }) => footer).values()];
      for (let i = 0; i < lists.length; i += atOnce) {
        signal.throwIfAborted();
        const some = lists.slice(i, i + atOnce);
        for (const [j, verdicts] of (await Promise.all(some.map(pages => ofChunk(pages, ahead)))).entries()) {
          left.push(...kept(some[j], verdicts, statistics).filter(mayPass));
        }
        await giveWay();
      }
      if (left.length === plan.pages.length) return plan;
      const stays = new Set(left);
      return { ...plan, pages: plan.pages.filter(page => stays.has(page)) };
    },
  };
}

/** Returns the indexes of pages of one chunk among all of its pages. */
function indexesOf(pages: readonly PlannedPage[]): number[] {
  const all = pages[0].footer.pages;
  let at = -1;
  return pages.map(({ page }) => {
    // Planned pages are in the order of the chunk.
    at = all.indexOf(page, at + 1);
    if (at < 0) at = all.indexOf(page);
    return at;
  });
}

/** Returns the pages that stay, and counts the others. */
function kept(
  pages: readonly PlannedPage[],
  verdicts: Verdicts | undefined,
  { plan }: QueryStatistics,
): readonly PlannedPage[] {
  if (verdicts === undefined) return pages;
  const indexes = indexesOf(pages);
  return pages.filter(({ page }, i) => {
    const at = indexes[i];
    if (verdicts.text[at] === 0) {
      plan.pagesByText++;
      plan.bytesByText += page.storedBytes;
      return false;
    }
    if (verdicts.values[at] === 0) {
      plan.pagesByValues++;
      plan.bytesByValues += page.storedBytes;
      return false;
    }
    return true;
  });
}
