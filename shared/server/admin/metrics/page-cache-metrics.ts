/** Metrics of the page cache (query/page-cache.ts), which counts itself. They are read at a scrape. */
import type { MetricsRegistry } from './registry.ts';

interface PageCacheFigures {
  readonly hits: number;
  readonly misses: number;
  readonly pages: number;
  readonly adopted: number;
  readonly unpacked: number;
  readonly columnBytes: number;
  readonly lineBytes: number;
}

/** Throws if the registry already has them. */
export function addPageCacheMetrics(registry: MetricsRegistry, figures: () => PageCacheFigures): void {
  registry.counter<'result'>({
    name: 'logboom_page_cache_requests_total',
    help: 'Lookups in the page cache, by result.',
    labels: ['result'],
    read: () => {
      const { hits, misses } = figures();
      return [
        { labels: { result: 'hit' }, value: hits },
        { labels: { result: 'miss' }, value: misses },
      ];
    },
  });
  registry.counter<'from'>({
    name: 'logboom_page_cache_lines_total',
    help: 'Pages whose lines were cached, by where they came from: unpacked from the store, or handed over after a push.',
    labels: ['from'],
    read: () => {
      const { adopted, unpacked } = figures();
      return [
        { labels: { from: 'store' }, value: unpacked },
        { labels: { from: 'push' }, value: adopted },
      ];
    },
  });
  registry.gauge({
    name: 'logboom_page_cache_pages',
    help: 'Pages in the page cache.',
    read: () => [{ labels: {}, value: figures().pages }],
  });
  registry.gauge<'part'>({
    name: 'logboom_page_cache_bytes',
    help: 'Size of the page cache, by part: decompressed lines, and stored bytes with decompressed columns.',
    labels: ['part'],
    read: () => {
      const { columnBytes, lineBytes } = figures();
      return [
        { labels: { part: 'lines' }, value: lineBytes },
        { labels: { part: 'columns' }, value: columnBytes },
      ];
    },
  });
}
