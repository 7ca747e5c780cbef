/** The table of metrics in docs/reference/metrics.md, made of what a store answers at /metrics. */
export const METRICS_PAGE = 'docs/reference/metrics.md';
/** The page is written by hand up to this line. */
export const METRICS_MARK =
  '<!-- Generated from here on by `node scripts/make-metrics-reference.ts`: do not edit below. -->\n';
/** Of the client library and of Node.js, the same in every program. */
const OF_RUNTIME = /^(process|nodejs)_/;

/** Each metric with its type and its help text, in alphabetical order. */
export function metricsTable(metrics: string): string {
  const types = new Map(
    [...metrics.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]),
  );
  const rows = [...metrics.matchAll(/^# HELP (\S+) (.*)$/gm)]
    .filter(([, name]) => !OF_RUNTIME.test(name))
    .map(([, name, help]) => `| \`${name}\` | ${types.get(name)} | ${help.replaceAll('|', '\\|')} |`)
    .sort();
  return `\n## All metrics\n\n| name | type | meaning |\n|---|---|---|\n${rows.join('\n')}\n`;
}
