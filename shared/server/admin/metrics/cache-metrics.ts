/** Hits, misses and size of caches that count for themselves (model/lru.ts), by name. */
import type { MetricsRegistry } from './registry.ts';

export interface CacheFigures {
  readonly hits: number;
  readonly misses: number;
  /** Bytes of what it keeps. */
  readonly heldWeight: number;
}

/** `caches`: by the names that the metric shows. */
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
