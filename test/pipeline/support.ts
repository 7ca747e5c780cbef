/** Pages made of a few entries, and queries run on them: what the pipeline tests share. */

import { formatLabels, type Labels, labelsOf } from '../../shared/base/model/labels.ts';
import type { MetadataColumn, PageRows, Run } from '../../shared/base/model/page.ts';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { leavesOf } from '../../shared/execution/metrics/plan.ts';
import { compileSampleExtractor, type SampleExtractor } from '../../shared/execution/pipeline/extractor.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';

export type Texts = Record<string, string>;

export interface Entry {
  readonly line: string | Buffer;
  /** Default `{app="x"}`. */
  readonly stream?: Texts;
  readonly metadata?: Texts;
}

export const clock: Clock = {
  nowNs: () => 1_700_000_000_000_000_000n,
  nowMs: () => 1_700_000_000_000,
  sleep: async () => {},
};

const STREAM = { app: 'x' };

/** One row for each entry, one nanosecond apart; neighbors of one stream share a run. */
export function makePage(entries: readonly Entry[]): PageRows {
  const lines = entries.map(({ line }) => (typeof line === 'string' ? Buffer.from(line) : line));
  const lineOffsets = new Uint32Array(entries.length + 1);
  for (const [i, line] of lines.entries()) lineOffsets[i + 1] = lineOffsets[i] + line.length;
  const runs: { stream: Run['stream']; firstRow: number; rows: number }[] = [];
  for (const [row, { stream = STREAM }] of entries.entries()) {
    const labels = labelsOf(stream);
    const text = formatLabels(labels);
    const last = runs.at(-1);
    if (last?.stream.text === text) last.rows++;
    else runs.push({ stream: { labels, text }, firstRow: row, rows: 1 });
  }
  const names = new Set(entries.flatMap(({ metadata = {} }) => Object.keys(metadata)));
  return {
    rows: entries.length,
    baseNs: 1_699_999_000_000_000_000n,
    times: Float64Array.from(entries, (_, i) => i),
    lines: Buffer.concat(lines),
    lineOffsets,
    runs,
    metadata: [...names].map(name => columnOf(name, entries)),
  };
}

function columnOf(name: string, entries: readonly Entry[]): MetadataColumn {
  const values: string[] = [];
  const ids = Uint32Array.from(entries, ({ metadata = {} }) => {
    if (!Object.hasOwn(metadata, name)) return 0;
    const known = values.indexOf(metadata[name]);
    return known >= 0 ? known + 1 : values.push(metadata[name]);
  });
  return { name, ids, count: values.length, valueAt: index => values[index] };
}

export function allRows(page: PageRows): Uint32Array {
  return Uint32Array.from({ length: page.rows }, (_, row) => row);
}

interface Result {
  readonly row: number;
  readonly line: string;
  readonly labels: Texts;
  readonly text: string;
  readonly stream: Texts;
  readonly structuredMetadata: Texts;
  readonly parsed: Texts;
}

/** Keeps the bytes of values. */
function objectOf(labels: Labels): Texts {
  return Object.fromEntries(labels.map(({ name, value }) => [name, value]));
}

/** Result of `{app="x"} STAGES` for some entries. */
export function runLog(stages: string, entries: readonly Entry[]): Result[] {
  const pipeline = compileLogPipeline(parseQuery(`{app="x"} ${stages}`) as LogExpr, { clock });
  return runPipeline(pipeline, makePage(entries));
}

export function runPipeline(pipeline: ReturnType<typeof compileLogPipeline>, page: PageRows): Result[] {
  const out: Result[] = [];
  pipeline.run(page, allRows(page), page.rows, {
    wants: () => true,
    emit(row, entry) {
      const { stream, structuredMetadata, parsed } = entry.categories();
      out.push({
        row,
        line: entry.line(),
        labels: objectOf(entry.labels()),
        text: entry.labelText(),
        stream: objectOf(stream),
        structuredMetadata: objectOf(structuredMetadata),
        parsed: objectOf(parsed),
      });
    },
  });
  return out;
}

/** Labels of a line without `app`, or `dropped`. */
export function labelsAfter(stages: string, line: string | Buffer, metadata: Texts = {}): Texts | 'dropped' {
  const [result] = runLog(stages, [{ line, metadata }]);
  if (result === undefined) return 'dropped';
  const { app, ...labels } = result.labels;
  return app === 'x' ? labels : { app, ...labels };
}

/** Whether each line passes. */
export function passes(stages: string, lines: readonly (string | Buffer)[]): boolean[] {
  const rows = new Set(
    runLog(
      stages,
      lines.map(line => ({ line })),
    ).map(({ row }) => row),
  );
  return lines.map((_, row) => rows.has(row));
}

export interface Sample {
  readonly row: number;
  readonly labels: Texts;
  readonly value: number;
}

export function extractorOf(query: string): SampleExtractor {
  const expr = parseQuery(query);
  if (expr.kind === 'log') throw new Error('not a metric query');
  const [{ node, grouping }] = leavesOf(expr);
  return compileSampleExtractor(node.range, { op: node.op, grouping, clock });
}

/** Samples of the only range aggregation of a query, before it aggregates. */
export function samplesOf(query: string, entries: readonly Entry[]): Sample[] {
  return extractAll(extractorOf(query), makePage(entries));
}

export function extractAll(extractor: SampleExtractor, page: PageRows): Sample[] {
  const { count, rows, series, values } = extractor.extract(page, allRows(page), page.rows);
  return Array.from({ length: count }, (_, i) => ({
    row: rows[i],
    labels: objectOf(extractor.series.labelsOf(series[i])),
    value: values === undefined ? 1 : values[i],
  }));
}
