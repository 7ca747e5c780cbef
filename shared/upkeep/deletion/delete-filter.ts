/**
 * A compiled delete request: selector, times, and a filter for lines. It has one of three kinds, by cost. A
 * request without stages covers every entry without reading lines. A request for one text (`|= "user-17"`)
 * covers each line that contains it. All other requests run their pipeline, on lines with a required text if
 * they have one.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { compileLineFilter, type LineTest } from '../../execution/pipeline/line-filter.ts';
import { compileLogPipeline, type LogPipeline } from '../../execution/pipeline/pipeline.ts';
import { TimeSlice } from '../../execution/pipeline/time-slice.ts';
import type { LogExpr, Matcher, Stage } from '../../language/logql/ast.ts';
import { parseLogQuery } from '../../language/logql/parse.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import { canRun } from './delete-query.ts';

export class DeleteFilter {
  readonly request: DeleteRequest;
  readonly matchers: readonly Matcher[];
  /**
   * Identifies the rows that it covers permanently. An ID can be reused after its request is gone, and a
   * request that is canceled when parts of it are done ends earlier from then on.
   */
  readonly key: string;
  /** True if it applies to every chunk, whatever its age (delete-request.ts). */
  readonly isSteady: boolean;
  /** False if it covers no row (delete-query.ts). */
  readonly canRun: boolean;
  /** True if it covers every entry of its streams and times. */
  readonly isWhole: boolean;
  /** Text that every covered line contains. */
  readonly needle: Buffer | undefined;
  /** True if it covers every line with the needle. */
  readonly isNeedleEnough: boolean;
  /** True if it reads structured metadata in addition to lines. */
  readonly readsMetadata: boolean;
  readonly #expr: LogExpr;
  readonly #clock: Clock;
  readonly #slice = new TimeSlice();
  #pipeline: LogPipeline | undefined;

  /** Throws ParseError and BadRequestError if the query is not a log query. */
  constructor(request: DeleteRequest, clock: Clock) {
    this.request = request;
    this.key = `${request.id} ${request.createdMs} ${request.endNs}`;
    this.isSteady = request.pickedUpMs === undefined && request.sealedMs === undefined;
    this.#expr = parseLogQuery(request.query);
    this.#clock = clock;
    const { selector, stages } = this.#expr;
    this.matchers = selector;
    this.isWhole = stages.length === 0;
    this.canRun = canRun(this.#expr);
    this.needle = this.canRun ? longestNeedle(stages) : undefined;
    this.isNeedleEnough = stages.length === 1 && this.needle !== undefined && isPlain(stages[0]);
    this.readsMetadata = stages.some(({ kind }) => kind !== 'lineFilter');
  }

  /**
   * Narrows `selection[0..count)` to the rows that pass the stages, which are the covered ones, and returns
   * their number. Throws BadRequestError if the stages do not finish with one line: rows without a decision
   * must not be shown.
   */
  narrow(page: PageRows, selection: Uint32Array, count: number): number {
    this.#pipeline ??= compileLogPipeline(this.#expr, { clock: this.#clock, timeSlice: this.#slice });
    const slice = this.#slice;
    const pipeline = this.#pipeline;
    const covered = new Uint32Array(count);
    let found = 0;
    const sink = {
      wants: () => true,
      emit: (row: number) => {
        covered[found++] = row;
      },
    };
    slice.left = 0;
    for (let left = count; left > 0; left = slice.left) {
      slice.begin();
      pipeline.run(page, selection, left, sink);
    }
    // Releases the page: a pipeline holds a reference to its last page.
    pipeline.run(NO_ROWS, selection, 0, sink);
    selection.set(covered.subarray(0, found));
    return found;
  }
}

const NO_ROWS: PageRows = Object.freeze({
  rows: 0,
  baseNs: 0n,
  times: new Float64Array(0),
  lines: Buffer.alloc(0),
  lineOffsets: new Uint32Array(1),
  runs: [],
  metadata: [],
});

/** Stages after which the line differs from the stored one. */
const CHANGES_LINE: ReadonlySet<Stage['kind']> = new Set(['lineFormat', 'decolorize', 'unpack']);

/** Longest text that a filter on the stored line requires. */
function longestNeedle(stages: readonly Stage[]): Buffer | undefined {
  let longest: Buffer | undefined;
  for (const stage of stages) {
    if (CHANGES_LINE.has(stage.kind)) break;
    const needle = stage.kind === 'lineFilter' ? needleOf(compileLineFilter(stage)) : undefined;
    if (needle !== undefined && needle.length > (longest?.length ?? 0)) longest = needle;
  }
  return longest;
}

function needleOf({ tests, negate }: ReturnType<typeof compileLineFilter>): Buffer | undefined {
  if (negate || tests.length !== 1) return undefined;
  const test: LineTest = tests[0];
  if (test.kind === 'needle') return test.needle;
  if (test.kind === 'pattern') return test.pattern.needle;
  return test.kind === 'regex' ? test.regex.pageScan?.needle : undefined;
}

/** True for a filter that only tests for one text. */
function isPlain(stage: Stage): boolean {
  return stage.kind === 'lineFilter' && stage.op === '|=' && stage.operand.kind === 'text';
}
