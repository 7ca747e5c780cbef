/**
 * The scan of a log query of which only the fields of its lines are wanted, as detected fields are: of pages whose columns
 * know every field of every line that counts, each row is collected with a line that says the same (shared/execution/fields), and
 * the page's own lines are not read. Of any other page rows are collected with their lines, as ever.
 *
 * What a reader would get wrong: the fields of such a line are in another order than in the one that was stored.
 */

import type { PageRows } from '../../base/model/page.ts';
import { KnownLines } from '../../execution/fields/synthesized-lines.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import type { PreparedRows } from '../../execution/pipeline/pushdown/pushdown-rows.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import type { PlannedPage } from './day-plan.ts';
import { type FieldPlan, keepReachable, takesRowsAsTheyAre } from './field-scan.ts';
import type { CollectedPage, LogCollector } from './log-collector.ts';

/** As `LogRequest.field`: every field is wanted. It is the name of none. */
export const EVERY_FIELD = '';

/** Undefined where columns are of no use: a stage reads or changes lines or labels. */
export function planEveryField({ stages }: LogExpr): FieldPlan | undefined {
  if (!takesRowsAsTheyAre(stages)) return undefined;
  return { name: EVERY_FIELD, promoted: { parser: 'either', names: 'all' }, keepsRows: stages.length === 0 };
}

/** Stands before a collector. */
export class EveryFieldScan implements LogSink {
  readonly #plan: FieldPlan;
  readonly #collector: LogCollector;
  #known: KnownLines | undefined;
  #needsLines = true;
  #rows: PageRows | undefined;
  #base = 0;

  constructor(plan: FieldPlan, collector: LogCollector) {
    this.#plan = plan;
    this.#collector = collector;
  }

  /** As PageVisitor.prepare: rows that cannot be among the first go, and lines are needed where a row is unknown. */
  prepare(page: PageRows, selection: Uint32Array, count: number, { mask }: PlannedPage): PreparedRows {
    const left =
      mask === undefined ? keepReachable(this.#plan, this.#collector, page, selection, count) : count;
    const fields = page.promoted?.known;
    this.#known = fields && new KnownLines(fields);
    this.#needsLines = !this.#knowsAll(selection, left);
    return { count: left, needsLines: this.#needsLines };
  }

  #knowsAll(selection: Uint32Array, count: number): boolean {
    if (this.#known === undefined) return count === 0;
    for (let i = 0; i < count; i++) if (!this.#known.knows(selection[i])) return false;
    return true;
  }

  begin(rows: PageRows, page: CollectedPage): void {
    this.#rows = rows;
    this.#base = page.page.base;
    this.#collector.begin(rows, page);
  }

  wants(row: number): boolean {
    return this.#collector.wants(row);
  }

  /** Throws as the collector does. */
  emit(row: number, entry: PipelineRow): void {
    if (this.#needsLines) {
      this.#collector.emit(row, entry);
      return;
    }
    const time = this.#base + this.#rows!.times[row];
    const { stream, structuredMetadata, parsed } = entry.categories();
    const line = this.#known!.lineOf(row, time);
    const key = entry.streamText();
    this.#collector.emitFields(row, { line, key, stream, structuredMetadata, parsed });
  }
}
