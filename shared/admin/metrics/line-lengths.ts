/**
 * `loki_bytes_per_line`: lengths of stored lines, in buckets that grow eightfold. A histogram of prom-client takes one
 * value at a time and hashes labels for each; this one counts a push in one loop over its columns.
 */
import { Histogram } from 'prom-client';
import type { AcceptedPush } from '../../ingest/push-columns.ts';
import type { MetricsRegistry } from './registry.ts';

/** 1 B to 2 MB: the reference's buckets. */
const BUCKETS = 8;
const BOUNDS = Array.from({ length: BUCKETS }, (_, i) => 8 ** i);
const NAME = 'loki_bytes_per_line';
const HELP = 'Bytes of stored lines.';

export class LineLengths extends Histogram {
  /** By bucket; the last one is what is longer than all bounds. */
  private readonly counts = new Float64Array(BUCKETS + 1);
  private bytes = 0;

  constructor({ registry }: MetricsRegistry) {
    super({ name: NAME, help: HELP, registers: [registry], buckets: BOUNDS });
  }

  add({ columns: { lineStart, lineEnd }, entries }: AcceptedPush): void {
    this.bytes += countLengths(lineStart, lineEnd, entries, this.counts);
  }

  /** What prom-client prints: its own `get` and its registry both ask here, although its types do not tell. */
  async getForPromString() {
    const values: LineLengthValue[] = [];
    let count = 0;
    for (let i = 0; i <= BUCKETS; i++) {
      count += this.counts[i];
      const le = i < BUCKETS ? BOUNDS[i] : '+Inf';
      values.push({ labels: { le }, value: count, metricName: `${NAME}_bucket` });
    }
    values.push({ labels: {}, value: this.bytes, metricName: `${NAME}_sum` });
    values.push({ labels: {}, value: count, metricName: `${NAME}_count` });
    return { name: NAME, help: HELP, type: 'histogram', aggregator: 'sum', values };
  }
}

interface LineLengthValue {
  readonly labels: { readonly le?: string | number };
  readonly value: number;
  readonly metricName: string;
}

/** Adds to `counts`; the sum of the lengths. */
function countLengths(
  lineStart: Uint32Array,
  lineEnd: Uint32Array,
  entries: Uint32Array,
  counts: Float64Array,
): number {
  let bytes = 0;
  for (let i = 0; i < entries.length; i++) {
    const length = lineEnd[entries[i]] - lineStart[entries[i]];
    bytes += length;
    // The smallest b with length <= 8^b: a third of the bits of length - 1, rounded up.
    const bucket = length <= 1 ? 0 : Math.ceil((32 - Math.clz32(length - 1)) / 3);
    counts[Math.min(bucket, BUCKETS)]++;
  }
  return bytes;
}
