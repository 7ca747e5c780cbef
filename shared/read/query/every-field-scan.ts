/**
 * Scans a log query that needs only the fields of its lines, as for detected fields. If the columns of a page
 * know every field of every selected line, the page's lines are not read. Each row then gets a synthesized
 * line with the same fields (shared/execution/fields). Rows of other pages are collected with their lines.
 *
 * Pitfall: the fields of a synthesized line are in another order than in the stored line.
 */

import type { PageRows } from '../../base/model/page.ts';
import { KnownLines } from '../../execution/fields/synthesized-lines.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import type { PreparedRows } from '../../execution/pipeline/pushdown/pushdown-rows.ts';
import type { LogExpr } from '../../language/logql/ast.ts';
import { type FieldPlan, takesRowsAsTheyAre } from './field-scan.ts';
import type { CollectedPage, LogCollector } from './log-collector.ts';

/** Value of `LogRequest.field` that requests every field. No field has this name. */
export const EVERY_FIELD = '';

/** Returns undefined if columns cannot be used, because a stage reads or changes lines or labels. */
export function planEveryField({ stages }: LogExpr): FieldPlan | undefined {
  if (!takesRowsAsTheyAre(stages)) return undefined;
  return { name: EVERY_FIELD, fieldColumns: { parser: 'either', names: 'all' } };
}

/** Wraps a collector. */
export class EveryFieldScan implements LogSink {
  readonly #collector: LogCollector;
  #known: KnownLines | undefined;
  #needsLines = true;
  #rows: PageRows | undefined;
  #base = 0;

  constructor(collector: LogCollector) {
    this.#collector = collector;
  }

  /** Requests lines if a row is unknown. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows {
    const fields = page.fieldColumns?.known;
    this.#known = fields && new KnownLines(fields);
    this.#needsLines = !this.#knowsAll(selection, count);
    return { count, needsLines: this.#needsLines };
  }

  #knowsAll(selection: Uint32Array, count: number): boolean {
    if (this.#known === undefined) return count === 0;
    for (let i = 0; i < count; i++) if (!this.#known.covers(selection[i])) return false;
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

  /** Throws as the collector. */
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
