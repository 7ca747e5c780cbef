/**
 * `loki_bytes_per_line`: lengths of stored lines, in buckets that grow by a factor of 8. A histogram of
 * prom-client observes one value at a time and hashes labels for each. This one adds the counts of a whole
 * push, from a loop over its columns.
 */
import { Histogram } from 'prom-client';
import { LENGTH_BUCKETS, type StoredPush } from '../../../write/ingest/stored-push.ts';
import type { MetricsRegistry } from './registry.ts';

/** 1 B to 2 MB, the reference's buckets. */
const BOUNDS = Array.from({ length: LENGTH_BUCKETS }, (_, i) => 8 ** i);
const NAME = 'loki_bytes_per_line';
const HELP = 'Bytes of stored lines.';

export class LineLengths extends Histogram {
  /** Counts by bucket. The last one is for lines longer than all bounds. */
  readonly #counts = new Float64Array(LENGTH_BUCKETS + 1);
  #bytes = 0;

  constructor({ registry }: MetricsRegistry) {
    super({ name: NAME, help: HELP, registers: [registry], buckets: BOUNDS });
  }

  add({ lineBytes, lengths }: StoredPush): void {
    this.#bytes += lineBytes;
    for (let i = 0; i <= LENGTH_BUCKETS; i++) this.#counts[i] += lengths[i];
  }

  /** Called by prom-client's own `get` and by its registry, although its types do not contain it. */
  async getForPromString() {
    const values: LineLengthValue[] = [];
    let count = 0;
    for (let i = 0; i <= LENGTH_BUCKETS; i++) {
      count += this.#counts[i];
      const le = i < LENGTH_BUCKETS ? BOUNDS[i] : '+Inf';
      values.push({ labels: { le }, value: count, metricName: `${NAME}_bucket` });
    }
    values.push({ labels: {}, value: this.#bytes, metricName: `${NAME}_sum` });
    values.push({ labels: {}, value: count, metricName: `${NAME}_count` });
    return { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values };
  }
}

interface LineLengthValue {
  readonly labels: { readonly le?: string | number };
  readonly value: number;
  readonly metricName: string;
}
