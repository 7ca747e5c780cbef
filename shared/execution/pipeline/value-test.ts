/** Drops rows whose value of one label a filter rejects. Each distinct value is tested once. */
import type { PageRows, Run } from '../../base/model/page.ts';
import type { LabelFilter } from '../../language/logql/ast.ts';
import { type DecodedColumn, FALLBACK_ID } from '../../storage/columns/column-decoder.ts';
import { compareNumbers, compileLabelFilter, type LabelTest } from './label-filter.ts';
import { RowLabels } from './row-labels.ts';

/**
 * Parts of a page that are read: names of labels and metadata decide whether a filter reads the parsed label.
 */
export type TestedPage = Pick<PageRows, 'runs' | 'metadata'>;

/** Values of a label by row. */
export interface TestedColumn extends Pick<DecodedColumn, 'count' | 'numbers' | 'bytesAt'> {
  /** As in DecodedColumn. */
  readonly ids: Uint32Array | Int32Array | Uint16Array;
}

interface ValueTestOptions {
  /** Name of the label that the filter reads. */
  readonly label: string;
  /** How its bytes read, KIND_CLEAN or KIND_RAW. */
  readonly kind: number;
  /** Whether a missing value sets an empty label. */
  readonly isExpression: boolean;
  /** Whether an empty value sets no label. */
  readonly dropsEmpty: boolean;
}

const UNKNOWN = 0;
const KEPT = 1;
const REJECTED = 2;

const NO_ROWS = { rows: 1, metadata: [], runs: [], baseNs: 0n, times: new Float64Array(1) };
const NO_PAGE: PageRows = { ...NO_ROWS, lines: Buffer.alloc(0), lineOffsets: new Uint32Array(2) };

export class ValueTest {
  readonly #options: ValueTestOptions;
  readonly #labels = new RowLabels();
  readonly #id: number;
  readonly #test: LabelTest;
  /** Filter, if it compares plain numbers. */
  readonly #comparison: Extract<LabelFilter, { kind: 'number' }> | undefined;
  #verdicts = new Uint8Array(0);

  /** Throws an Error with the reference's text for an invalid filter. */
  constructor(filter: LabelFilter, options: ValueTestOptions) {
    this.#options = options;
    this.#id = this.#labels.intern(options.label);
    this.#test = compileLabelFilter(filter, this.#labels);
    this.#comparison = filter.kind === 'number' ? filter : undefined;
    this.#labels.names.pin();
    this.#labels.enterPage(NO_PAGE);
    this.#labels.enterRun({ labels: [], text: '{}' });
  }

  /** Narrows `selection[0..count)` (ascending) in place. Returns the new count. */
  narrow(page: TestedPage, column: TestedColumn, selection: Uint32Array, count: number): number {
    const { label } = this.#options;
    // Rows with metadata of this name have the parsed value under another name; a suffixed column may also
    // have the name.
    if (page.metadata.some(({ name }) => name === label)) return count;
    if (this.#verdicts.length <= column.count) this.#verdicts = new Uint8Array(column.count + 1);
    const verdicts = this.#verdicts.fill(UNKNOWN, 0, column.count + 1);
    const { ids } = column;
    const comparison = this.#comparison;
    const numbers = comparison === undefined ? undefined : column.numbers;
    const limit = comparison?.value ?? 0;
    // Results for a number below, at and above the limit, so that the loop does not evaluate the operator.
    const [below, equal, above] = [-1, 0, 1].map(
      order => comparison !== undefined && compareNumbers(order, comparison.op, 0),
    );
    let kept = 0;
    let at = 0;
    for (const run of page.runs) {
      const end = run.firstRow + run.rows;
      const isRead = !hasLabel(run, label);
      for (; at < count && selection[at] < end; at++) {
        const row = selection[at];
        const id = ids[row];
        if (!isRead || id === FALLBACK_ID) {
          selection[kept++] = row;
          continue;
        }
        // The texts of numbers are not created.
        if (numbers !== undefined && id > 0) {
          const number = numbers[id - 1];
          if (number < limit ? below : number > limit ? above : number === limit ? equal : false) {
            selection[kept++] = row;
            continue;
          }
          if (!Number.isNaN(number)) continue;
        }
        if (verdicts[id] === UNKNOWN) verdicts[id] = this.#accepts(column, id) ? KEPT : REJECTED;
        if (verdicts[id] === KEPT) selection[kept++] = row;
      }
    }
    return kept;
  }

  #accepts(column: TestedColumn, id: number): boolean {
    const labels = this.#labels;
    labels.enterRow(0);
    const { isExpression, dropsEmpty, kind } = this.#options;
    if (id === 0) {
      if (isExpression) labels.setText(this.#id, '');
    } else {
      const { source, start, end } = column.bytesAt(id - 1);
      if (start < end || !dropsEmpty) labels.setBytes(this.#id, kind, source, start, end);
    }
    return this.#test(labels);
  }
}

function hasLabel({ stream }: Run, name: string): boolean {
  return stream.labels.some(label => label.name === name);
}
