/** docs/reference/metrics.md has each metric of a store with its help text. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { METRICS_MARK, METRICS_PAGE, metricsTable } from '../../scripts/metrics-table.ts';
import { startStore } from '../end-to-end/support/store.ts';
import { ROOT } from './pages.ts';

test(`${METRICS_PAGE} is up to date: after a change of metrics, node scripts/make-metrics-reference.ts`, async () => {
  const store = await startStore('auth_enabled: false');
  try {
    const { text } = await store.client.send({ method: 'GET', path: '/metrics' });
    expect(readFileSync(join(ROOT, METRICS_PAGE), 'utf8').split(METRICS_MARK)[1]).toBe(metricsTable(text));
  } finally {
    await store.stop();
  }
});

test('a row has name, type and help text; metrics of the runtime have none', () => {
  const text =
    '# HELP a_total What | is.\n# TYPE a_total counter\na_total 1\n# HELP nodejs_x X.\n# TYPE nodejs_x gauge\n';
  expect(metricsTable(text).trim().split('\n').slice(4)).toEqual(['| `a_total` | counter | What \\| is. |']);
});
