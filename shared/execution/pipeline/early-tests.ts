/**
 * Filters that directly follow a parser, tried as soon as the parser has set their label. They are joined
 * with `and` and read only that label, and a dropped row has no other effect. The result is therefore the
 * same, and the remaining line need not be parsed. Other filters are not tried early (difference D4).
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

  /** Returns whether a filter on the label just set drops the row. */
  rejects(id: number, labels: RowLabels): boolean {
    if (id >= this.#byName.length) return false;
    const tests = this.#byName[id];
    if (tests === undefined) return false;
    const { error, errorDetails } = labels;
    for (let i = 0; i < tests.length; i++) if (!tests[i](labels)) return true;
    // The filter itself reports failed conversions, after the parser.
    labels.error = error;
    labels.errorDetails = errorDetails;
    return false;
  }
}
