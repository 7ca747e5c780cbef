/** Hits, misses and sizes of caches that count themselves (model/lru.ts), by cache name. */
import type { MetricsRegistry } from './registry.ts';

interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** Size of the cached values, bytes. */
  readonly heldWeight: number;
}

/** @param caches caches by their names in the metric */
export function addCacheMetrics(
  registry: MetricsRegistry,
  caches: Readonly<Record<string, CacheFigures>>,
): void {
  registry.counter<'cache' | 'result'>({
    name: 'logboom_cache_requests_total',
    help: 'Lookups in caches, by result.',
    labels: ['cache', 'result'],
    read: () =>
      Object.entries(caches).flatMap(([cache, { hits, misses }]) => [
        { labels: { cache, result: 'hit' }, value: hits },
        { labels: { cache, result: 'miss' }, value: misses },
      ]),
  });
  registry.gauge<'cache'>({
    name: 'logboom_cache_bytes',
    help: 'Memory of caches, by cache.',
    labels: ['cache'],
    read: () =>
      Object.entries(caches).map(([cache, { heldWeight: value }]) => ({ labels: { cache }, value })),
  });
}
