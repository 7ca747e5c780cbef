/** Parser for the subset of the Prometheus text format that the status page reads: samples with labels. */
export interface MetricSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Samples of the given names only: a store with many tenants has megabytes of others. */
export function metricSamples(text: string, names: ReadonlySet<string>): readonly MetricSample[] {
  const samples: MetricSample[] = [];
  for (const line of text.split('\n')) {
    const found = /^([A-Za-z_:][\w:]*)(?:\{(.*)\})? (\S+)/.exec(line);
    if (found === null || !names.has(found[1])) continue;
    samples.push({ name: found[1], labels: labelsOf(found[2] ?? ''), value: numberOf(found[3]) });
  }
  return samples;
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  const labels: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) {
    labels[name] = value.replace(/\\(.)/g, (_, escaped) => (escaped === 'n' ? '\n' : escaped));
  }
  return labels;
}

function numberOf(text: string): number {
  if (text === '+Inf') return Infinity;
  return text === '-Inf' ? -Infinity : Number(text);
}

/** Sum of the samples of a name that have all the labels; undefined if there is none. */
export function sumOf(
  samples: readonly MetricSample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | undefined {
  const found = samples.filter(
    sample =>
      sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
}
