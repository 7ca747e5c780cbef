/**
 * Metrics of one store, in Prometheus text format 0.0.4. Each store has its own registry. Two stores in one
 * process (tests, simulations) would add to the same counters in prom-client's global registry.
 *
 * A module creates its metrics here and keeps the returned object:
 *
 *     const merged = registry.counter({ name: 'logboom_compaction_merged_chunks_total', help: '...', labels: ['level'] });
 *     merged.inc({ level: '1' }, 12);
 *
 * Pitfall: every label value is a series for the lifetime of the process. Limit label values that clients
 * choose (above all tenants) with BoundedNames.
 */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { addEventLoopLag, LAG_METRICS } from './event-loop-lag.ts';
import { PreparedHistogram } from './prepared-histogram.ts';

/** The longest period that a timer of Node accepts, 24 days. It keeps the monitor of prom-client idle: ours runs only if metrics are scraped. */
const NEVER_MS = 2 ** 31 - 1;

interface MetricOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly Label[];
}

interface ReadMetricOptions<Label extends string> extends MetricOptions<Label> {
  /** Reads values at a scrape, for metrics that are counted in another module. */
  readonly read?: () => Iterable<MetricSeries<Label>>;
}

interface HistogramOptions<Label extends string> extends MetricOptions<Label> {
  /** Inclusive upper bounds, ascending. +Inf is added automatically. */
  readonly buckets: readonly number[];
}

export interface MetricSeries<Label extends string> {
  readonly labels: Readonly<Record<Label, string>>;
  readonly value: number;
}

export class MetricsRegistry {
  /** Registry of prom-client, for custom metrics such as LineLengths. */
  readonly registry = new Registry();

  /** Content-Type of `text`. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Prints all current metrics. */
  text(): Promise<string> {
    return this.registry.metrics();
  }

  /** Throws if the name exists, like the other methods. */
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
   * Gauge without a type, for a name of the reference that Prometheus reserves for other types: a name with
   * `_count` belongs to a histogram.
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

  /** Histogram for values that are observed for each request. */
  preparedHistogram<Label extends string>(
    options: HistogramOptions<Label> & Required<MetricOptions<Label>>,
  ): PreparedHistogram<Label> {
    return new PreparedHistogram({ ...options, registry: this.registry });
  }

  /**
   * Adds metrics of the process: CPU time, memory, event loop, garbage collection. Call it once per process:
   * each call adds an observer that is never removed.
   */
  addProcessMetrics(): void {
    collectDefaultMetrics({ register: this.registry, eventLoopMonitoringPrecision: NEVER_MS });
    for (const name of LAG_METRICS) this.registry.removeSingleMetric(name);
    addEventLoopLag(this.registry);
    // Gauges with a counter suffix, which duplicate the sums of the gauges without it.
    for (const what of ['handles', 'requests', 'resources']) {
      this.registry.removeSingleMetric(`nodejs_active_${what}_total`);
    }
  }
}

class Untyped extends Gauge {
  /** Called by prom-client's registry, although its types do not contain it. */
  async getForPromString() {
    return { ...(await this.get()), type: 'untyped' };
  }
}
