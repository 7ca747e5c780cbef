/** Label names, label values and series: answered from footers, never from lines. */
import type { Catalog } from '../catalog/catalog.ts';
import type { Matcher } from '../logql/ast.ts';
import { compareUtf8 } from '../model/bytes.ts';
import { type Labels, labelValue } from '../model/labels.ts';
import type { Stream } from '../model/page.ts';
import type { ChunkSource } from './chunk-source.ts';
import { planDay, recordsByDay, streamsOfPlan, type TimeRange } from './day-plan.ts';
import { compileSelector } from './selector.ts';
import { newStatistics } from './statistics.ts';
import { type TenantView, tenantViews } from './tenant-view.ts';

export interface StreamsRequest {
  readonly tenants: readonly string[];
  readonly range: TimeRange;
  /** Selectors of which a stream matches at least one; none means every stream. */
  readonly selectors: readonly (readonly Matcher[])[];
  readonly signal: AbortSignal;
}

/** Labels that the store adds for itself; users do not see them in lists. */
const INTERNAL_LABELS = new Set(['__aggregated_metric__', '__pattern__', '__stream_shard__']);

/** The streams as the query sees them, each once, in order of their text. */
export async function findStreams(
  catalog: Catalog,
  source: ChunkSource,
  request: StreamsRequest,
): Promise<Stream[]> {
  const found = new Map<string, Stream>();
  const selectors = request.selectors.length === 0 ? [[]] : request.selectors;
  for (const selector of selectors) {
    for (const view of tenantViews(request.tenants, selector)) {
      for (const stream of await streamsOfTenant(catalog, source, request, view, selector)) {
        const shown = view.shown(stream);
        found.set(shown.text, shown);
      }
    }
  }
  return [...found.values()].sort((a, b) => compareUtf8(a.text, b.text));
}

async function streamsOfTenant(
  catalog: Catalog,
  source: ChunkSource,
  { range, signal }: StreamsRequest,
  view: TenantView,
  matchers: readonly Matcher[],
): Promise<Set<Stream>> {
  const selector = compileSelector(view.storedMatchers(matchers));
  const streams = new Set<Stream>();
  for (const { day, records } of await recordsByDay(catalog, view.tenant, range, false, newStatistics())) {
    const plan = await planDay(source, day, records, selector, range, signal);
    for (const stream of streamsOfPlan(plan)) streams.add(stream);
  }
  return streams;
}

/** Label names, ascending. */
export function labelNames(streams: readonly Stream[]): string[] {
  const names = new Set<string>();
  for (const { labels } of streams) for (const { name } of labels) names.add(name);
  return [...names].filter(name => !INTERNAL_LABELS.has(name)).sort(compareUtf8);
}

/** Values of one label, ascending. */
export function labelValues(streams: readonly Stream[], name: string): string[] {
  const values = new Set<string>();
  for (const { labels } of streams) {
    const value = labelValue(labels, name);
    if (value !== undefined) values.add(value);
  }
  return [...values].sort(compareUtf8);
}

/** Label sets of series: without the labels that the store adds for itself. */
export function seriesLabels(streams: readonly Stream[]): Labels[] {
  return streams.map(({ labels }) => labels.filter(({ name }) => !INTERNAL_LABELS.has(name)));
}
