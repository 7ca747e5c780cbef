/**
 * Scans a log query that needs only the fields of its lines, as for detected fields. If the columns of a page
 * know every field of every selected line, the page's lines are not read. Each row then gets a synthesized
 * line with the same fields (shared/execution/fields). If the lines are split, and their templates show every field of
 * every selected line, each row gets its values and their form. Rows of other pages are collected with their lines.
 *
 * Pitfall: the fields of a synthesized line are in another order than in the stored line.
 */

import type { PageRows } from '../../base/model/page.ts';
import { FormedLines } from '../../execution/fields/formed-lines.ts';
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
  #formed: FormedLines | undefined;
  /** Rows that may be emitted. */
  #selected = new Uint32Array(0);
  #rows: PageRows | undefined;
  #base = 0;

  constructor(collector: LogCollector) {
    this.#collector = collector;
  }

  /** Requests lines if a row is unknown. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows {
    const fields = page.fieldColumns?.known;
    this.#known = fields && coveringLines(new KnownLines(fields), selection, count);
    const needsLines = this.#known === undefined && count > 0;
    if (needsLines) this.#selected = selection.slice(0, count);
    return { count, needsLines };
  }

  begin(rows: PageRows, page: CollectedPage): void {
    // Another query may have read values since the last time slice.
    if (this.#known === undefined) this.#formed = new FormedLines(rows, this.#selected);
    this.#rows = rows;
    this.#base = page.page.base;
    this.#collector.begin(rows, page);
  }

  wants(row: number): boolean {
    return this.#collector.wants(row);
  }

  /** Throws as the collector. */
  emit(row: number, entry: PipelineRow): void {
    const known = this.#known;
    const { stream, structuredMetadata, parsed } = entry.categories();
    const key = entry.streamText();
    const formed = known === undefined ? this.#formed!.get(row, stream) : undefined;
    if (known === undefined && formed === undefined) {
      this.#collector.emit(row, entry);
      return;
    }
    const line = formed ?? known!.lineOf(row, this.#base + this.#rows!.times[row]);
    const form = formed === undefined ? undefined : this.#formed!.form;
    this.#collector.emitFields(row, { line, form, key, stream, structuredMetadata, parsed });
  }
}

/** Returns the lines if they cover all rows. */
function coveringLines(known: KnownLines, selection: Uint32Array, count: number): KnownLines | undefined {
  for (let i = 0; i < count; i++) if (!known.covers(selection[i])) return undefined;
  return known;
}
