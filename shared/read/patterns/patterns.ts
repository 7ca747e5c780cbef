/**
 * Finds the patterns of a selector and a range. It uses the patterns stored in chunks, over the whole
 * retention. It mines lines of chunks without patterns, such as the pushes of the last hour, and of pages
 * with hidden entries.
 *
 * Pitfall: stored patterns contain words of lines. The patterns of a page are used only if the caller may see
 * every line of its runs. If a delete request or retention hides one, the page's visible lines are mined
 * instead.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { mapAhead } from '../../base/model/at-once.ts';
import { NS_OF_SECOND, NS_PER_DAY, NS_PER_SECOND } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { PageMeta } from '../../storage/chunk/format.ts';
import { FINE_BUCKET_S } from '../../upkeep/pattern-mining/bounds.ts';
import { type PatternSection, readCounts } from '../../upkeep/pattern-mining/section-codec.ts';
import { StoredPatterns } from '../../upkeep/pattern-mining/stored-patterns.ts';
import type { ChunkSource } from '../query/chunk-source.ts';
import {
  type DayPlan,
  PLANNED_DAYS_AT_ONCE,
  type PlannedPage,
  planDay,
  recordsByDay,
  type TimeRange,
} from '../query/day-plan.ts';
import type { Requester } from '../query/engine.ts';
import { limitRange } from '../query/query-limits.ts';
import { compileSelector } from '../query/selector.ts';
import { newStatistics } from '../query/statistics.ts';
import { type TenantView, tenantViews } from '../query/tenant-view.ts';
import { ALL_VISIBLE, type Visibility, type Visible } from '../query/visibility.ts';
import { minePages, samplePages } from './mine-pages.ts';
import { type FoundPattern, PatternTotals } from './pattern-totals.ts';

export type { FoundPattern } from './pattern-totals.ts';

/** Maximum sections read at once. */
const SECTIONS_AT_ONCE = 8;

interface PatternsParts {
  readonly catalog: Catalog;
  readonly source: ChunkSource;
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Default: everything stored counts. */
  readonly visibility?: Visibility;
}

interface PatternQuery {
  readonly matchers: readonly Matcher[];
  readonly range: TimeRange;
  readonly stepNs: bigint;
}

interface PatternScan extends Pick<PatternQuery, 'matchers' | 'range'> {
  readonly totals: PatternTotals;
  readonly signal: AbortSignal;
}

export class Patterns {
  readonly #parts: PatternsParts;
  readonly #stored: StoredPatterns;

  constructor(parts: PatternsParts) {
    this.#parts = parts;
    this.#stored = new StoredPatterns(parts.store);
  }

  /**
   * Returns patterns sorted by lines, descending, or none if the range is entirely outdated. Throws
   * ClientError, and errors of the stores.
   */
  async find({ matchers, range, stepNs }: PatternQuery, requester: Requester): Promise<FoundPattern[]> {
    const { tenants, signal } = requester;
    const nowNs = this.#parts.clock.nowNs();
    const allowed = limitRange(range, requester, nowNs);
    if (allowed === undefined) return [];
    const visibleOf = (await this.#parts.visibility?.of(tenants, nowNs)) ?? (() => ALL_VISIBLE);
    const stepS = Math.max(1, Number(stepNs / NS_PER_SECOND));
    const totals = new PatternTotals(stepS);
    for (const view of tenantViews(tenants, matchers)) {
      await this.#patternsOfTenant(
        { matchers, range: allowed, totals, signal },
        view,
        visibleOf(view.tenant),
      );
    }
    return totals.finish();
  }

