/**
 * Passes over pages that cannot hold a line which the query keeps, as far as the filters of their chunks prove it
 * (shared/filter). Pages without a filter stay, and so does a chunk whose filter is broken: its pages say what is true.
 *
 * Equal entries of two chunks have equal lines: where one's page is passed over, no copy of it is in the answer.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ColumnKind, type Footer, SectionKind } from '../chunk/format.ts';
import { probePages, unitsOf } from '../filter/filter-reader.ts';
import { lineRequirement } from '../filter/line-requirements.ts';
import type { Requirement } from '../filter/requirement.ts';
import type { Stage } from '../logql/ast.ts';
import { CorruptionError } from '../model/errors.ts';
import { labelValue } from '../model/labels.ts';
import { sanitizeName } from '../pipeline/text.ts';
import type { ChunkSource } from './chunk-source.ts';
import type { DayPlan, PlannedPage } from './day-plan.ts';
import type { QueryStatistics } from './statistics.ts';

/** Chunks whose filters are asked side by side; each takes a few small reads. */
const CHUNKS_AT_ONCE = 8;
/** Label filters of a query are on a handful of names; more than this are left alone. */
const MAX_NAMES = 16;

export interface TextPruner {
  /** The plan without the pages that cannot matter; the same one where that is none. Throws what the store throws. */
  prune(plan: DayPlan, signal: AbortSignal): Promise<DayPlan>;
}

export function compileTextPruner(
  stages: readonly Stage[],
  source: ChunkSource,
  statistics: QueryStatistics,
): TextPruner {
  // Filters on labels tell of the line only where the label is not stored: that differs from chunk to chunk.
  const names = new Set<string>();
  const anyChunk = lineRequirement(stages, { mayBeStored: name => names.add(name) !== undefined });
  if (names.size > MAX_NAMES) names.clear();
  const byStored = new Map<string, Requirement>();

  function requirementOf(footer: Footer): Requirement {
    if (names.size === 0) return anyChunk;
    const stored = [...names].filter(name => isStored(footer, name));
    const key = JSON.stringify(stored);
    let requirement = byStored.get(key);
    if (requirement === undefined) {
      requirement = lineRequirement(stages, {
        mayBeStored: name => !names.has(name) || stored.includes(name),
      });
      byStored.set(key, requirement);
    }
    return requirement;
  }

  /** The pages that stay. */
  async function ofChunk(pages: readonly PlannedPage[]): Promise<readonly PlannedPage[]> {
    const { record, footer } = pages[0];
    const section = footer.sections.find(({ kind }) => kind === SectionKind.filter);
    if (section === undefined) return pages;
    const requirement = requirementOf(footer);
    if (requirement.kind === 'anything') return pages;
    try {
      const filter = await source.filter(record, footer, section, statistics);
      const units = await filter.units(unitsOf(filter.index, requirement));
      const mayMatch = probePages(filter.index, requirement, units);
      const place = new Map(footer.pages.map((page, i) => [page, i]));
      return pages.filter(({ page }) => mayMatch[place.get(page)!] === 1);
    } catch (error) {
      if (error instanceof CorruptionError) return pages;
      throw error;
    }
  }

  return {
    async prune(plan, signal) {
      if (anyChunk.kind === 'anything' && names.size === 0) return plan;
      const chunks = Map.groupBy(plan.pages, ({ footer }) => footer);
      const lists = [...chunks.values()];
      const left: PlannedPage[] = [];
      for (let i = 0; i < lists.length; i += CHUNKS_AT_ONCE) {
        signal.throwIfAborted();
        for (const pages of await Promise.all(lists.slice(i, i + CHUNKS_AT_ONCE).map(ofChunk))) {
          left.push(...pages);
        }
        await nextTurn();
      }
      if (left.length === plan.pages.length) return plan;
      const kept = new Set(left);
      for (const page of plan.pages) if (!kept.has(page)) countPruned(page, statistics);
      return { ...plan, pages: left };
    },
  };
}

function countPruned({ page }: PlannedPage, { plan }: QueryStatistics): void {
  plan.pagesByText++;
  plan.bytesByText += page.storedBytes;
}

/** True where the label may come from a stream or from metadata. */
function isStored({ streams, pages }: Footer, name: string): boolean {
  // Added to the streams of a query over several tenants.
  if (name === '__tenant_id__') return true;
  if (streams.some(({ labels }) => labelValue(labels, name) !== undefined)) return true;
  return pages.some(({ columns }) =>
    columns.some(
      column =>
        column.kind === ColumnKind.metadata &&
        (column.name === name || sanitizeName('', column.name) === name),
    ),
  );
}
