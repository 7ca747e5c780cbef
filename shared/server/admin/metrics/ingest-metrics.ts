/**
 * Metrics of pushes under the reference's names (docs/dev/wire-format.md#metrics). A push adds to plain numbers.
 * Labels are added at a scrape.
 *
 * Pitfall: `received` in these metrics includes everything that was decoded, even refused entries, as in the
 * reference. An event `received` of the observer contains only what was stored. Refused bytes are not
 * divided, so the metric of metadata bytes only counts stored entries.
 */
import type { Counter } from 'prom-client';
import type { IngestObserver, Mutated, Received, Refused } from '../../../write/ingest/observer.ts';
import { BoundedNames, OTHER } from './bounded-names.ts';
import type { MetricSeries, MetricsRegistry } from './registry.ts';

/** Tenants with separate series. More would make a scrape several megabytes. */
export const MAX_NAMED_TENANTS = 10_000;
/** Maximum series of each of the two families: tenants times formats times policies (times reasons). */
const MAX_SERIES = 50_000;

interface IngestSource {
  readonly tenant: string;
  readonly policy: string;
  readonly format: string;
}

interface ReceivedTotals extends IngestSource {
  lines: number;
  bytes: number;
  metadataBytes: number;
}

interface RefusedTotals extends IngestSource {
  readonly reason: string;
  lines: number;
  bytes: number;
}

interface IngestMetricsOptions {
  /** Retention of a tenant's logs in hours; 0 is forever. */
  readonly retentionHoursOf: (tenant: string) => number;
  readonly maxNamedTenants?: number;
}

type ReceivedLabel = 'tenant' | 'retention_hours' | 'is_internal_stream' | 'policy' | 'format';
type RefusedLabel = 'reason' | 'tenant' | 'retention_hours' | 'policy' | 'format';

export class IngestMetrics implements IngestObserver {
  readonly #receivedTotals = new Map<string, ReceivedTotals>();
  readonly #refusedTotals = new Map<string, RefusedTotals>();
  readonly #mutatedLines: Counter<'reason' | 'tenant'>;
  readonly #mutatedBytes: Counter<'reason' | 'tenant'>;
  readonly #tenants: BoundedNames;
  readonly #retentionHoursOf: (tenant: string) => number;

