/**
 * Asks a filter on one label what it makes of a value, with the pipeline's own test: conversions, errors and absent labels
 * are exactly those of a query. Used to pass over pages whose values are known, each asked once.
 */

import type { PageRows } from '../../base/model/page.ts';
import type { CompareOp, LabelFilter } from '../../language/logql/ast.ts';
import { compileLabelFilter, type LabelTest } from '../pipeline/label-filter.ts';
import { RowLabels } from '../pipeline/row-labels.ts';

/** A filter that reads one label. */
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
  /** The value, not empty, that the filter asks for; undefined where it asks for something else. */
  readonly equalTo: string | undefined;
  /** A row without the label is kept. */
  readonly acceptsAbsent: boolean;
  readonly #filter: LeafFilter;
  readonly #accepts: (value: string | undefined) => boolean;
  readonly #bounds: Bounds | undefined;

  /** Throws an Error where the filter cannot be built. */
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
   * False where no value from `least` to `most` is kept, two numbers of the same unit and the same digits behind the dot:
   * conversions keep the order of such.
   */
  acceptsBetween(least: string, most: string): boolean {
    if (least === most) return this.#accepts(least);
    if (this.#filter.kind === 'string') return true;
    if (this.#bounds === undefined) return true;
    return this.#bounds.reaches(most) && this.#bounds.starts(least);
  }
}

/** A comparison as two: the largest value must not lie below what it wants, the least not above. */
interface Bounds {
  readonly reaches: (most: string) => boolean;
  readonly starts: (least: string) => boolean;
}

function boundsOf(filter: LeafFilter, name: string): Bounds | undefined {
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
