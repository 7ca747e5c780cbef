/**
 * Scans of pages whose lines are in line memory, where the decoder and the page cache put them: bytes of raw
 * lines per core second. The pages are 1 MiB of the corpus each, all kinds mixed for filters, only JSON for
 * parsers.
 */
import { createLineMemory } from '../../shared/base/kernels/line-memory.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr, RangeAggregationExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { generateBatches } from '../corpus.ts';
import type { StageCase } from './index.ts';

const PAGE_BYTES = 1024 * 1024;
/** Together larger than the CPU caches. */
const PAGES = 32;

const clock: Clock = { nowNs: () => 0n, nowMs: () => 0, sleep: async () => {} };
const labels = labelsOf({ app: 'x' });
const stream = { labels, text: formatLabels(labels) };

function* linesOf(kind: string | undefined): Generator<string> {
  for (const { streams } of generateBatches(kind === undefined ? PAGES + 2 : 3 * PAGES)) {
    for (const { labels: of, entries } of streams) {
      if (kind === undefined || of.app.startsWith(kind)) for (const { line } of entries) yield line;
    }
  }
}

function pagesOf(kind: string | undefined): PageRows[] {
  const memory = createLineMemory((PAGES + 1) * PAGE_BYTES);
  const pages: PageRows[] = [];
  let start = 0;
  let end = 0;
  let offsets = [0];
  for (const line of linesOf(kind)) {
    end += memory.write(line, end, 'latin1');
    offsets.push(end - start);
    if (end - start < PAGE_BYTES) continue;
    const rows = offsets.length - 1;
    pages.push({
      rows,
      baseNs: 0n,
      times: Float64Array.from({ length: rows }, (_, i) => i * 1e6),
      lines: memory.subarray(start, end),
      lineOffsets: Uint32Array.from(offsets),
      runs: [{ stream, firstRow: 0, rows }],
      metadata: [],
    });
    if (pages.length === PAGES) break;
    start = end;
    offsets = [0];
  }
  return pages;
}

const pages = { mixed: pagesOf(undefined), json: pagesOf('json'), logfmt: pagesOf('logfmt') };

function scanCase(kind: keyof typeof pages, query: string): StageCase {
  const ofKind = pages[kind];
  const all = Uint32Array.from({ length: Math.max(...ofKind.map(({ rows }) => rows)) }, (_, i) => i);
  const selection = new Uint32Array(all.length);
  const expr = parseQuery(query);
  let scan: (page: PageRows) => unknown;
  if (expr.kind === 'log') {
    const pipeline = compileLogPipeline(expr as LogExpr, { clock });
    const sink = { wants: () => true, emit: () => {} };
    scan = page => pipeline.run(page, selection, page.rows, sink);
  } else {
    const [leaf] = leavesOf(expr);
    const { op, range } = leaf.node as RangeAggregationExpr;
    const extractor = compileSampleExtractor(range, { op, grouping: leaf.grouping, clock });
    scan = page => extractor.extract(page, selection, page.rows);
  }
  return {
    name: `${kind}: ${query}`,
    bytes: ofKind.reduce((sum, page) => sum + page.lines.length, 0),
    lines: ofKind.reduce((sum, page) => sum + page.rows, 0),
    run() {
      for (const page of ofKind) {
        selection.set(page.rows === all.length ? all : all.subarray(0, page.rows));
        scan(page);
      }
    },
  };
}

export const cases: readonly StageCase[] = [
  scanCase('mixed', '{app="x"} |= "no such text"'),
  scanCase('mixed', '{app="x"} |= "connection refused by"'),
  scanCase('mixed', '{app="x"} |= "needle-5f3a9c"'),
  scanCase('mixed', '{app="x"} |~ "(?i)panicked|segfault|out of memory"'),
  scanCase('mixed', '{app="x"} |~ "panic: .*nil"'),
  scanCase('mixed', '{app="x"} |~ "status=50[34] trace=ffff"'),
  scanCase('mixed', 'sum(count_over_time({app="x"} |= "error" [1m]))'),
  scanCase('json', 'sum by (level, status) (count_over_time({app="x"} | json [1m]))'),
  scanCase('json', 'sum by (path) (count_over_time({app="x"} | json | status >= 500 [1m]))'),
  scanCase('json', 'sum by (p, s) (count_over_time({app="x"} | json p="path", s="status" [1m]))'),
  scanCase('logfmt', 'sum by (level, status) (count_over_time({app="x"} | logfmt [1m]))'),
];
