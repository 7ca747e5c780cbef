/**
 * Updates the table of docs/reference/metrics.md: run `node scripts/make-metrics-reference.ts` after changing
 * a metric.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLogboom } from '../local/embed.ts';
import { METRICS_MARK, METRICS_PAGE, metricsTable } from './metrics-table.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'logboom-metrics-'));
const store = await startLogboom({ dataDir });
try {
  const metrics = await (await fetch(`${store.url}/metrics`)).text();
  const page = new URL(`../${METRICS_PAGE}`, import.meta.url);
  const [byHand] = readFileSync(page, 'utf8').split(METRICS_MARK, 1);
  writeFileSync(page, byHand + METRICS_MARK + metricsTable(metrics));
} finally {
  await store.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.stdout.write(`${METRICS_PAGE} is up to date\n`);
