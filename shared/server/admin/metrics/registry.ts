/**
 * The metrics of one store, in Prometheus text format 0.0.4. Each store has a registry of its own: two in one process
 * (tests, simulations) never add to each other's figures, as they would in prom-client's global one.
 *
 * A part that wants a metric asks for it here and keeps what it gets:
 *
 *     const merged = registry.counter({ name: 'logboom_compaction_merged_chunks_total', help: '...', labels: ['level'] });
 *     merged.inc({ level: '1' }, 12);
 *
 * A reader would get wrong: every value of a label is a series for as long as the process lives. A label that clients
 * choose (a tenant above all) goes through BoundedNames.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';

export interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

export interface ReadMetricOptions<Label extends string> extends MetricOptions<Label> {
  /** Values at the time of a scrape: for what is counted elsewhere anyway. */
  readonly read?: () => Iterable<Series<Label>>;
}

export interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Upper bounds, inclusive, ascending; +Inf follows by itself. */
  readonly buckets: readonly number[];
}

export interface Series<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

export class MetricsRegistry {
  /** For metrics of a kind of their own, as LineLengths is. */
  readonly registry = new Registry();

  /** What a Content-Type says of `text`. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** All metrics as they are now. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Throws where the name is taken, as the others do. */
  counter<Label extends string = never>(options: ReadMetricOptions<Label>): Counter<Label> {
    const { name, help, labels = [], read } = options;
    const registers = [this.registry];
    return new Counter<Label>({
      name,
      help,
      labelNames: labels,
      registers,
      collect:
        read === undefined
          ? undefined
          : function collect() {
              this.reset();
              for (const series of read()) this.inc(series.labels, series.value);
            },
    });
  }

  gauge<Label extends string = never>(options: ReadMetricOptions<Label>): Gauge<Label> {
    const { name, help, labels = [], read } = options;
    const registers = [this.registry];
    return new Gauge<Label>({
      name,
      help,
      labelNames: labels,
      registers,
      collect:
        read === undefined
          ? undefined
          : function collect() {
              this.reset();
              for (const series of read()) this.set(series.labels, series.value);
            },
    });
  }

  /**
   * A gauge that says nothing of its type, for a name of the reference that Prometheus keeps for other types: `_count` is the
   * end of a histogram's.
   */
  untyped(options: Omit<ReadMetricOptions<never>, 'labels'>): Gauge {
    const { name, help, read } = options;
    return new Untyped({
      name,
      help,
      registers: [this.registry],
      collect:
        read === undefined
          ? undefined
          : function collect() {
              for (const { value } of read()) this.set(value);
            },
    });
  }

  histogram<Label extends string = never>(options: HistogramOptions<Label>): Histogram<Label> {
    const { name, help, labels = [], buckets } = options;
    return new Histogram<Label>({
      name,
      help,
      labelNames: labels,
      registers: [this.registry],
      buckets: [...buckets],
    });
  }

  /**
   * Metrics of the process: processor time, memory, event loop, garbage collection. Once for a process: each call leaves
   * an observer behind that nothing takes away.
   */
  addProcessMetrics(): void {
    collectDefaultMetrics({ register: this.registry });
    // Gauges with the end of a counter's name; they are the sums of the gauges without it.
    for (const what of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${what}_total`);
    }
  }
}

class Untyped extends Gauge {
  /** What prom-client's registry prints, although its types do not tell. */
  async getForPromString() {
    return { ...(await this.get()), type: 'untyped' };
  }
}
