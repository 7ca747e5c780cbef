/**
 * Drops rows of a page that a filter after the parser rejects, by field columns. Each distinct value is
 * tested once, and no line is parsed or read. Rows that a column does not cover remain, and the pipeline
 * processes all remaining rows.
 *
 *     const narrower = compileNarrower(plan);
 *     count = narrower.narrow(page, fieldColumns, selection, count);
 */

import { KIND_CLEAN } from '../row-labels.ts';
import { type TestedPage, ValueTest } from '../value-test.ts';
import type { PushdownPlan } from './plan-pushdown.ts';
import { columnFor, type FieldColumns } from './pushdown-page.ts';

export interface Narrower {
  /** Narrows `selection[0..count)` (ascending) in place. Returns the new count. */
  narrow(page: TestedPage, fieldColumns: FieldColumns, selection: Uint32Array, count: number): number;
}

/**
 * Throws an Error with the reference's text for an invalid filter; compiling the stages reports the same
 * error.
 */
export function compileNarrower(plan: PushdownPlan): Narrower {
  const { isExpression, dropsEmpty } = plan;
  const tests = plan.drops.map(({ source, filter }) => ({
    source,
    test: new ValueTest(filter, { label: source.label, kind: KIND_CLEAN, isExpression, dropsEmpty }),
  }));
  return {
    narrow(page, fieldColumns, selection, count) {
      let left = count;
      for (const { source, test } of tests) {
        if (left === 0) break;
        const column = columnFor(fieldColumns, plan.parser, source);
        if (column !== undefined) left = test.narrow(page, column, selection, left);
      }
      return left;
    },
  };
}
