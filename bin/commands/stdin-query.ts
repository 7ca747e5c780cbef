/**
 * `logboom query --stdin`: runs LogQL over lines of standard input, without a store. All lines belong to one
 * stream. Its labels are the `=` matchers of the query's selector, which may be omitted. A log query prints
 * lines as they arrive. A metric query reads the input to its end and prints the values at that time.
 */

import { ClientError } from '../../shared/base/model/errors.ts';
import { formatLabels, type Labels, labelsOf, labelsToObject } from '../../shared/base/model/labels.ts';
import type { PageRows } from '../../shared/base/model/page.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import type { Expr, LogExpr } from '../../shared/language/logql/ast.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { selectorsOf } from '../../shared/language/logql/walk.ts';
import { CommandError } from '../cli/command-error.ts';
import { LineSplitter } from '../cli/line-splitter.ts';
import type { PrintedEntry, RangeAnswer } from '../cli/range-query.ts';
import { MAX_STDIN_LINE_BYTES } from '../cli/stdin-limits.ts';

interface StdinQuestion {
  readonly query: string;
  /** Maximum number of entries; Infinity for all. */
  readonly limit: number;
}

/** Selector of a query that omits it. */
const NO_SELECTOR = '{source="stdin"}';
const STARTS_WITH_STAGE = /^\s*[|!]/;

/** Pages of entries as lines arrive, or the one result of a metric query. Throws CommandError. */
export async function* stdinPages(
  input: AsyncIterable<Buffer>,
  { query, limit }: StdinQuestion,
): AsyncGenerator<RangeAnswer> {
  try {
    const expr = parseQuery(STARTS_WITH_STAGE.test(query) ? `${NO_SELECTOR} ${query}` : query);
    const labels = streamOf(expr);
    if (expr.kind === 'log') yield* logPagesOf(input, { expr, labels, limit });
    else {
      // Log queries do not need a store.
      const { stdinMetric } = await import('../cli/stdin-metric.ts');
      yield await stdinMetric(linesOf(input), { query, labels });
    }
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
    const entries: PrintedEntry[] = [];
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
      maxLineBytes: MAX_STDIN_LINE_BYTES,
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
