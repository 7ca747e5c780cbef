/**
 * Filters that follow a parser at once, tried as soon as the parser has set their label. They are joined by and, they
 * read nothing but that label, and a dropped row shows nothing else, so the answer is the same and the rest of the
 * line need not be parsed. (A filter written elsewhere is not tried early: difference D4.)
 */
import type { LabelTest } from './label-filter.ts';
import type { RowLabels } from './row-labels.ts';

export class EarlyTests {
  readonly #byName: LabelTest[][] = [];
  readonly isEmpty: boolean;

  constructor(tests: Iterable<readonly [number, LabelTest]> = []) {
    for (const [id, test] of tests) {
      this.#byName[id] ??= [];
      this.#byName[id].push(test);
    }
    this.isEmpty = this.#byName.length === 0;
  }

  /** Numbers of the labels that are tested. */
  get ids(): number[] {
    return [...this.#byName.keys()].filter(id => this.#byName[id] !== undefined);
  }

  /** True where some filter on the label just set drops the row. */
  rejects(id: number, labels: RowLabels): boolean {
    if (id >= this.#byName.length) return false;
    const tests = this.#byName[id];
    if (tests === undefined) return false;
    const { error, errorDetails } = labels;
    for (let i = 0; i < tests.length; i++) if (!tests[i](labels)) return true;
    // What did not convert is reported by the filter itself, after the parser.
    labels.error = error;
    labels.errorDetails = errorDetails;
    return false;
  }
}