  async #patternsOfTenant(work: PatternScan, view: TenantView, visible: Visible): Promise<void> {
    const { catalog, source } = this.#parts;
    const { range, signal } = work;
    const selector = compileSelector(view.storedMatchers(work.matchers));
    const statistics = newStatistics();
    const days = await recordsByDay(catalog, view.tenant, range, false, statistics);
    const width = source.isDistant ? PLANNED_DAYS_AT_ONCE : 1;
    const planned = mapAhead(days, { width }, async ({ day, records }) => {
      const plan = await planDay(source, day, records, selector, range, statistics, signal, visible);
      if (source.isDistant) await this.#readAhead(plan);
      return { day, plan };
    });
    for await (const { day, plan } of planned) {
      const uncovered = await this.#addStored(plan, work);
      if (uncovered.length === 0) continue;
      const context = { source, statistics, signal, shown: view.shown };
      const { totals } = work;
      const dayS = secondOf(day);
      await minePages(
        context,
        plan,
        samplePages(uncovered),
        key => totals.numberOf(key),
        (template, level, second, lines) => totals.add(template, level, dayS + second, lines),
      );
    }
  }

  /** Reads stored patterns into the cache while earlier days are added up. */
  async #readAhead({ pages }: DayPlan): Promise<void> {
    const chunks = new Map(pages.map(page => [page.record.id, page]));
    const some = [...chunks.values()].slice(0, SECTIONS_AT_ONCE);
    await Promise.all(some.map(({ record, footer }) => this.#stored.of(record, footer)));
  }

  /** Adds stored patterns. Returns the pages that they do not cover. */
  async #addStored(plan: DayPlan, work: PatternScan): Promise<PlannedPage[]> {
    const uncovered: PlannedPage[] = [];
    const byChunk = new Map<string, PlannedPage[]>();
    for (const page of plan.pages) {
      if (!isAllVisible(page, plan)) {
        uncovered.push(page);
        continue;
      }
      const ofChunk = byChunk.get(page.record.id);
      if (ofChunk === undefined) byChunk.set(page.record.id, [page]);
      else ofChunk.push(page);
    }
    const chunks = [...byChunk.values()];
    for (let i = 0; i < chunks.length; i += SECTIONS_AT_ONCE) {
      work.signal.throwIfAborted();
      const some = chunks.slice(i, i + SECTIONS_AT_ONCE);
      const sections = await Promise.all(some.map(([{ record, footer }]) => this.#stored.of(record, footer)));
      for (const [j, pages] of some.entries()) {
        const section = sections[j];
        if (section === undefined) uncovered.push(...pages);
        else addSection(section, pages, plan, work.totals);
        await nextTurn();
      }
    }
    return uncovered;
  }
}

/** Whether nothing in the page's runs is hidden. */
function isAllVisible({ deleteFilter, runs, footer }: PlannedPage, { kept }: DayPlan): boolean {
  if (deleteFilter !== undefined) return false;
  return (
    kept === undefined || runs.every(run => run.first >= kept.keptFrom(footer.streams[run.stream].labels))
  );
}

function addSection(
  section: PatternSection,
  pages: readonly PlannedPage[],
  { day, from, to }: DayPlan,
  totals: PatternTotals,
): void {
  const dayS = secondOf(day);
  const firstSecond = Math.floor(from / NS_OF_SECOND / FINE_BUCKET_S) * FINE_BUCKET_S;
  const numbers = new Int32Array(section.templates.length).fill(-2);
  const indexOf = new Map<PageMeta, number>(pages[0].footer.pages.map((page, index) => [page, index]));
  for (const { page, runs } of pages) {
    const wanted = new Set(runs);
    const isWanted = (run: number) => wanted.has(page.runs[run]);
    readCounts(section.pages[indexOf.get(page)!], isWanted, (template, level, second, lines) => {
      if (second < firstSecond || second * NS_OF_SECOND >= to) return;
      if (numbers[template] === -2) numbers[template] = totals.numberOf(section.templates[template]);
      totals.add(numbers[template], level, dayS + second, lines);
    });
  }
}

function secondOf(day: number): number {
  return Number((BigInt(day) * NS_PER_DAY) / NS_PER_SECOND);
}
