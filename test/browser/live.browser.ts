/** Auto-refresh and live mode of the log view. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilCount } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop, SHOP_QUERY } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now() - 60_000);
});
after(() => explorer.stop());

const say = (...lines: string[]) =>
  push(explorer.store, [
    {
      stream: { service_name: 'checkout', namespace: 'shop', region: 'eu-central-1' },
      values: lines.map((line, i) => [`${BigInt(Date.now()) * 1_000_000n + BigInt(i)}`, line] as const),
    },
  ]);

test('new lines come on top of the list; they wait while a user reads further down', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.log-line').first().waitFor();
  await page.getByLabel('Refresh').selectOption('live');
  await untilParam(page, 'live', '1');
  await page.locator('.live-state').getByText('Live', { exact: true }).waitFor();
  await say('a new order', 'a newer order');
  const first = page.locator('.log-line .log-text').first();
  await first.getByText('a newer order').waitFor();
  await untilCount(page.getByText('a new order', { exact: true }), 1);
  // A tail begins with lines that are in the list.
  await eventually(
    () => page.locator('.log-time').allTextContents(),
    times => assert.equal(new Set(times.slice(2)).size, times.length - 2),
  );
  await assertAccessible(page);
  await screenshot(page, 'logs-live');

  await page.locator('.log-line').nth(3).hover();
  await page.mouse.wheel(0, 600);
  await page.locator('.live-state').getByText('Paused').waitFor();
  await say('the newest order');
  await page.getByRole('button', { name: 'Show 1 new line' }).click();
  await first.getByText('the newest order').waitFor();
  await page.getByLabel('Refresh').selectOption('0');
  await untilParam(page, 'live', null);
  await untilCount(page.locator('.live-state'), 0);
  await first.getByText('the newest order').waitFor();
  await done();
});

test('a refresh brings new lines, keeps those that are shown until then, and waits for open details', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY, { refresh: '5' }) });
  const first = page.locator('.log-line .log-text').first();
  await first.waitFor();
  await say('refreshed once');
  await first.getByText('refreshed once').waitFor();
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Show context' }).waitFor();
  await say('refreshed twice');
  let asked = 0;
  page.on('request', request => {
    if (request.url().includes('/query_range')) asked++;
  });
  await page.waitForTimeout(6000);
  assert.equal(asked, 0);
  await page.locator('.log-line').first().click();
  await first.getByText('refreshed twice').waitFor();
  await done();
});
