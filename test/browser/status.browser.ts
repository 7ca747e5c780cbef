/** The status page for an operator of the store. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilCount, untilFits, untilText } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

/** A job runs every 5 seconds; on a loaded machine some later. */
const MAX_ASKS = 60;
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer(
    'auth_enabled: false\nlimits_config: { reject_old_samples: false }\ncompactor: { compaction_interval: 5s }\nlogboom: { collection_interval: 5s, index_sync_interval: 5s }',
  );
  await pushShop(explorer.store, Date.now());
  const params = new URLSearchParams({ query: `${SHOP_QUERY} |= "charged"` });
  for (let i = 0; i < 3; i++) {
    await (await fetch(`${explorer.store.url}/svc/api/v1/query_range?${params}`)).text();
  }
});
after(() => explorer.stop());

test('readiness, services, metrics, jobs and members', async () => {
  const { page, done } = await explorer.open({ hash: '#/status' });
  await page.getByText('Ready', { exact: true }).waitFor();
  await page.getByText(/^node v\d+/).waitFor();
  await page.getByText(/^(\d+) of \1 running$/).waitFor();
  await page.getByText('query-frontend', { exact: true }).waitFor();
  await page.getByRole('progressbar', { name: 'Hits of the pages cache' }).waitFor();
  await untilText(page.locator('.figure').filter({ hasText: 'Requests' }), /Requests\d+no failures/);
  const jobs = page.getByRole('region', { name: 'Maintenance', exact: true });
  const compaction = jobs.getByRole('row', { name: /^compaction 5s Done/ });
  for (let i = 0; i < MAX_ASKS && (await compaction.count()) === 0; i++) {
    await page.waitForTimeout(1000);
    await page.getByRole('button', { name: 'Refresh' }).click();
  }
  await compaction.waitFor();
  const members = page.getByRole('region', { name: 'Members and rings', exact: true });
  await members.getByRole('row', { name: /active( yes){6}/ }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'status');
  await done();
});

test('the level that is logged is changed', async () => {
  const { page, done } = await explorer.open({ hash: '#/status', colorScheme: 'dark' });
  const levels = page.getByRole('group', { name: 'Minimum log level' });
  await levels.getByText('error').click();
  await levels.locator('.chosen').getByText('error').waitFor();
  await eventually(
    async () => (await fetch(`${explorer.store.url}/log_level`)).text(),
    level => assert.match(level, /level is error/),
  );
  await page.getByRole('progressbar', { name: 'Hits of the pages cache' }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'status-dark');
  await done();
});

test('the configuration: what was changed, one section, words', async () => {
  const { page, done } = await explorer.open({ hash: '#/status' });
  const panel = page.getByRole('region', { name: 'Configuration', exact: true });
  await panel.getByRole('row', { name: 'compactor.compaction_interval 5s' }).waitFor();
  await panel.getByText('All', { exact: true }).click();
  await untilParam(page, 'mode', 'full');
  await panel.getByLabel('Section').selectOption('compactor');
  await untilParam(page, 'section', 'compactor');
  await panel.getByRole('row', { name: /^compactor\.retention_enabled/ }).waitFor();
  await panel.getByRole('searchbox').fill('cancel period');
  await panel.getByRole('row', { name: /^compactor\.delete_request_cancel_period/ }).waitFor();
  await untilCount(panel.locator('tbody tr'), 1);
  await panel.scrollIntoViewIfNeeded();
  await screenshot(page, 'status-config');
  await page.reload();
  await panel.getByRole('row', { name: /^compactor\.delete_request_cancel_period/ }).waitFor();
  await panel.getByRole('searchbox').fill('no such thing');
  await panel.getByText('No values match your search.').waitFor();
  await done();
});

test('on a phone; what may not be seen says so and hides no other', async () => {
  const { page, done } = await explorer.open({
    hash: '#/nowhere',
    viewport: PHONE,
    expects: /status of (403|503)/,
  });
  await page.route('**/ready', route =>
    route.fulfill({ status: 503, body: 'Ingester not ready: starting\n' }),
  );
  await page.route('**/services', route =>
    route.fulfill({ status: 403, body: 'the token has not the scope admin' }),
  );
  await page.goto(`${explorer.store.url}/ui/#/status`);
  await page.getByText('Ingester not ready: starting').waitFor();
  await page.getByRole('alert').getByText('the token has not the scope admin').waitFor();
  await page.getByRole('progressbar', { name: 'Hits of the pages cache' }).waitFor();
  await page.getByRole('region', { name: 'Members by ring' }).waitFor();
  await assertAccessible(page);
  await untilFits(page, PHONE.width, '.panel-page');
  await screenshot(page, 'status-phone');
  await done();
});
