/**
 * `logboom query --stdin`: runs LogQL over lines of standard input, without a store. All lines belong to one
 * stream. Its labels are the `=` matchers of the query's selector, which may be omitted. A log query prints
 * lines as they arrive. A metric query reads the input to its end and prints the values at that time.
 */

import { ClientError } from '../../shared/base/model/errors.ts';
import { formatLabels, type Labels, labelsOf, labelsToObject } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { Expr, LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { selectorsOf } from '../../shared/language/logql/walk.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { CommandError } from '../cli/command-error.ts';
import { LineSplitter } from '../cli/line-splitter.ts';
import { type LogEntry, type RangeAnswer, readAnswer } from '../cli/range-query.ts';

interface StdinQuestion {
  readonly query: string;
  /** Maximum number of entries; Infinity for all. */
  readonly limit: number;
}

/** Selector of a query that omits it. */
const NO_SELECTOR = '{source="stdin"}';
const STARTS_WITH_STAGE = /^\s*[|!]/;
/** Maximum input of a metric query, which is held in memory. */
const MAX_METRIC_INPUT_BYTES = 256 * 1024 * 1024;
const PUSH_BYTES = 1_000_000;
/** Maximum line size; longer lines end the input. */
const MAX_LINE_BYTES = 64 * 1024 * 1024;
const MAX_SERIES = 100_000;

const CONFIG: Config = {
  ...DEFAULT_CONFIG,
  limits: {
    ...DEFAULT_LIMITS,
    maxLineSize: MAX_LINE_BYTES,
    maxQuerySeries: MAX_SERIES,
    // Both kinds of query see only the labels of the stream.
    discoverLogLevels: false,
    discoverServiceName: [],
  },
  logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: 0 },
};

/** Pages of entries as lines arrive, or the one result of a metric query. Throws CommandError. */
export async function* stdinPages(
  input: AsyncIterable<Buffer>,
  { query, limit }: StdinQuestion,
): AsyncGenerator<RangeAnswer> {
  try {
    const expr = parseQuery(STARTS_WITH_STAGE.test(query) ? `${NO_SELECTOR} ${query}` : query);
    const labels = streamOf(expr);
    if (expr.kind === 'log') yield* logPagesOf(input, { expr, labels, limit });
    else yield await metricAnswer(input, { query, labels });
  } catch (error) {
    // The query has an error.
    if (error instanceof ClientError) throw new CommandError(error.message);
    throw error;
  }
}

/** Labels of all lines. Throws CommandError if the selectors of the query name several streams. */
function streamOf(expr: Expr): Labels {
  const labels = new Map<string, string>();
  for (const { name, op, value } of selectorsOf(expr).flat()) {
    if (op !== '=' || (labels.get(name) ?? value) !== value) {
      throw new CommandError(
        'with --stdin, the selector defines the one stream of all lines; use only = matchers, with one value per label',
      );
    }
    labels.set(name, value);
  }
  return labelsOf(Object.fromEntries(labels));
}

interface LogQuestion {
  readonly expr: LogExpr;
  readonly labels: Labels;
  readonly limit: number;
}

async function* logPagesOf(
  input: AsyncIterable<Buffer>,
  { expr, labels, limit }: LogQuestion,
): AsyncGenerator<RangeAnswer> {
  const pipeline = compileLogPipeline(expr, { clock: SYSTEM_CLOCK });
  const text = formatLabels(labels);
  let left = limit;
  let lastNs = 0n;
  for await (const lines of linesOf(input)) {
    const nowNs = SYSTEM_CLOCK.nowNs();
    const page = pageOf(lines, { labels, text }, nowNs > lastNs ? nowNs : lastNs + 1n);
    lastNs = page.baseNs + BigInt(page.rows);
    const entries: LogEntry[] = [];
    pipeline.run(
      page,
      Uint32Array.from({ length: page.rows }, (_, row) => row),
      page.rows,
      {
        wants: () => entries.length < left,
        emit: (row, entry) => {
          const found = { labels: labelsToObject(entry.labels()), line: entry.line() };
          entries.push({ timeNs: page.baseNs + BigInt(row), ...found });
        },
      },
    );
    left -= entries.length;
    yield { kind: 'streams', entries, warnings: [] };
    if (left <= 0) return;
  }
}

/** Lines of each input buffer, in new buffers. */
async function* linesOf(input: AsyncIterable<Buffer>): AsyncGenerator<readonly Buffer[]> {
  let lines: Buffer[] = [];
  const splitter = new LineSplitter(
    (source, start, end) => lines.push(Buffer.from(source.subarray(start, end))),
    {
      maxLineBytes: MAX_LINE_BYTES,
    },
  );
  for await (const piece of input) {
    splitter.feed(piece);
    if (lines.length > 0) yield lines;
    lines = [];
  }
  splitter.finish();
  if (lines.length > 0) yield lines;
}

/** Gives each line the time at which it is read, at least 1 ns after the one before. */
function pageOf(
  lines: readonly Buffer[],
  stream: { readonly labels: Labels; readonly text: string },
  baseNs: bigint,
): PageRows {
  const lineOffsets = new Uint32Array(lines.length + 1);
  lines.forEach((line, row) => {
    lineOffsets[row + 1] = lineOffsets[row] + line.length;
  });
  return {
    rows: lines.length,
    baseNs,
    times: Float64Array.from(lines, (_, row) => row),
    lines: Buffer.concat(lines),
    lineOffsets,
    runs: [{ stream, firstRow: 0, rows: lines.length }],
    metadata: [],
  };
}

/** Values at the end of the input, from an in-memory store with all of it. */
async function metricAnswer(
  input: AsyncIterable<Buffer>,
  { query, labels }: { readonly query: string; readonly labels: Labels },
): Promise<RangeAnswer> {
  const startNs = SYSTEM_CLOCK.nowNs();
  // Log queries do not need the store.
  const { memoryStore } = await import('../cli/memory-store.ts');
  const store = memoryStore(CONFIG, startNs);
  const stream = labelsToObject(labels);
  let values: [string, string][] = [];
  let bytes = 0;
  let totalBytes = 0;
  let timeNs = startNs;
  const pushAll = async () => {
    if (values.length > 0) await store.push(JSON.stringify({ streams: [{ stream, values }] }));
    values = [];
    bytes = 0;
  };
  for await (const lines of linesOf(input)) {
    for (const line of lines) {
      values.push([`${timeNs++}`, line.toString('utf8')]);
      bytes += line.length;
      totalBytes += line.length;
    }
    if (totalBytes > MAX_METRIC_INPUT_BYTES)
      throw new CommandError(
        'a metric query over --stdin accepts up to 256 MiB; push the file to a store instead',
      );
    if (bytes >= PUSH_BYTES) await pushAll();
  }
  await pushAll();
  const params = new URLSearchParams({ query, time: `${timeNs}`, limit: `${MAX_SERIES}` });
  return readAnswer(await store.get('/loki/api/v1/query', params), 'backward');
}
