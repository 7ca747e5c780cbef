/**
 * Scans a log query that needs one field of its lines, as for values of a detected field. Rows whose field a
 * field column stores are collected without their line. The lines of a page are not read if its columns know
 * all selected rows. A row that no column knows is collected with its line.
 *
 * The value of a column equals what parsing the line alone would give: as JSON, or if that fails as logfmt. A
 * line in a column is sound for its parser and for no other
 * (shared/execution/pipeline/pushdown/plan-pushdown.ts, field-extractor.ts). The column that knows a row
 * therefore identifies the parser.
 *
 * Pitfall: a line parsed alone collides only with labels of the stream, not with structured metadata as a
 * parser in the query would. A row whose stream has the name has no such field, whatever its line contains.
 */

import { invariant } from '../../base/model/errors.ts';
import { type Labels, labelValue } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import {
  type DecodedColumn,
  FALLBACK_ID,
  type FieldColumnWants,
  type ParserName,
} from '../../base/model/page-fields.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import type { PreparedRows } from '../../execution/pipeline/pushdown/pushdown-rows.ts';
import type { LogExpr, Stage } from '../../language/logql/ast.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import type { CollectedPage, LogCollector } from './log-collector.ts';

export interface FieldPlan {
  readonly name: string;
  /** Columns to read of pages. */
  readonly fieldColumns: FieldColumnWants;
}

/**
 * Returns undefined if columns cannot be used. That is the case if a stage reads or changes lines or labels,
 * or if the name may come from another field that collides with a label.
 */
export function planField({ stages }: LogExpr, name: string): FieldPlan | undefined {
  if (isReservedName(name) || isSuffixedName(name)) return undefined;
  if (!takesRowsAsTheyAre(stages)) return undefined;
  return { name, fieldColumns: { parser: 'either', names: new Set([name]) } };
}

/** Whether no stage reads or changes lines, or changes labels. */
export function takesRowsAsTheyAre(stages: readonly Stage[]): boolean {
  return stages.every(({ kind }) => kind === 'labelFilter');
}

interface BoundColumn {
  readonly parser: ParserName;
  readonly column: DecodedColumn;
}

const PARSERS: readonly ParserName[] = ['json', 'logfmt'];

/**
 * Wraps a collector: rows that columns can answer are added without a line, with the field as the only parsed
 * label.
 */
export class FieldScan implements LogSink {
  readonly #plan: FieldPlan;
  readonly #collector: LogCollector;
  #columns: readonly BoundColumn[] = [];
  /**
   * Most recent stream, and whether it has a label with the field's name. Consecutive rows usually share
   * their stream.
   */
  #stream: Labels | undefined;
  #streamHas = false;

  constructor(plan: FieldPlan, collector: LogCollector) {
    this.#plan = plan;
    this.#collector = collector;
  }

  /** Requests lines if a row is unknown. */
  prepare(page: PageRows, selection: Uint32Array, count: number): PreparedRows {
    return { count, needsLines: this.#needsLines(page, selection, count) };
  }

  #needsLines(page: PageRows, selection: Uint32Array, count: number): boolean {
    const { name } = this.#plan;
    const columns = this.#columnsOf(page);
    let at = 0;
    for (const { stream, firstRow, rows } of page.runs) {
      const end = firstRow + rows;
      const hasNone = labelValue(stream.labels, name) !== undefined;
      for (; at < count && selection[at] < end; at++) {
        if (!hasNone && knowing(columns, selection[at]) === undefined) return true;
      }
    }
    return false;
  }

  #columnsOf({ fieldColumns }: PageRows): BoundColumn[] {
    return PARSERS.flatMap(parser => {
      const found = fieldColumns?.column(parser, this.#plan.name);
      return found === undefined ? [] : [{ parser, column: found.column }];
    });
  }

  begin(rows: PageRows, page: CollectedPage): void {
    this.#columns = this.#columnsOf(rows);
    this.#collector.begin(rows, page);
  }

  wants(row: number): boolean {
    return this.#collector.wants(row);
  }

  /** Throws as the collector. */
  emit(row: number, entry: PipelineRow): void {
    const { stream, structuredMetadata } = entry.categories();
    if (stream !== this.#stream) {
      this.#stream = stream;
      this.#streamHas = labelValue(stream, this.#plan.name) !== undefined;
    }
    const known = this.#streamHas ? undefined : knowing(this.#columns, row);
    if (known === undefined && !this.#streamHas) {
      invariant(entry.lineEnd <= entry.lineBuffer.length, 'a field scan uses only lines that were read');
      this.#collector.emit(row, entry);
      return;
    }
    this.#collector.emitFields(row, {
      line: '',
      key: entry.streamText(),
      stream,
      structuredMetadata,
      parsed: known && this.#parsed(known, row),
    });
  }

  #parsed({ parser, column }: BoundColumn, row: number): Labels | undefined {
    const id = column.ids[row];
    if (id === 0) return undefined;
    const value = column.valueAt(id - 1);
    // logfmt adds no label for an empty value without `--keep-empty`; JSON does.
    if (value === '' && parser === 'logfmt') return undefined;
    return [{ name: this.#plan.name, value }];
  }
}

function knowing(columns: readonly BoundColumn[], row: number): BoundColumn | undefined {
  for (const bound of columns) if (bound.column.ids[row] !== FALLBACK_ID) return bound;
  return undefined;
}
