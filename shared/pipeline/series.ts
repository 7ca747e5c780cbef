/**
 * The series that an extractor has met, by their labels' text. Series under `without` differ even where the labels
 * that are left are equal: an empty value counts while it groups, but is not shown (logql reference 12.3).
 */
import { formatLabels, type Labels, NO_LABELS } from '../model/labels.ts';
import type { SeriesTable } from '../model/samples.ts';

export class Series implements SeriesTable {
  readonly #labels: Labels[] = [];
  readonly #byText = new Map<string, number>();
  readonly #hidesEmpty: boolean;

  constructor(hidesEmpty: boolean) {
    this.#hidesEmpty = hidesEmpty;
  }

  get count(): number {
    return this.#labels.length;
  }

  labelsOf(series: number): Labels {
    return this.#labels[series] ?? NO_LABELS;
  }

  /** Number of the series with these labels; a new one where there is none. */
  numberOf(labels: Labels): number {
    const text = formatLabels(labels);
    let number = this.#byText.get(text);
    if (number === undefined) {
      number = this.#labels.length;
      this.#byText.set(text, number);
      this.#labels.push(this.#hidesEmpty ? labels.filter(({ value }) => value !== '') : labels);
    }
    return number;
  }
}
