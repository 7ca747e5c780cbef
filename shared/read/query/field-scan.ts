/**
 * The scan of a log query of which only one field of its lines is wanted, as the values of a detected field are: rows whose
 * field a promoted column knows are collected without their line, and pages of which all such rows count are not asked
 * for their lines. A row that no column knows is collected with its line, as ever.
 *
 * The value of a column is what parsing the line by itself would find: as JSON, or where that fails as logfmt. It is that
 * because a line that a column knows is sound for its parser and for no other (shared/execution/pipeline/pushdown/plan-pushdown.ts, field-extractor.ts),
 * so which of the two columns knows a row says which parser reads it.
 *
 * What a reader would get wrong: a line by itself collides with labels of the stream alone, not with structured metadata, as
 * a parser of the query would. A row whose stream has the name has no such field, whatever its line says.
 */

import { invariant } from '../../base/model/errors.ts';
import { type Labels, labelValue } from '../../base/model/labels.ts';
import type { PageRows } from '../../base/model/page.ts';
import {
  FALLBACK_ID,
  type ParserName,
  type PromotedColumn,
  type PromotedWants,
} from '../../base/model/page-fields.ts';
import type { LogSink, PipelineRow } from '../../execution/pipeline/pipeline.ts';
import type { PreparedRows } from '../../execution/pipeline/pushdown/pushdown-rows.ts';
import type { LogExpr, Stage } from '../../language/logql/ast.ts';
import { isReservedName, isSuffixedName } from '../../storage/columns/reserved-names.ts';
import type { PlannedPage } from './day-plan.ts';
import type { CollectedPage, LogCollector } from './log-collector.ts';

export interface FieldPlan {
  readonly name: string;
  /** What pages are asked for. */
  readonly promoted: PromotedWants;
  /** No stage drops a row: the first rows of a page are the first of the query there. */
  readonly keepsRows: boolean;
}

/**
 * Undefined where columns are of no use: a stage reads or changes lines or labels, or the name may be that of another field
 * which collides with a label.
 */
export function planField({ stages }: LogExpr, name: string): FieldPlan | undefined {
  if (isReservedName(name) || isSuffixedName(name)) return undefined;
  if (!takesRowsAsTheyAre(stages)) return undefined;
  return { name, promoted: { parser: 'either', names: new Set([name]) }, keepsRows: stages.length === 0 };
}

/** No stage reads or changes lines, or changes labels. */
export function takesRowsAsTheyAre(stages: readonly Stage[]): boolean {
  return stages.every(({ kind }) => kind === 'labelFilter');
}

interface BoundColumn {
  readonly parser: ParserName;
  readonly column: PromotedColumn;
}

const PARSERS: readonly ParserName[] = ['json', 'logfmt'];

/** Stands before a collector: what columns answer goes in without its line, with the field as the only parsed label. */
export class FieldScan implements LogSink {
  readonly #plan: FieldPlan;
  readonly #collector: LogCollector;
  #columns: readonly BoundColumn[] = [];
  /** The stream looked at last, and whether it has a label of the field's name: rows in a row mostly share theirs. */
  #stream: Labels | undefined;
  #streamHas = false;

  constructor(plan: FieldPlan, collector: LogCollector) {
    this.#plan = plan;
    this.#collector = collector;
  }

  /** As PageVisitor.prepare: rows that cannot be among the first go, and lines are needed where a row is unknown. */
  prepare(page: PageRows, selection: Uint32Array, count: number, { mask }: PlannedPage): PreparedRows {
    const left =
      mask === undefined ? keepReachable(this.#plan, this.#collector, page, selection, count) : count;
    return { count: left, needsLines: this.#needsLines(page, selection, left) };
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

  #columnsOf({ promoted }: PageRows): BoundColumn[] {
    return PARSERS.flatMap(parser => {
      const found = promoted?.column(parser, this.#plan.name);
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

  /** Throws as the collector does. */
  emit(row: number, entry: PipelineRow): void {
    const { stream, structuredMetadata } = entry.categories();
    if (stream !== this.#stream) {
      this.#stream = stream;
      this.#streamHas = labelValue(stream, this.#plan.name) !== undefined;
    }
    const known = this.#streamHas ? undefined : knowing(this.#columns, row);
    if (known === undefined && !this.#streamHas) {
      invariant(entry.lineEnd <= entry.lineBuffer.length, 'a line is looked at that was not read');
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
    // Without `--keep-empty` logfmt gives an empty value no label; JSON does.
    if (value === '' && parser === 'logfmt') return undefined;
    return [{ name: this.#plan.name, value }];
  }
}

function knowing(columns: readonly BoundColumn[], row: number): BoundColumn | undefined {
  for (const bound of columns) if (bound.column.ids[row] !== FALLBACK_ID) return bound;
  return undefined;
}

interface FirstRows {
  readonly limit: number;
  readonly backward: boolean;
}

/**
 * Keeps of `selection[0..count)`, in place and order, the rows that may be among the first `limit` in the direction: all
 * of the time of the last such row stay, for which of them count the collector knows.
 */
function keepFirst(
  times: Float64Array,
  selection: Uint32Array,
  count: number,
  { limit, backward }: FirstRows,
): number {
  if (count <= limit || limit === 0) return count;
  const ascending = new Float64Array(count);
  for (let i = 0; i < count; i++) ascending[i] = times[selection[i]];
  ascending.sort();
  const least = backward ? ascending[count - limit] : -Infinity;
  const most = backward ? Infinity : ascending[limit - 1];
  let kept = 0;
  for (let i = 0; i < count; i++) {
    const row = selection[i];
    if (times[row] >= least && times[row] <= most) selection[kept++] = row;
  }
  return kept;
}

/** Rows that cannot be among the first of the answer go, where no stage may drop others; how many are left. */
export function keepReachable(
  { keepsRows }: FieldPlan,
  { limit, backward }: LogCollector,
  { times }: PageRows,
  selection: Uint32Array,
  count: number,
): number {
  return keepsRows ? keepFirst(times, selection, count, { limit, backward }) : count;
}
