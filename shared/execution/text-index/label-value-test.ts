/**
 * Tests a value with a filter on one label, using the test of the pipeline: conversions, errors and absent
 * labels behave exactly as in a query. It serves to prune pages with known values, and tests each value once.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { CompareOp, LabelFilter } from '../../language/logql/ast.ts';
import { compileLabelFilter, type LabelTest } from '../pipeline/label-filter.ts';
import { RowLabels } from '../pipeline/row-labels.ts';

/** Filter that reads one label. */
export type LeafFilter = Exclude<LabelFilter, { kind: 'and' | 'or' }>;

const NO_PAGE: PageRows = {
  rows: 1,
  metadata: [],
  runs: [],
  baseNs: 0n,
  times: new Float64Array(1),
  lines: Buffer.alloc(0),
  lineOffsets: new Uint32Array(2),
};

export class LabelValueTest {
  readonly name: string;
  /** Non-empty value that the filter requires; undefined for other conditions. */
  readonly equalTo: string | undefined;
  /** Whether rows without the label are accepted. */
  readonly acceptsAbsent: boolean;
  readonly #filter: LeafFilter;
  readonly #accepts: (value: string | undefined) => boolean;
  readonly #bounds: BoundTests | undefined;

  /** Throws an Error if the filter is invalid. */
  constructor(filter: LeafFilter, name: string) {
    this.name = name;
    this.#filter = filter;
    this.#accepts = acceptor(filter, name);
    this.acceptsAbsent = this.#accepts(undefined);
    const { kind } = filter;
    this.equalTo =
      kind === 'string' && filter.matcher.op === '=' && filter.matcher.value !== ''
        ? filter.matcher.value
        : undefined;
    this.#bounds = boundsOf(filter, name);
  }

  accepts(value: string): boolean {
    return this.#accepts(value);
  }

  /**
   * Returns false if no value from `least` to `most` is accepted. Both are numbers with the same unit and the
   * same number of decimals: conversions preserve the order of such numbers.
   */
  acceptsBetween(least: string, most: string): boolean {
    if (least === most) return this.#accepts(least);
    if (this.#filter.kind === 'string') return true;
    if (this.#bounds === undefined) return true;
    return this.#bounds.reaches(most) && this.#bounds.starts(least);
  }
}

/**
 * Comparison as two conditions: the largest value must reach the limit, and the smallest must not exceed it.
 */
interface BoundTests {
  readonly reaches: (most: string) => boolean;
  readonly starts: (least: string) => boolean;
}

function boundsOf(filter: LeafFilter, name: string): BoundTests | undefined {
  if (filter.kind === 'string' || filter.kind === 'ip') return undefined;
  const as = (op: CompareOp) => acceptor({ ...filter, op }, name);
  const always = () => true;
  switch (filter.op) {
    case '>':
    case '>=':
      return { reaches: as(filter.op), starts: always };
    case '<':
    case '<=':
      return { reaches: always, starts: as(filter.op) };
    case '==':
      return { reaches: as('>='), starts: as('<=') };
    case '!=':
      return undefined;
  }
}

function acceptor(filter: LeafFilter, name: string): (value: string | undefined) => boolean {
  const labels = new RowLabels();
  const id = labels.intern(name);
  const test: LabelTest = compileLabelFilter(filter, labels);
  labels.names.pin();
  labels.enterPage(NO_PAGE);
  labels.enterRun({ labels: [], text: '{}' });
  return value => {
    labels.enterRow(0);
    if (value !== undefined) labels.setText(id, value);
    return test(labels);
  };
}
