/**
 * Table of the series that an extractor has found, by the text of their labels. A label with an empty value
 * is a label.
 */

import { formatLabels, type Labels, NO_LABELS } from '../../base/model/labels.ts';
import { MemoryBudget, type SharedMemory } from '../../base/model/memory-budget.ts';
import type { SeriesTable } from '../../base/model/samples.ts';

/** Maximum bytes of the labels of all series of one aggregation: about a million typical series. */
const MAX_SERIES_BYTES = 512 * 1024 * 1024;
/** Memory per series in addition to its text: table entry, list of labels. Measured with 3 labels. */
const BYTES_PER_SERIES = 300;

export class Series implements SeriesTable {
  readonly #labels: Labels[] = [];
  readonly #byText = new Map<string, number>();
  readonly #budget: MemoryBudget;

  constructor(maxBytes = MAX_SERIES_BYTES, shared?: SharedMemory) {
    this.#budget = new MemoryBudget(maxBytes, undefined, shared);
  }

  /** Approximate bytes of the labels. */
  get usedBytes(): number {
    return this.#budget.usedBytes;
  }

  get count(): number {
    return this.#labels.length;
  }

  labelsOf(series: number): Labels {
    return this.#labels[series] ?? NO_LABELS;
  }

  /** Returns the number of the series with these labels; creates it if it is new. Throws BadRequestError. */
  numberOf(labels: Labels): number {
    const text = formatLabels(labels);
    let number = this.#byText.get(text);
    if (number === undefined) {
      // Account for the text, and for the values a second time.
      this.#budget.reserve(BYTES_PER_SERIES + 2 * text.length);
      number = this.#labels.length;
      this.#byText.set(text, number);
      this.#labels.push(labels);
    }
    return number;
  }
}
