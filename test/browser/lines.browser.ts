/** Lines of many services as a person reads them. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  eventually,
  untilCount,
  untilFits,
  untilStill,
  untilText,
  untilTexts,
} from './support/eventually.ts';
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
  const distinct = async () => new Set((await cells.allTextContents()).map(text => text.trim()));
  await eventually(
    async () => {
      const services = await distinct();
      const colors = await cells
        .locator('i')
        .evaluateAll(all => all.map(one => `${one.getAttribute('style')} ${one.className}`));
      return { services, colors: new Set(colors) };
    },
    ({ services, colors }) => {
      for (const name of ['checkout', 'gateway', 'payment']) {
        assert.ok(services.has(name), [...services].join());
      }
      assert.equal(colors.size, services.size);
    },
  );
  const color = (service: string) =>
    cells.filter({ hasText: service }).first().locator('i').getAttribute('style');
  const hue = await eventually(
    () => color('payment'),
    found => assert.ok(found !== null),
  );
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'lines-services');
  // The same color in another list, where other services come first.
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name=~"payment|worker"}')}`);
  await page.getByText('1,170 lines').first().waitFor();
  await eventually(
    () => color('payment'),
    found => assert.equal(found, hue),
  );
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="checkout"}')}`);
  await page.getByText('1,200 lines').first().waitFor();
  await eventually(distinct, regions => assert.deepEqual([...regions].sort(), ['eu-central-1', 'us-east-1']));
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="crash"}')}`);
  await page.getByText('1 line', { exact: true }).waitFor();
  await untilCount(cells, 0);
  await done();
});

test('the message comes first, the other fields after it; raw lines by a button and a key', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"} |= "declined"') });
  const text = page.locator('.log-text').first();
  await text.waitFor();
  await untilText(text, /^payment declined order=\d+ error_code=card_declined/);
  await untilText(text.locator('mark').first(), 'declined');
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
  await untilText(text, 'Error: card is gone +2 lines');
  await untilText(text.locator('mark'), '+2 lines');
  await page.locator('.log-line').first().click();
  const details = page.getByRole('region', { name: 'Line details' });
  await untilText(details.locator('.pretty'), TRACE);
  await done();
});

test('columns are chosen, moved and resized, and kept in the address and in the browser', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(`${SHOP_QUERY} |~ "declined|timed out"`) });
  const heads = page.locator('.column-head');
  await heads.first().waitFor();
  await untilTexts(heads, ['service_name']);
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
  await eventually(
    () => declined.locator('.log-cell').allTextContents(),
    cells => {
      assert.deepEqual([cells[0], cells[2]], ['checkout', 'card_declined']);
      assert.match(cells[1], /^[0-9a-f]{12}$/);
    },
  );

  const edge = page.getByRole('separator', { name: 'Width of trace_id' });
  await edge.focus();
  await page.keyboard.press('ArrowRight');
  await untilParam(page, 'cols', 'service_name,trace_id.120,error_code');
  const box = await untilStill(edge);
  await page.mouse.move(box.x + 6, box.y + 6);
  await page.mouse.down();
  await page.mouse.move(box.x - 24, box.y + 6, { steps: 4 });
  await page.mouse.up();
  await untilParam(page, 'cols', 'service_name,trace_id.90,error_code');
  await eventually(
    () => declined.locator('.log-cell').nth(1).boundingBox(),
    cell => assert.equal(cell?.width, 90),
  );
  await heads.nth(2).locator('.column-name').dragTo(heads.nth(0).locator('.column-name'));
  await untilParam(page, 'cols', 'error_code,service_name,trace_id.90');
  await screenshot(page, 'columns');

  // Another query in this browser: columns without a value are omitted.
  await page.goto(`${explorer.store.url}/ui/${logsHash('{service_name="payment"}')}`);
  await page.getByText('900 lines').first().waitFor();
  await untilTexts(heads, ['service_name', 'trace_id']);
  await page.locator('.log-line').first().click();
  await page.getByRole('button', { name: 'Add provider as a column' }).click();
  await untilParam(page, 'cols', 'service_name,trace_id.90,provider');
  await page.getByRole('button', { name: 'Select columns' }).click();
  await panel.getByRole('button', { name: 'Use automatic columns' }).click();
  await untilParam(page, 'cols', null);
  await untilTexts(heads, ['region']);
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
  const box = await untilStill(page.getByRole('region', { name: 'Columns' }));
  assert.ok(box.x >= 0 && box.x + box.width <= PHONE.width, JSON.stringify(box));
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'columns-phone');
  await untilFits(page, PHONE.width);
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
  await untilFits(page, PHONE.width);
  await done();
});
