/**
 * Uses field columns (shared/execution/fields) in a pipeline. Before the lines of a page are read, columns
 * drop rows that a filter after the parser rejects. They also show whether any line is needed. Then they
 * replace the parser.
 *
 *     const pushdown = planPushdownRows(stages, { wanted });
 *     compileStages(stages, row, { clock, pushdown });
 *     const { count, needsLines } = pushdown.prepare(page, selection, count);
 *
 * Pitfall: a page that was prepared with `needsLines` false may run without its lines. If a row is parsed
 * anyway, that is a defect, and it throws.
 */

import { invariant } from '../../../base/model/errors.ts';
import type { PageRows } from '../../../base/model/page.ts';
import type { FieldColumnWants } from '../../../base/model/page-fields.ts';
import type { LabelFilter, Stage } from '../../../language/logql/ast.ts';
import type { Row, RowStage } from '../row.ts';
import type { WantedNames } from '../row-labels.ts';
import { compileNarrower, type Narrower } from './narrow.ts';
import { type PushdownPlan, planPushdown } from './plan-pushdown.ts';
import { PushdownStage } from './pushdown-stage.ts';

/** Remaining work on a page before its lines are read. */
export interface PreparedRows {
  /** Number of remaining rows, at the start of the selection. */
  readonly count: number;
  readonly needsLines: boolean;
}

interface PushdownOptions {
  /** Undefined if all labels are visible: columns then only drop rows. */
  readonly wanted?: WantedNames | undefined;
  /** Filters after an unwrap. */
  readonly filtersAfter?: readonly LabelFilter[] | undefined;
}

/** Returns undefined if columns are of no use to the stages. */
export function planPushdownRows(
  stages: readonly Stage[],
  { wanted, filtersAfter }: PushdownOptions,
): PushdownRows | undefined {
  const plan = planPushdown(stages, { wanted: wanted?.names, filtersAfter });
  return plan && new PushdownRows(plan);
}

export class PushdownRows {
  /** Columns to request from a page. */
  readonly wants: FieldColumnWants;
  readonly #plan: PushdownPlan;
  #narrower: Narrower | undefined;
  /** Undefined if the parser runs on every remaining row. */
  #stage: PushdownStage | undefined;

  constructor(plan: PushdownPlan) {
    this.#plan = plan;
    this.wants = { parser: plan.parser, names: plan.fields, parsesMost: !plan.othersReadLine };
  }

  /** Index of the parser among the stages. */
  get parserIndex(): number {
    return this.#plan.stage;
  }

  /** Returns the stage that runs instead of the parser. */
  standIn(parse: RowStage, { labels }: Row): RowStage {
    if (this.#plan.labels === undefined) return parse;
    this.#stage = new PushdownStage(this.#plan, labels, row => {
      invariant(row.start === row.end || row.end <= row.source.length, 'a line is parsed that was not read');
      return parse(row);
    });
    return this.#stage.stage;
  }

  /** Stage that replaces the parser, if any. */
  get stage(): PushdownStage | undefined {
    return this.#stage;
  }

  /** Call it before the rows of a page run. */
  enterPage({ fieldColumns }: PageRows): void {
    this.#stage?.enterPage(fieldColumns);
  }

  /** Narrows `selection[0..count)` in place, without reading any line of the page. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows {
    if (page.fieldColumns === undefined) return { count, needsLines: count > 0 };
    // Compile late: the stage reports invalid filters first.
    this.#narrower ??= compileNarrower(this.#plan);
    const left = this.#narrower.narrow(page, page.fieldColumns, selection, count);
    return { count: left, needsLines: left > 0 && this.#needsLines(page, selection, left) };
  }

  #needsLines(page: PageRows, selection: Uint32Array, count: number): boolean {
    if (this.#plan.othersReadLine || this.#stage === undefined) return true;
    this.#stage.enterPage(page.fieldColumns);
    return this.#stage.needsLines(page, selection, count);
  }
}
