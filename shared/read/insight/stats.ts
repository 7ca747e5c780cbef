/**
 * Counts what a selector matches in a range: streams, chunks, entries and bytes
 * (docs/dev/wire-format.md#labels-and-series). It reads indexes and footers, never lines. The number of
 * streams is exact up to a thousand, and within a few percent above.
 */
import type { Catalog } from '../../storage/catalog/catalog.ts';
import type { DayCache } from './day-cache.ts';
import { type DayPart, dayParts, holdsAll, type PartsRequest } from './day-parts.ts';
import { Distinct } from './distinct.ts';
import { statsQuestion } from './stats-day.ts';

export interface IndexStats {
  readonly streams: number;
  readonly chunks: number;
  /** Bytes of lines and structured metadata. */
  readonly bytes: number;
  readonly entries: number;
}

export const NO_STATS: IndexStats = Object.freeze({ streams: 0, chunks: 0, bytes: 0, entries: 0 });

/** @param request range with both ends inclusive */
export async function findStats(
  catalog: Catalog,
  cache: DayCache,
  { signal, ...request }: PartsRequest & { readonly signal: AbortSignal },
): Promise<IndexStats> {
  const range = { startNs: request.range.startNs, endNs: request.range.endNs + 1n };
  const streamsOfTenant = new Map<string, Distinct>();
  let chunks = 0;
  let bytes = 0;
  let entries = 0;
  const questionOf = (part: DayPart) => statsQuestion(holdsAll(part, part.records));
  const parts = dayParts(catalog, { ...request, range });
  for await (const { part, answers } of cache.answers(parts, questionOf, signal)) {
    let streams = streamsOfTenant.get(part.tenant);
    if (streams === undefined) {
      streams = new Distinct();
      streamsOfTenant.set(part.tenant, streams);
    }
    for (const answer of answers) {
      const stats = answer.within(part);
      chunks += stats.chunks;
      bytes += stats.bytes;
      entries += stats.entries;
      stats.addStreamsTo(streams);
    }
  }
  let streams = 0;
  for (const streamsOfOne of streamsOfTenant.values()) streams += streamsOfOne.count();
  return { streams, chunks, bytes: Math.round(bytes), entries: Math.round(entries) };
}
