/**
 * Pipelines and sample extractors over one decoded page of JSON lines and one of logfmt lines (about 1 MB
 * each, in typical shapes of services). `run()` processes the page once; `bytes` and `lines` are its input.
 */

import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import type { MetadataColumn, PageRows } from '../../shared/base/model/page.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr, RangeAggregationExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';

interface Case {
  readonly name: string;
  readonly bytes: number;
  readonly lines: number;
  /** Number of rows kept. */
  run(): number;
}

const clock: Clock = { nowNs: () => 0n, nowMs: () => 0, sleep: async () => {} };

let state = 42;
function random(below: number): number {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}
const pick = <T>(items: readonly T[]) => items[random(items.length)];
const hex = (digits: number) =>
  Array.from({ length: digits / 4 }, () => random(65_536).toString(16).padStart(4, '0')).join('');

function jsonLine(level: string): string {
  const status = level === 'error' ? pick([500, 503, 504]) : pick([200, 200, 200, 200, 201, 404]);
  return (
    `{"ts":"2026-01-01T06:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z","level":"${level}",` +
    `"logger":"http.server","msg":"${pick(['request served', 'cache refreshed', 'upstream call finished'])}",` +
    `"method":"${pick(['GET', 'POST', 'PUT'])}","path":"/api/v1/orders/${random(1e6)}/items","status":${status},` +
    `"duration_ms":${random(30_000) / 100},"trace_id":"${hex(32)}","span_id":"${hex(16)}","user_id":"u-${random(9999)}",` +
    `"ctx":{"region":"eu-west-1","host":"ip-10-3-${random(200)}-7","build":"1.42.3","attempt":1},` +
    `"bytes_out":${random(20_000)}}`
  );
}

function logfmtLine(level: string): string {
  return (
    `ts=2026-01-01T06:${10 + random(50)}:${10 + random(50)}.${100 + random(900)}Z level=${level} ` +
    `caller=${pick(['engine.go', 'store.go'])}:${random(700)} component=querier tenant=t-${random(400)} ` +
    `msg="${pick(['batch written to store', 'query finished', 'flush of chunks done'])}" traceID=${hex(32)} ` +
    `duration=${random(9_000_000) / 1000}ms bytes=${random(60_000)} shard=${random(16)}`
  );
}

/** Rows in 20 streams, with a detected level and a trace ID as metadata. */
function makePage(bytes: number, line: (level: string) => string): PageRows {
  const texts: string[] = [];
  const levels: string[] = [];
  for (let size = 0; size < bytes; size += texts[texts.length - 1].length) {
    const chance = random(1000);
    const level = chance < 18 ? 'error' : chance < 60 ? 'warn' : chance < 160 ? 'debug' : 'info';
    levels.push(level);
    texts.push(line(level));
  }
  const rows = texts.length;
  const lineOffsets = new Uint32Array(rows + 1);
  for (const [i, text] of texts.entries()) lineOffsets[i + 1] = lineOffsets[i] + Buffer.byteLength(text);
  const runs = Array.from({ length: 20 }, (_, i) => {
    const labels = labelsOf({
      app: 'api',
      cluster: 'east',
      namespace: 'prod',
      pod: `api-${i}`,
      stream: 'stdout',
    });
    const firstRow = Math.floor((rows * i) / 20);
    const stream = { labels, text: formatLabels(labels) };
    return { stream, firstRow, rows: Math.floor((rows * (i + 1)) / 20) - firstRow };
  });
  return {
    rows,
    baseNs: 0n,
    times: Float64Array.from({ length: rows }, (_, i) => i * 1e6),
    lines: Buffer.from(texts.join('')),
    lineOffsets,
    runs,
    metadata: [
      column('detected_level', levels),
      column(
        'trace',
        texts.map(() => hex(32)),
      ),
    ],
  };
}

function column(name: string, values: readonly string[]): MetadataColumn {
  const distinct = [...new Set(values)];
  const indexOf = new Map(distinct.map((value, i) => [value, i + 1]));
  const ids = Uint32Array.from(values, value => indexOf.get(value)!);
  return { name, ids, count: distinct.length, valueAt: index => distinct[index] };
}

const pages = { json: makePage(1 << 20, jsonLine), logfmt: makePage(1 << 20, logfmtLine) };

function benchCase(format: 'json' | 'logfmt', query: string): Case {
  const page = pages[format];
  const all = Uint32Array.from({ length: page.rows }, (_, i) => i);
  const selection = new Uint32Array(page.rows);
  const expr = parseQuery(query);
  let work: () => number;
  if (expr.kind === 'log') {
    const pipeline = compileLogPipeline(expr as LogExpr, { clock });
    const sink = {
      wants: () => true,
      emit: () => {},
    };
    work = () => pipeline.run(page, selection, page.rows, sink);
  } else {
    const [leaf] = leavesOf(expr);
    const { op, range } = leaf.node as RangeAggregationExpr;
    const extractor = compileSampleExtractor(range, { op, grouping: leaf.grouping, clock });
    const { needs } = extractor;
    const metadata =
      needs.metadata === 'all'
        ? page.metadata
        : page.metadata.filter(({ name }) => (needs.metadata as ReadonlySet<string>).has(name));
    const given = { ...page, metadata };
    work = () => extractor.extract(given, selection, page.rows).count;
  }
  return {
    name: `${format}: ${query}`,
    bytes: page.lines.length,
    lines: page.rows,
    run() {
      selection.set(all);
      return work();
    },
  };
}

export const cases: readonly Case[] = [
  benchCase('json', '{app="api"} |= "absent-needle"'),
  benchCase('json', '{app="api"} |= "error"'),
  benchCase('json', '{app="api"} |~ "status\\":50[34]"'),
  benchCase('json', '{app="api"} |> "<_>orders<_>status\\":503<_>"'),
  benchCase('json', '{app="api"} | detected_level="error"'),
  benchCase('json', 'sum(count_over_time({app="api"}[1m]))'),
  benchCase('json', 'sum by (pod) (count_over_time({app="api"}[1m]))'),
  benchCase('json', 'sum by (detected_level) (bytes_over_time({app="api"}[1m]))'),
  benchCase('json', 'sum by (status) (count_over_time({app="api"} | json | level="error" [1m]))'),
  benchCase('json', 'sum by (status) (count_over_time({app="api"} | json [1m]))'),
  benchCase('json', 'sum by (level) (count_over_time({app="api"} | json | status >= 500 [1m]))'),
  benchCase('json', 'quantile_over_time(0.99, {app="api"} | json | unwrap duration_ms [1m]) by (app)'),
  benchCase('json', '{app="api"} | json | status >= 500'),
  benchCase('json', '{app="api"} | json status="status", d="duration_ms" | status >= 500 | d > 200'),
  benchCase('json', '{app="api"} | json | status >= 500 | line_format "{{.method}} {{.path}} {{.status}}"'),
  benchCase('json', 'sum by (m) (count_over_time({app="api"} | regexp `"method":"(?P<m>\\w+)"` [1m]))'),
  benchCase('logfmt', 'sum by (component) (count_over_time({app="api"} | logfmt | level="error" [1m]))'),
  benchCase('logfmt', 'sum by (level) (count_over_time({app="api"} | logfmt [1m]))'),
  benchCase(
    'logfmt',
    'avg_over_time({app="api"} | logfmt | unwrap duration_seconds(duration) [1m]) by (app)',
  ),
  benchCase('logfmt', '{app="api"} | logfmt | bytes > 1MB'),
  benchCase('logfmt', 'sum by (l) (count_over_time({app="api"} | pattern "<_> level=<l> <_>" [1m]))'),
];
