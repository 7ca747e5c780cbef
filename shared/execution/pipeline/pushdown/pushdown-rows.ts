/**
 * What promoted columns (shared/execution/fields) do for a pipeline: before the lines of a page are read they drop rows that a filter
 * behind the parser rejects, and tell whether any line is needed at all; then they stand in for the parser.
 *
 *     const promoted = planPushdownRows(stages, { wanted });
 *     compileStages(stages, row, { clock, promoted });
 *     const { count, needsLines } = promoted.prepare(page, selection, count);
 *
 * What a reader would get wrong: a page that was prepared with `needsLines` false may be run without its lines, so a row
 * that is parsed all the same is a defect, and throws.
 */

import { invariant } from '../../../base/model/errors.ts';
import type { PageRows } from '../../../base/model/page.ts';
import type { PromotedWants } from '../../../base/model/page-fields.ts';
import type { LabelFilter, Stage } from '../../../language/logql/ast.ts';
import type { Row, RowStage } from '../row.ts';
import type { WantedNames } from '../row-labels.ts';
import { compileNarrower, type Narrower } from './narrow.ts';
import { type PromotedPlan, planPushdown } from './plan-pushdown.ts';
import { PromotedStage } from './pushdown-stage.ts';

/** What is left to do on a page before its lines are read. */
export interface PreparedRows {
  /** Rows left, at the start of the selection. */
  readonly count: number;
  readonly needsLines: boolean;
}

export interface PromotedOptions {
  /** Undefined where all labels are seen: then columns only drop rows. */
  readonly wanted?: WantedNames | undefined;
  /** Filters behind an unwrap. */
  readonly filtersAfter?: readonly LabelFilter[] | undefined;
}

/** Undefined where columns are of no use to the stages. */
export function planPushdownRows(
  stages: readonly Stage[],
  { wanted, filtersAfter }: PromotedOptions,
): PromotedRows | undefined {
  const plan = planPushdown(stages, { wanted: wanted?.names, filtersAfter });
  return plan && new PromotedRows(plan);
}

export class PromotedRows {
  /** What a page is asked for. */
  readonly wants: PromotedWants;
  readonly #plan: PromotedPlan;
  #narrower: Narrower | undefined;
  /** Undefined where the parser runs on every row that is left. */
  #stage: PromotedStage | undefined;

  constructor(plan: PromotedPlan) {
    this.#plan = plan;
    this.wants = { parser: plan.parser, names: plan.fields, parsesMost: !plan.othersReadLine };
  }

  /** Place of the parser among the stages. */
  get parserPlace(): number {
    return this.#plan.stage;
  }

  /** What runs in the parser's place. */
  standIn(parse: RowStage, { labels }: Row): RowStage {
    if (this.#plan.labels === undefined) return parse;
    this.#stage = new PromotedStage(this.#plan, labels, row => {
      invariant(row.start === row.end || row.end <= row.source.length, 'a line is parsed that was not read');
      return parse(row);
    });
    return this.#stage.stage;
  }

  /** What stands in for the parser, where something does. */
  get stage(): PromotedStage | undefined {
    return this.#stage;
  }

  /** Before the rows of a page are run. */
  enterPage({ promoted }: PageRows): void {
    this.#stage?.enterPage(promoted);
  }

  /** Narrows `selection[0..count)` in place. No line of the page is looked at. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows {
    if (page.promoted === undefined) return { count, needsLines: count > 0 };
    // Here at the earliest: what cannot be built is reported by its stage.
    this.#narrower ??= compileNarrower(this.#plan);
    const left = this.#narrower.narrow(page, page.promoted, selection, count);
    return { count: left, needsLines: left > 0 && this.#needsLines(page, selection, left) };
  }

  #needsLines(page: PageRows, selection: Uint32Array, count: number): boolean {
    if (this.#plan.othersReadLine || this.#stage === undefined) return true;
    this.#stage.enterPage(page.promoted);
    return this.#stage.needsLines(page, selection, count);
  }
}
