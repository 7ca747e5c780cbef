/** The series that an extractor has met, by their labels' text. A label with an empty value is a label. */

import { formatLabels, type Labels, NO_LABELS } from '../../base/model/labels.ts';
import { MemoryBudget, type SharedMemory } from '../../base/model/memory-budget.ts';
import type { SeriesTable } from '../../base/model/samples.ts';

/** What the labels of all series of one aggregation may hold: about a million series of usual labels. */
export const MAX_SERIES_BYTES = 512 * 1024 * 1024;
/** Beside its text: entry of the table, list of labels. Measured with 3 labels. */
const BYTES_PER_SERIES = 300;

export class Series implements SeriesTable {
  readonly #labels: Labels[] = [];
  readonly #byText = new Map<string, number>();
  readonly #budget: MemoryBudget;

  constructor(maxBytes = MAX_SERIES_BYTES, shared?: SharedMemory) {
    this.#budget = new MemoryBudget(maxBytes, undefined, shared);
  }

  /** Bytes that the labels hold, roughly. */
  get usedBytes(): number {
    return this.#budget.usedBytes;
  }

  get count(): number {
    return this.#labels.length;
  }

  labelsOf(series: number): Labels {
    return this.#labels[series] ?? NO_LABELS;
  }

  /** Number of the series with these labels; a new one where there is none. Throws BadRequestError. */
  numberOf(labels: Labels): number {
    const text = formatLabels(labels);
    let number = this.#byText.get(text);
    if (number === undefined) {
      // The text, and the values once more.
      this.#budget.reserve(BYTES_PER_SERIES + 2 * text.length);
      number = this.#labels.length;
      this.#byText.set(text, number);
      this.#labels.push(labels);
    }
    return number;
  }
}
