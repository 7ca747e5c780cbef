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
  untilParam,
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
  const colors = await cells
    .locator('i')
    .evaluateAll(all => all.map(one => `${one.getAttribute('style')} ${one.className}`));
  assert.equal(new Set(colors).size, services.size);
  const color = (service: string) =>
    cells.filter({ hasText: service }).first().locator('i').getAttribute('style');
  const hue = await color('payment');
  assert.ok(hue !== null);
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'lines-services');
  // The same color in another list, where other services come first.
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name=~"payment|worker"}')}`);
  await page.getByText('1,170 lines').first().waitFor();
  assert.equal(await color('payment'), hue);
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="checkout"}')}`);
  await page.getByText('1,200 lines').first().waitFor();
  const regions = new Set((await cells.allTextContents()).map(text => text.trim()));
  assert.deepEqual([...regions].sort(), ['eu-central-1', 'us-east-1']);
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="crash"}')}`);
  await page.getByText('1 line', { exact: true }).waitFor();
  assert.equal(await cells.count(), 0);
  await done();
});

test('the message comes first, the other fields after it; raw lines by a button and a key', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"} |= "declined"') });
  const text = page.locator('.log-text').first();
  await text.waitFor();
  assert.match((await text.textContent()) ?? '', /^payment declined order=\d+ error_code=card_declined/);
  assert.equal(await text.locator('mark').first().textContent(), 'declined');
  await page.getByRole('button', { name: 'Raw lines' }).click();
  await page.getByText('{"level":"error","msg":"payment').first().waitFor();
  await page.reload();
  await page.getByText('{"level":"error","msg":"payment').first().waitFor();
  await page.keyboard.press('m');
  await page.locator('.log-fields').first().waitFor();
  await done();
});

test('an entry with several lines is folded, marked if the match is inside, and open has all of them', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(`${SHOP_QUERY} |= "run.js"`) });
  const text = page.locator('.log-text').first();
  await text.waitFor();
  assert.equal(await text.textContent(), 'Error: card is gone +2 lines');
  assert.equal(await text.locator('mark').textContent(), '+2 lines');
  await page.locator('.log-line').first().click();
  const details = page.getByRole('region', { name: 'Line details' });
  assert.equal(await details.locator('.pretty').textContent(), TRACE);
  await done();
});

test('columns are chosen, moved and resized, and kept in the address and in the browser', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(`${SHOP_QUERY} |~ "declined|timed out"`) });
  const heads = page.locator('.column-head');
  await heads.first().waitFor();
  assert.deepEqual(await heads.allTextContents(), ['service_name']);
  await page.getByRole('button', { name: 'Select columns' }).click();
  const panel = page.getByRole('region', { name: 'Columns' });
  await panel.getByRole('searchbox').fill('err');
  await panel.getByRole('button', { name: 'Add error_code' }).click();
  await untilParam(page, 'cols', 'service_name,error_code');
  await panel.getByRole('searchbox').fill('');
  await panel.getByRole('button', { name: 'Add trace_id' }).click();
  await panel.getByRole('button', { name: 'Move trace_id left' }).click();
  await untilParam(page, 'cols', 'service_name,trace_id,error_code');
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'columns-panel');
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });

  // A field of the line, a value of metadata, and a label in their columns.
  const declined = page.locator('.log-line', { hasText: 'payment declined' }).first();
  const cells = await declined.locator('.log-cell').allTextContents();
  assert.deepEqual([cells[0], cells[2]], ['checkout', 'card_declined']);
  assert.match(cells[1], /^[0-9a-f]{12}$/);

  const edge = page.getByRole('separator', { name: 'Width of trace_id' });
  await edge.focus();
  await page.keyboard.press('ArrowRight');
  await untilParam(page, 'cols', 'service_name,trace_id.120,error_code');
  const box = (await edge.boundingBox())!;
  await page.mouse.move(box.x + 6, box.y + 6);
  await page.mouse.down();
  await page.mouse.move(box.x - 24, box.y + 6, { steps: 4 });
  await page.mouse.up();
  await untilParam(page, 'cols', 'service_name,trace_id.90,error_code');
  assert.equal((await declined.locator('.log-cell').nth(1).boundingBox())!.width, 90);
  await heads.nth(2).locator('.column-name').dragTo(heads.nth(0).locator('.column-name'));
  await untilParam(page, 'cols', 'error_code,service_name,trace_id.90');
  await screenshot(page, 'columns');

  // Another query in this browser: columns without a value are omitted.
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="payment"}')}`);
  await page.getByText('900 lines').first().waitFor();
  // The histogram can say so before the list does.
  await heads.nth(1).waitFor();
  assert.deepEqual(await heads.allTextContents(), ['service_name', 'trace_id']);
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Add provider as a column' }).click();
  await untilParam(page, 'cols', 'service_name,trace_id.90,provider');
  await page.getByRole('button', { name: 'Select columns' }).click();
  await panel.getByRole('button', { name: 'Use automatic columns' }).click();
  await untilParam(page, 'cols', null);
  assert.deepEqual(await heads.allTextContents(), ['region']);
  await done();
});

test('at phone width the columns are chosen in a panel that fits', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(SHOP_QUERY, { cols: 'service_name,region,pod' }),
    viewport: PHONE,
    colorScheme: 'dark',
  });
  await page.locator('.log-cell').first().waitFor();
  await page.getByRole('button', { name: 'Select columns' }).click();
  const box = (await page.getByRole('region', { name: 'Columns' }).boundingBox())!;
  assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width, JSON.stringify(box));
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'columns-phone');
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), PHONE.width);
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
