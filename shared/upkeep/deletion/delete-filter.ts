/**
 * A delete request, ready to be applied: its selector, its times, and how the lines of its entries are told. Three kinds,
 * by cost: those without stages take every entry, without looking at a line; those that ask for one text (`|= "user-17"`)
 * take where it is found; all others run their pipeline, on the lines with the text that they need, where there is one.
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
   * What it takes, for ever: an id may be taken again when its request is gone, and a request that is cancelled when part
   * of it is done ends earlier from then on.
   */
  readonly key: string;
  /** It covers every chunk, whatever its age (delete-request.ts). */
  readonly isSteady: boolean;
  /** False: it takes nothing (delete-query.ts). */
  readonly canRun: boolean;
  /** Takes every entry of its streams and times. */
  readonly isWhole: boolean;
  /** A text that every line has which it takes. */
  readonly needle: Buffer | undefined;
  /** It takes every line with the needle. */
  readonly isNeedleEnough: boolean;
  /** Structured metadata is read, beside lines. */
  readonly readsMetadata: boolean;
  readonly #expr: LogExpr;
  readonly #clock: Clock;
  readonly #turn = new TimeSlice();
  #pipeline: LogPipeline | undefined;

  /** Throws ParseError and BadRequestError for a query that is no log query. */
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
   * Narrows `selection[0..count)` to the rows that the stages let pass, which are those to be taken; how many. Throws
   * BadRequestError where the stages go on and on with one line: what cannot be decided must not be shown.
   */
  narrow(page: PageRows, selection: Uint32Array, count: number): number {
    this.#pipeline ??= compileLogPipeline(this.#expr, { clock: this.#clock, turn: this.#turn });
    const turn = this.#turn;
    const pipeline = this.#pipeline;
    const taken = new Uint32Array(count);
    let found = 0;
    const sink = {
      wants: () => true,
      emit: (row: number) => {
        taken[found++] = row;
      },
    };
    turn.left = 0;
    for (let left = count; left > 0; left = turn.left) {
      turn.begin();
      pipeline.run(page, selection, left, sink);
    }
    // A pipeline keeps the page that it saw last.
    pipeline.run(NO_ROWS, selection, 0, sink);
    selection.set(taken.subarray(0, found));
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

/** Stages behind which the line is another than the stored one. */
const CHANGES_LINE: ReadonlySet<Stage['kind']> = new Set(['lineFormat', 'decolorize', 'unpack']);

/** The longest text that a filter on the stored line asks for. */
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

/** One text to be in the line: where it is found, nothing else is left to ask. */
function isPlain(stage: Stage): boolean {
  return stage.kind === 'lineFilter' && stage.op === '|=' && stage.operand.kind === 'text';
}
