/**
 * Label names, label values and series: the streams with an entry in the range, exactly those. Answered from indexes and
 * footers, and from timestamps where a range begins or ends inside a minute; never from lines.
 */

import { mapAhead } from '../../base/model/at-once.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { labelValue } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { Day } from '../../storage/catalog/day-item.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import type { DayIndex } from '../../storage/index/day-index.ts';
import type { DayRetention } from '../../upkeep/retention/day-retention.ts';
import type { ChunkSource } from './chunk-source.ts';
import { DAYS_AT_ONCE, insideDay, type TimeRange } from './day-plan.ts';
import { compileSelector, type StreamSelector } from './selector.ts';
import { newStatistics } from './statistics.ts';
import { checkFound, presentStreams } from './stream-presence.ts';
import type { DayInterval } from './stream-presence-verdict.ts';
import { type TenantView, tenantViews } from './tenant-view.ts';
import { ALL_VISIBLE, keptOfDay, type VisibleOf } from './visibility.ts';

export interface StreamsRequest {
  readonly tenants: readonly string[];
  readonly range: TimeRange;
  /** Selectors of which a stream matches at least one; none means every stream. */
  readonly selectors: readonly (readonly Matcher[])[];
  readonly signal: AbortSignal;
  /** By default nothing is expired. */
  readonly visibleOf?: VisibleOf;
}

/** What gives the index of a day; it changes the cost of an answer, never the answer. */
export interface DayIndexProvider {
  /** Undefined where the day has none. */
  ofDay(tenant: string, day: Day): Promise<DayIndex | undefined>;
}

/** For fewer chunks of a day, footers are as few reads as an index. */
const MIN_INDEXED_CHUNKS = 4;

/** The streams as the query sees them, each once, in order of their text. Throws BadRequestError where there are too many. */
export async function findStreams(
  catalog: Pick<Catalog, 'daysForQuery'>,
  source: ChunkSource,
  request: StreamsRequest,
  indexes?: DayIndexProvider,
): Promise<Stream[]> {
  const found = new Map<string, Stream>();
  const add = (stream: Stream): void => {
    found.set(stream.text, stream);
    checkFound(found.size, 'streams');
  };
  await visitStreams(catalog, source, request, indexes, add);
  return [...found.values()].sort((a, b) => compareUtf8(a.text, b.text));
}

/**
 * Shows the streams as the query sees them, each at least once and at most twice a day, in no order: what is kept of them
 * is the visitor's choice. Throws as findStreams does, where there are too many of one day, and what `visit` throws.
 */
export async function visitStreams(
  catalog: Pick<Catalog, 'daysForQuery'>,
  source: ChunkSource,
  { tenants, range, selectors, signal, visibleOf = () => ALL_VISIBLE }: StreamsRequest,
  indexes: DayIndexProvider | undefined,
  visit: (stream: Stream) => void,
): Promise<void> {
  const width = source.isDistant ? DAYS_AT_ONCE : 1;
  for (const { view, selector } of tenantSearches(tenants, selectors)) {
    const days = await catalog.daysForQuery(view.tenant, range.startNs, range.endNs - 1n);
    const streamsOf = async (day: DaySnapshot): Promise<Stream[][]> => {
      const { records } = day;
      if (records.length === 0) return [];
      const index = records.length < MIN_INDEXED_CHUNKS ? undefined : await indexes?.ofDay(view.tenant, day);
      const stretch = insideDay(day.day, range);
      const kept = keptOfDay(visibleOf(view.tenant), day.day);
      const statistics = newStatistics();
      const found: Stream[][] = [];
      for (const part of partsOf(stretch, selector, kept)) {
        found.push(await presentStreams({ ...part, source, records, index, statistics, signal }));
      }
      return found;
    };
    for await (const lists of mapAhead(days, { width }, streamsOf)) {
      for (const streams of lists) for (const stream of streams) visit(view.shown(stream));
    }
  }
}

/** Streams with one retention each are looked for together, in what is kept of them. */
function partsOf(
  { from, to }: DayInterval,
  selector: StreamSelector,
  kept: DayRetention | undefined,
): (DayInterval & { readonly selector: StreamSelector })[] {
  if (kept === undefined) return [{ from, to, selector }];
  const starts = kept.starts.filter(start => start < to);
  return starts.map(start => ({
    from: Math.max(from, start),
    to,
    selector: {
      matches: stream => kept.keptFrom(stream.labels) === start && selector.matches(stream),
      mayMatch: sketch => selector.mayMatch(sketch),
    },
  }));
}

interface TenantSearch {
  readonly view: TenantView;
  readonly selector: StreamSelector;
}

/** One search of each tenant for all selectors that ask for it. */
function tenantSearches(
  tenants: readonly string[],
  selectors: StreamsRequest['selectors'],
): readonly TenantSearch[] {
  const byTenant = new Map<string, { readonly view: TenantView; readonly any: StreamSelector[] }>();
  for (const selector of selectors.length === 0 ? [[]] : selectors) {
    for (const view of tenantViews(tenants, selector)) {
      const compiled = compileSelector(view.storedMatchers(selector));
      const search = byTenant.get(view.tenant);
      if (search === undefined) byTenant.set(view.tenant, { view, any: [compiled] });
      else search.any.push(compiled);
    }
  }
  return [...byTenant.values()].map(({ view, any }) => ({ view, selector: anyOf(any) }));
}

function anyOf(selectors: readonly StreamSelector[]): StreamSelector {
  if (selectors.length === 1) return selectors[0];
  return {
    matches: stream => selectors.some(selector => selector.matches(stream)),
    mayMatch: sketch => selectors.some(selector => selector.mayMatch(sketch)),
  };
}

/** Gathers label names of streams. */
export class LabelNames {
  readonly #names = new Set<string>();

  readonly add = ({ labels }: Stream): void => {
    for (const { name } of labels) this.#names.add(name);
  };

  /** Ascending. */
  list(): string[] {
    return [...this.#names].sort(compareUtf8);
  }
}

/** Gathers the values that one label has in streams. */
export class LabelValues {
  readonly #name: string;
  readonly #values = new Set<string>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Throws BadRequestError where there are too many values. */
  readonly add = ({ labels }: Stream): void => {
    const value = labelValue(labels, this.#name);
    if (value === undefined) return;
    this.#values.add(value);
    checkFound(this.#values.size, 'values');
  };

  /** Ascending. */
  list(): string[] {
    return [...this.#values].sort(compareUtf8);
  }
}

/** Label names, ascending. */
export function labelNames(streams: readonly Stream[]): string[] {
  const names = new LabelNames();
  streams.forEach(names.add);
  return names.list();
}

/** Values of one label, ascending. */
export function labelValues(streams: readonly Stream[], name: string): string[] {
  const values = new LabelValues(name);
  streams.forEach(values.add);
  return values.list();
}