  constructor(registry: MetricsRegistry, { retentionHoursOf, maxNamedTenants }: IngestMetricsOptions) {
    this.#tenants = new BoundedNames(maxNamedTenants ?? MAX_NAMED_TENANTS);
    this.#retentionHoursOf = retentionHoursOf;
    registerReceived(registry, pick => this.#receivedSeries(pick));
    registerRefused(registry, pick => this.#refusedSeries(pick));
    const labels = ['reason', 'tenant'] as const;
    this.#mutatedLines = registry.counter<'reason' | 'tenant'>({
      name: 'loki_mutated_samples_total',
      help: 'Entries changed to keep to a limit, by reason.',
      labels,
    });
    this.#mutatedBytes = registry.counter<'reason' | 'tenant'>({
      name: 'loki_mutated_bytes_total',
      help: 'Bytes removed from entries to keep to a limit, by reason.',
      labels,
    });
  }

  received({ lines, lineBytes, metadataBytes, ...event }: Received): void {
    const totals = this.#receivedOf(event);
    totals.lines += lines;
    totals.bytes += lineBytes + metadataBytes;
    totals.metadataBytes += metadataBytes;
  }

  refused({ lines, bytes, reason, ...event }: Refused): void {
    const received = this.#receivedOf(event);
    received.lines += lines;
    received.bytes += bytes;
    const refused = this.#refusedOf(reason, event);
    refused.lines += lines;
    refused.bytes += bytes;
  }

  mutated({ tenant, reason, lines, bytes }: Mutated): void {
    const labels = { reason, tenant: this.#tenants.of(tenant) };
    this.#mutatedLines.inc(labels, lines);
    this.#mutatedBytes.inc(labels, bytes);
  }

  #receivedOf(event: IngestSource): ReceivedTotals {
    const tenant = this.#tenants.of(event.tenant);
    const key = `${tenant} ${event.format} ${event.policy}`;
    const known = this.#receivedTotals.get(key);
    if (known !== undefined) return known;
    const source = this.#receivedTotals.size < MAX_SERIES ? { ...sourceOf(event), tenant } : NO_SOURCE;
    const totals = { ...source, lines: 0, bytes: 0, metadataBytes: 0 };
    return getOrAdd(this.#receivedTotals, source === NO_SOURCE ? OTHER : key, totals);
  }

  #refusedOf(reason: string, event: IngestSource): RefusedTotals {
    const tenant = this.#tenants.of(event.tenant);
    const key = `${reason} ${tenant} ${event.format} ${event.policy}`;
    const known = this.#refusedTotals.get(key);
    if (known !== undefined) return known;
    const source = this.#refusedTotals.size < MAX_SERIES ? { ...sourceOf(event), tenant } : NO_SOURCE;
    const totals = { ...source, reason, lines: 0, bytes: 0 };
    return getOrAdd(this.#refusedTotals, source === NO_SOURCE ? `${reason} ${OTHER}` : key, totals);
  }

  *#receivedSeries(pick: (totals: ReceivedTotals) => number): Iterable<MetricSeries<ReceivedLabel>> {
    for (const totals of this.#receivedTotals.values()) {
      yield { labels: { ...this.#labelsOf(totals), is_internal_stream: 'false' }, value: pick(totals) };
    }
  }

  *#refusedSeries(pick: (totals: RefusedTotals) => number): Iterable<MetricSeries<RefusedLabel>> {
    for (const totals of this.#refusedTotals.values()) {
      yield { labels: { reason: totals.reason, ...this.#labelsOf(totals) }, value: pick(totals) };
    }
  }

  #labelsOf({ tenant, policy, format }: IngestSource) {
    const hours = Math.floor(this.#retentionHoursOf(tenant));
    return { tenant, retention_hours: hours > 0 ? String(hours) : '', policy, format };
  }
}

/** Source of series beyond the limit. */
const NO_SOURCE: IngestSource = { tenant: OTHER, policy: '', format: '' };

function sourceOf({ policy, format }: IngestSource) {
  return { policy, format };
}

/** Returns the value for the key, or adds `made`. */
function getOrAdd<T>(totals: Map<string, T>, key: string, made: T): T {
  const known = totals.get(key);
  if (known !== undefined) return known;
  totals.set(key, made);
  return made;
}

function registerReceived(
  registry: MetricsRegistry,
  series: (pick: (totals: ReceivedTotals) => number) => Iterable<MetricSeries<ReceivedLabel>>,
): void {
  const labels: ReceivedLabel[] = ['tenant', 'retention_hours', 'is_internal_stream', 'policy', 'format'];
  registry.counter<ReceivedLabel>({
    name: 'loki_distributor_bytes_received_total',
    help: 'Bytes of lines and structured metadata in pushes, including refused ones.',
    labels,
    read: () => series(totals => totals.bytes),
  });
  registry.counter<ReceivedLabel>({
    name: 'loki_distributor_structured_metadata_bytes_received_total',
    help: 'Bytes of structured metadata of stored entries.',
    labels,
    read: () => series(totals => totals.metadataBytes),
  });
  registry.counter<Exclude<ReceivedLabel, 'retention_hours'>>({
    name: 'loki_distributor_lines_received_total',
    help: 'Lines in pushes, including refused ones.',
    labels: ['tenant', 'is_internal_stream', 'policy', 'format'],
    *read() {
      for (const { labels, value } of series(totals => totals.lines)) {
        const { retention_hours: _, ...kept } = labels;
        yield { labels: kept, value };
      }
    },
  });
}

function registerRefused(
  registry: MetricsRegistry,
  series: (pick: (totals: RefusedTotals) => number) => Iterable<MetricSeries<RefusedLabel>>,
): void {
  const labels: RefusedLabel[] = ['reason', 'tenant', 'retention_hours', 'policy', 'format'];
  registry.counter<RefusedLabel>({
    name: 'loki_discarded_samples_total',
    help: 'Refused entries, by reason.',
    labels,
    read: () => series(totals => totals.lines),
  });
  registry.counter<RefusedLabel>({
    name: 'loki_discarded_bytes_total',
    help: 'Bytes of refused lines and structured metadata, by reason.',
    labels,
    read: () => series(totals => totals.bytes),
  });
}
