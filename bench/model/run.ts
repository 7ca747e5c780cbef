/**
 * `npm run model`: requests, cost, latency and first limit of a deployment on AWS, computed from measured
 * figures (docs/dev/cost-model.md).
 *
 *     npm run model -- --gb-per-day 100 [--push-kb 1000] [--queries-per-day 10000] [--query-hours 1] [--retention 30]
 *                      [--tenants 1] [--peak 3]
 *     npm run model -- --page      computed lines of docs/cost.md, docs/dev/cost-model.md and docs/reference/aws.md
 */
import { DEFAULT_PRICES } from '../../shared/server/admin/prices.ts';
import { modelOf } from './model.ts';
import { loadOf } from './options.ts';
import { computedLines, PAGES } from './page.ts';
import { reportOf } from './report.ts';

try {
  if (process.argv[2] === '--page') {
    for (const page of PAGES) process.stdout.write(`docs/${page}\n${computedLines(page).join('\n')}\n`);
    process.exit();
  }
  const load = loadOf(process.argv.slice(2));
  process.stdout.write(`${reportOf(load, modelOf(load, DEFAULT_PRICES), 'dollars')}\n`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}
