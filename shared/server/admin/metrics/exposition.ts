/**
 * Metrics as text, read back and added up: how the figures of many function instances become one page. Only what this
 * program prints is read (registry.ts), so the parser knows no time stamps, no exemplars and no blank in a name.
 *
 *     # HELP loki_panic_total ...
 *     # TYPE loki_panic_total counter
 *     loki_panic_total 3
 *
 * What a reader would get wrong: a label's value may hold blanks, braces and escaped quotes, so a sample is cut at its
 * last blank. Counters and histograms are sums over everybody that ever counted; gauges are of those that are here now.
 */
import { BoundedNames } from './bounded-names.ts';

export interface Family {
  /** Empty where it was left away. */
  readonly help: string;
  /** `counter`, `gauge`, `histogram`, or `untyped`: a gauge whose name does not let it say so. */
  readonly type: string;
  /** By name and labels, as printed. */
  readonly samples: ReadonlyMap<string, number>;
}

/** By name, in the order in which they were met. */
export type Exposition = ReadonlyMap<string, Family>;

const HELP = '# HELP ';
const TYPE = '# TYPE ';

export function parseExposition(text: string): Exposition {
  const families = new Map<string, Family & { readonly samples: Map<string, number> }>();
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

/** As prom-client prints, but that it ends in one line break only. */
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

/** Gauges that tell of the whole store, whoever tells: the largest counts instead of the sum. */
const OF_THE_STORE = /^loki_compactor_|_info$|_timestamp_seconds$/;

export interface SumOptions {
  /** Tenants under their own names; those that come later count as `other`. */
  readonly maxTenants: number;
}

/** Adds up expositions one by one. */
export class ExpositionSum {
  readonly #families = new Map<string, Family & { readonly samples: Map<string, number> }>();
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

  /** The sample with a tenant that there is room for. `user` is the reference's other name for a tenant. */
  #named(sample: string): string {
    if (!sample.includes('tenant="') && !sample.includes('user="')) return sample;
    return sample.replace(
      /([{,](?:tenant|user)=")((?:[^"\\]|\\.)*)"/,
      (_, label: string, tenant: string) => `${label}${this.#tenants.of(tenant)}"`,
    );
  }
}

/** What is kept of an instance that is gone: a gauge of nobody means nothing. */
export function withoutGauges(families: Exposition): Exposition {
  return new Map([...families].filter(([, { type }]) => !isGauge(type)));
}

/** What came since `before` was taken from the same registry; gauges are as they are now. */
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

/** Prometheus writes infinities in its own way; whatever is no number counts nothing. */
function numberOf(text: string): number {
  const value = text === '+Inf' ? Infinity : text === '-Inf' ? -Infinity : Number(text);
  return Number.isNaN(value) ? 0 : value;
}
