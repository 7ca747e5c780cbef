/**
 * Parses metrics in text format and adds them up, to combine many function instances into one page. It only
 * parses what this program prints (registry.ts). So it supports no timestamps, no exemplars and no spaces in
 * names.
 *
 *     # HELP loki_panic_total ...
 *     # TYPE loki_panic_total counter
 *     loki_panic_total 3
 *
 * Pitfall: a label value may contain spaces, braces and escaped quotes, so a sample is split at its last
 * space. Counters and histograms are sums over all past and present instances. Gauges are sums over present
 * ones.
 */
import { BoundedNames } from './bounded-names.ts';

export interface MetricFamily {
  /** Empty if it was omitted. */
  readonly help: string;
  /** `counter`, `gauge`, `histogram`, or `untyped`, which is a gauge whose name does not allow that type. */
  readonly type: string;
  /** Samples by name and labels, as printed. */
  readonly samples: ReadonlyMap<string, number>;
}

/** Families by name, in order of first occurrence. */
export type Exposition = ReadonlyMap<string, MetricFamily>;

const HELP = '# HELP ';
const TYPE = '# TYPE ';

export function parseExposition(text: string): Exposition {
  const families = new Map<string, MetricFamily & { readonly samples: Map<string, number> }>();
  let help = '';
  let samples = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line.startsWith(HELP)) {
      help = line.slice(line.indexOf(' ', HELP.length) + 1);
    } else if (line.startsWith(TYPE)) {
      const [name, type] = line.slice(TYPE.length).split(' ');
      samples = new Map();
      families.set(name, { help, type, samples });
      help = '';
    } else if (line !== '') {
      const cut = line.lastIndexOf(' ');
      samples.set(line.slice(0, cut), numberOf(line.slice(cut + 1)));
    }
  }
  return families;
}

/** Same format as prom-client, with a single line break at the end. */
export function printExposition(families: Exposition): string {
  const lines: string[] = [];
  for (const [name, { help, type, samples }] of families) {
    if (help !== '') lines.push(`${HELP}${name} ${help}`);
    lines.push(`${TYPE}${name} ${type}`);
    for (const [sample, value] of samples) lines.push(`${sample} ${value}`);
    lines.push('');
  }
  return lines.join('\n');
}

/** Gauges that describe the whole store, so the maximum counts instead of the sum. */
const OF_THE_STORE = /^loki_compactor_|_info$|_timestamp_seconds$/;

interface SumOptions {
  /** Tenants with separate names. Later ones count as `other`. */
  readonly maxTenants: number;
}

/** Adds up expositions one by one. */
export class ExpositionSum {
  readonly #families = new Map<string, MetricFamily & { readonly samples: Map<string, number> }>();
  readonly #tenants: BoundedNames;

  constructor({ maxTenants }: SumOptions) {
    this.#tenants = new BoundedNames(maxTenants);
  }

  add(families: Exposition): void {
    for (const [name, { help, type, samples }] of families) {
      let sum = this.#families.get(name);
      if (sum === undefined) this.#families.set(name, (sum = { help, type, samples: new Map() }));
      const takesLargest = isGauge(type) && OF_THE_STORE.test(name);
      for (const [sample, value] of samples) {
        const key = this.#named(sample);
        const before = sum.samples.get(key);
        const both = takesLargest ? Math.max(before ?? value, value) : (before ?? 0) + value;
        sum.samples.set(key, both);
      }
    }
  }

  get all(): Exposition {
    return this.#families;
  }

  /**
   * Replaces the tenant in a sample if it exceeds the limit. `user` is the reference's other name for a
   * tenant.
   */
  #named(sample: string): string {
    if (!sample.includes('tenant="') && !sample.includes('user="')) return sample;
    return sample.replace(
      /([{,](?:tenant|user)=")((?:[^"\\]|\\.)*)"/,
      (_, label: string, tenant: string) => `${label}${this.#tenants.of(tenant)}"`,
    );
  }
}

/** Part of an ended instance that remains: gauges of ended instances have no meaning. */
export function withoutGauges(families: Exposition): Exposition {
  return new Map([...families].filter(([, { type }]) => !isGauge(type)));
}

/** Difference of counters since `before` was taken from the same registry, and current gauges. */
export function sinceExposition(families: Exposition, before: Exposition): Exposition {
  return new Map(
    [...families].map(([name, family]) => {
      const known = before.get(name)?.samples;
      if (isGauge(family.type) || known === undefined) return [name, family] as const;
      const samples = new Map(
        [...family.samples].map(([key, value]) => [key, value - (known.get(key) ?? 0)]),
      );
      return [name, { ...family, samples }] as const;
    }),
  );
}

function isGauge(type: string): boolean {
  return type === 'gauge' || type === 'untyped';
}

/** Parses infinities in the syntax of Prometheus. Other non-numbers count as 0. */
function numberOf(text: string): number {
  const value = text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
  return Number.isNaN(value) ? 0 : value;
}
