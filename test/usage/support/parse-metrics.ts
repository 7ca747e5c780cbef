/** Reads Prometheus text format as a scraper does; throws on lines that are none. */
interface ParsedMetrics {
  readonly types: ReadonlyMap<string, string>;
  /** Value of the series with exactly these labels. */
  value(name: string, labels: Readonly<Record<string, string>>): number | undefined;
  /** Series of a name. */
  names(name: string): readonly string[];
}

// A label may hold what JavaScript takes for the end of a line.
const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)/gsy;

export function parseMetrics(text: string): ParsedMetrics {
  const types = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('# HELP ')) continue;
    if (line.startsWith('# TYPE ')) {
      const [, , name, type] = line.split(' ');
      if (types.has(name)) throw new Error(`two metrics ${name}`);
      types.set(name, type);
      continue;
    }
    const sample = SAMPLE.exec(line);
    if (sample === null) throw new Error(`no sample: ${line}`);
    const [, name, labels = '', value] = sample;
    const key = keyOf(name, parseLabels(labels));
    if (values.has(key)) throw new Error(`two series ${key}`);
    values.set(key, Number(value));
  }
  return {
    types,
    value: (name, labels) => values.get(keyOf(name, labels)),
    names: name => [...values.keys()].filter(key => key.startsWith(`${name}{`)),
  };
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of text.matchAll(LABEL)) {
    labels[match[1]] = match[2].replace(/\\(.)/g, (_, escaped: string) => (escaped === 'n' ? '\n' : escaped));
    end = match.index + match[0].length;
  }
  if (end !== text.length) throw new Error(`no labels: ${text}`);
  return labels;
}

function keyOf(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return `${name}{${pairs.map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(',')}}`;
}
