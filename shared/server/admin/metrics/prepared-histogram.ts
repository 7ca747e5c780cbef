/**
 * Histogram whose series are prepared once. A histogram of prom-client checks and hashes all labels of a series for each
 * value, even for a series that `labels()` returned. Here a value is two additions.
 */
import { Histogram, type Registry } from 'prom-client';

interface PreparedHistogramOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
  /** Inclusive upper bounds, ascending. */
  readonly buckets: readonly number[];
  readonly registry: Registry;
}

/** One series: values by bucket. */
export class ObservedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly #bounds: readonly number[];
  /** Values by bucket. The last one is for values above all bounds. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(labels: Readonly<Record<string, string>>, bounds: readonly number[]) {
    this.labels = labels;
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > this.#bounds[bucket]) bucket++;
    this.counts[bucket]++;
    this.sum += value;
  }
}

export class PreparedHistogram<Label extends string> extends Histogram<Label> {
  readonly #options: PreparedHistogramOptions<Label>;
  readonly #series: ObservedSeries[] = [];

  constructor(options: PreparedHistogramOptions<Label>) {
    const { name, help, labels, buckets, registry } = options;
    super({ name, help, labelNames: [...labels], registers: [registry], buckets: [...buckets] });
    this.#options = options;
  }

  /**
   * Creates a series. Pitfall: call it once for the same labels, because each series is printed. It lives as long as the
   * histogram.
   */
  series(labels: Readonly<Record<Label, string>>): ObservedSeries {
    const series = new ObservedSeries(labels, this.#options.buckets);
    this.#series.push(series);
    return series;
  }

  /** Called by prom-client's own `get` and by its registry, although its types do not contain it. */
  async getForPromString() {
    const { name, help, buckets } = this.#options;
    const values: PrintedValue[] = [];
    for (const { labels: sharedLabels, counts, sum } of this.#series) {
      let count = 0;
      for (let i = 0; i <= buckets.length; i++) {
        count += counts[i];
        const le = i < buckets.length ? buckets[i] : '+Inf';
        values.push({ labels: { le }, sharedLabels, value: count, metricName: `${name}_bucket` });
      }
      values.push({ labels: {}, sharedLabels, value: sum, metricName: `${name}_sum` });
      values.push({ labels: {}, sharedLabels, value: count, metricName: `${name}_count` });
    }
    return { name, help, type: 'histogram', aggregator: 'sum', values };
  }
}

interface PrintedValue {
  readonly labels: { readonly le?: string | number };
  /** Labels of the series. */
  readonly sharedLabels: Readonly<Record<string, string>>;
  readonly value: number;
  readonly metricName: string;
}
