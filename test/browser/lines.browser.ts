/** Lines of many services as a person reads them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
} from './support/explorer.ts';
import { push, pushShop, SHOP_QUERY } from './support/shop.ts';

const TRACE = 'Error: card is gone\n    at pay (pay.js:10)\n    at run (run.js:20)';
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  const nowMs = Date.now();
  await pushShop(explorer.store, nowMs);
  const ns = (i: number) => `${BigInt(nowMs - i) * 1_000_000n}`;
  await push(explorer.store, [
    { stream: { service_name: 'crash', namespace: 'shop' }, values: [[ns(0), TRACE]] },
  ]);
});
after(() => explorer.stop());

test('several streams bring a column of services; one stream brings none', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  const cells = page.locator('.log-cell');
  await cells.first().waitFor();
  const services = new Set((await cells.allTextContents()).map(text => text.trim()));
  assert.ok(
    services.has('checkout') && services.has('gateway') && services.has('payment'),
    [...services].join(),
  );
  const colours = await cells.locator('i').evaluateAll(all => all.map(one => one.getAttribute('style')));
  assert.equal(new Set(colours).size, services.size);
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'lines-services');
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="checkout"}')}`);
  await page.getByText('1,200 lines').first().waitFor();
  const regions = new Set((await cells.allTextContents()).map(text => text.trim()));
  assert.deepEqual([...regions].sort(), ['eu-central-1', 'us-east-1']);
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="crash"}')}`);
  await page.getByText('1 lines', { exact: true }).waitFor();
  assert.equal(await cells.count(), 0);
  await done();
});

test('the message comes first, the other fields after it; raw lines by a button and a key', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"} |= "declined"') });
  const text = page.locator('.log-text').first();
  await text.waitFor();
  assert.match((await text.textContent()) ?? '', /^payment declinedorder=\d+error_code=card_declined/);
  assert.equal(await text.locator('mark').first().textContent(), 'declined');
  await page.getByRole('button', { name: 'Raw lines' }).click();
  await page.getByText('{"level":"error","msg":"payment').first().waitFor();
  await page.reload();
  await page.getByText('{"level":"error","msg":"payment').first().waitFor();
  await page.keyboard.press('m');
  await page.locator('.log-field').first().waitFor();
  await done();
});

test('an entry with several lines is folded, marked if the match is inside, and open has all of them', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(`${SHOP_QUERY} |= "run.js"`) });
  const text = page.locator('.log-text').first();
  await text.waitFor();
  assert.equal(await text.textContent(), 'Error: card is gone+2 lines');
  assert.equal(await text.locator('mark').textContent(), '+2 lines');
  await page.locator('.log-line').first().click();
  const details = page.getByRole('region', { name: 'Details of the line' });
  assert.equal(await details.locator('.pretty').textContent(), TRACE);
  await done();
});

test('at phone width the service is above the line', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(SHOP_QUERY),
    viewport: PHONE,
    colorScheme: 'dark',
  });
  await page.locator('.log-cell').first().waitFor();
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'lines-phone');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width);
  await done();
});
