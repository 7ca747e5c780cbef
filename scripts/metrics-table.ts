/** Table of metrics in docs/reference/metrics.md, from the response of a store at /metrics. */
export const METRICS_PAGE = 'docs/reference/metrics.md';
/** End of the handwritten part of the page. */
export const METRICS_MARK =
  '<!-- Generated from here on by `node scripts/make-metrics-reference.ts`: do not edit below. -->\n';
/** Metrics of the client library and of Node.js, equal in every program. */
const OF_RUNTIME = /^(process|nodejs)_/;

/** Metrics with type and help text, in alphabetical order. */
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
