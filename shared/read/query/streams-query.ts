/**
 * Answers label names, label values and series: exactly the streams with an entry in the range. It uses day
 * indexes and footers, and timestamps if a range begins or ends inside a minute, but never lines.
 */

import { mapAhead } from '../../base/model/at-once.ts';
import { compareUtf8 } from '../../base/model/bytes.ts';
import { labelValue } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import type { Matcher } from '../../language/logql/ast.ts';
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { DaySnapshot } from '../../storage/catalog/day-snapshot.ts';
import type { IndexOfDay } from '../../storage/index/joined-index.ts';
import type { DayRetention } from '../../upkeep/retention/day-retention.ts';
import type { ChunkSource } from './chunk-source.ts';
import { insideDay, PLANNED_DAYS_AT_ONCE, type TimeRange } from './day-plan.ts';
import { compileSelector, type StreamSelector } from './selector.ts';
import { newStatistics } from './statistics.ts';
import { checkFound, presentStreams } from './stream-presence.ts';
import type { DayInterval } from './stream-presence-verdict.ts';
import { type TenantView, tenantViews } from './tenant-view.ts';
import { ALL_VISIBLE, keptOfDay, type VisibleOf } from './visibility.ts';

export interface StreamsRequest {
  readonly tenants: readonly string[];
  readonly range: TimeRange;
  /** Selectors, of which a stream matches at least one. Empty matches every stream. */
  readonly selectors: readonly (readonly Matcher[])[];
  readonly signal: AbortSignal;
  /** Default: nothing is expired. */
  readonly visibleOf?: VisibleOf;
}

/** Provides the index of a day, which changes the cost of a request but never its result. */
export interface DayIndexProvider {
  /** Returns undefined if the day has no index. */
  indexOfDay(tenant: string, day: DaySnapshot): Promise<IndexOfDay | undefined>;
}

/** Minimum chunks of a day for the index. For fewer, reading footers takes as few reads. */
const MIN_INDEXED_CHUNKS = 4;

/**
 * Returns the streams as the query sees them, each once, in order of their text. Throws BadRequestError if
 * there are too many.
 */
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
 * Visits the streams as the query sees them, each at least once and at most twice a day, in no order. Throws
 * as findStreams if one day has too many, and errors of `visit`.
 */
export async function visitStreams(
  catalog: Pick<Catalog, 'daysForQuery'>,
  source: ChunkSource,
  { tenants, range, selectors, signal, visibleOf = () => ALL_VISIBLE }: StreamsRequest,
  indexes: DayIndexProvider | undefined,
  visit: (stream: Stream) => void,
): Promise<void> {
  const width = source.isDistant ? PLANNED_DAYS_AT_ONCE : 1;
  for (const { view, selector } of tenantSearches(tenants, selectors)) {
    const days = await catalog.daysForQuery(view.tenant, range.startNs, range.endNs - 1n);
    const streamsOf = async (day: DaySnapshot): Promise<Stream[][]> => {
      const { records } = day;
      if (records.length === 0) return [];
      const index =
        records.length < MIN_INDEXED_CHUNKS ? undefined : await indexes?.indexOfDay(view.tenant, day);
      const interval = insideDay(day.day, range);
      const kept = keptOfDay(visibleOf(view.tenant), day.day);
      const statistics = newStatistics();
      const found: Stream[][] = [];
      for (const part of partsOf(interval, selector, kept)) {
        found.push(await presentStreams({ ...part, source, records, index, statistics, signal }));
      }
      return found;
    };
    for await (const lists of mapAhead(days, { width }, streamsOf)) {
      for (const streams of lists) for (const stream of streams) visit(view.shown(stream));
    }
  }
}

/** Groups streams by retention, and searches each group in its retained interval. */
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

/** Returns one search per tenant for all selectors that match it. */
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

/** Collects label names of streams. */
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

/** Collects the values of one label of streams. */
export class LabelValues {
  readonly #name: string;
  readonly #values = new Set<string>();

  constructor(name: string) {
    this.#name = name;
  }

  /** Throws BadRequestError if there are too many values. */
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
