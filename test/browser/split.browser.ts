/** Two queries side by side. */
import { after, before, test } from 'node:test';
import { untilFits } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

test('a second query has its own lines, and the time range of the first until it gets another', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="payment"}') });
  const first = page.getByRole('region', { name: 'Query', exact: true });
  const second = page.getByRole('region', { name: 'Second query' });
  await first.getByText('900 lines').first().waitFor();
  await page.getByRole('button', { name: 'Split view' }).click();
  await untilParam(page, 'q2', '{service_name="payment"}');
  await second.getByText('900 lines').first().waitFor();
  await second.locator('.log-line').first().click();
  await second.getByRole('button', { name: /^Only lines with region = us-east-1/ }).click();
  await untilParam(page, 'q2', '{service_name="payment", region="us-east-1"}');
  await untilParam(page, 'q', '{service_name="payment"}');
  await second.getByText('300 lines').first().waitFor();
  await first.getByText('900 lines').first().waitFor();

  await first.getByRole('button', { name: 'Last hour' }).click();
  await first.getByRole('button', { name: 'Last 6 hours' }).click();
  await untilParam(page, 'from', 'now-6h');
  await second.getByRole('button', { name: 'Last 6 hours' }).waitFor();
  await untilParam(page, 'from2', null);
  await second.getByRole('button', { name: 'Last 6 hours' }).click();
  await second.getByRole('button', { name: 'Last hour' }).click();
  await untilParam(page, 'from2', 'now-1h');
  await first.getByRole('button', { name: 'Last 6 hours' }).waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').nth(1).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'split');

  await page.reload();
  await second.getByText('300 lines').first().waitFor();
  await second.getByRole('button', { name: 'Close the second query' }).click();
  await second.waitFor({ state: 'detached' });
  for (const name of ['split', 'q2', 'from2']) await untilParam(page, name, null);
  await done();
});

test('at phone width they are one above the other', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('{service_name="payment"}', { split: '1', q2: 'declined' }),
    viewport: PHONE,
    colorScheme: 'dark',
  });
  const second = page.getByRole('region', { name: 'Second query' });
  await second.locator('.log-line').first().waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').nth(1).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'split-phone');
  await untilFits(page, PHONE.width);
  await done();
});
