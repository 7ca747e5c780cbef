/** Metric queries: kinds of charts, units, totals, and the comparison with an earlier time. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { eventually, untilCount, untilFits, untilText } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop } from './support/shop.ts';

const COUNTS = 'sum by (service_name) (count_over_time({namespace="shop"}[$__auto]))';
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  const nowMs = Date.now();
  await pushShop(explorer.store, nowMs);
  // The day before has half as many of one service.
  const values = Array.from({ length: 450 }, (_, i) => {
    const ns = BigInt(nowMs - MS_PER_DAY - i * 6000) * 1_000_000n;
    return [`${ns}`, 'charged yesterday'] as const;
  });
  await push(explorer.store, [
    { stream: { service_name: 'payment', namespace: 'shop' }, values: [...values] },
  ]);
});
after(() => explorer.stop());

test('series as stacked areas, as a top list, and as values; the address keeps which', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(COUNTS) });
  const panel = page.getByRole('region', { name: 'Query values' });
  await panel.getByText('Area', { exact: true }).click();
  await untilParam(page, 'chart', 'area');
  await panel.locator('.chart-plot.area canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'metric-area');

  await panel.getByText('Top list', { exact: true }).click();
  await untilParam(page, 'chart', 'top');
  const list = panel.getByRole('list', { name: 'Series by their last value' });
  await eventually(
    () => list.locator('.top-list-label').allTextContents(),
    labels => assert.deepEqual(labels.toSorted(), ['checkout', 'gateway', 'payment', 'worker']),
  );
  await eventually(
    async () => (await list.locator('.numeric').allTextContents()).map(Number),
    numbers => {
      assert.equal(numbers.length, 4);
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => b - a),
      );
    },
  );
  await assertAccessible(page);
  await screenshot(page, 'metric-top');

  await panel.getByText('Values', { exact: true }).click();
  await untilParam(page, 'chart', 'value');
  const values = panel.getByRole('list', { name: 'Last values' });
  const small = values.getByRole('img', { name: /over time$/ });
  await small.first().waitFor();
  await untilCount(small, 4);
  await assertAccessible(page);
  await screenshot(page, 'metric-values');
  await done();
});

test('a heat map, further queries in the same chart, and a unit of choice', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(COUNTS, { chart: 'heat' }) });
  const panel = page.getByRole('region', { name: 'Query values' });
  const map = panel.getByRole('img', { name: /Values of 4 series/ });
  await map.waitFor();
  await untilCount(panel.locator('.heat-labels li'), 4);
  await map.hover({ position: { x: 700, y: 10 } });
  await panel.locator('.heat-pointed').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'metric-heat');

  await page.getByRole('button', { name: 'Add query' }).click();
  await page
    .getByRole('textbox', { name: 'Query B' })
    .fill('sum(count_over_time({namespace="shop"} |= "error" [$__auto]))');
  await page.getByRole('textbox', { name: 'Query B' }).press('Enter');
  await panel.getByText('5 series').waitFor();
  await panel.getByText('Lines', { exact: true }).click();
  await panel.getByRole('button', { name: 'B: value' }).waitFor();
  await panel.getByRole('button', { name: 'A: checkout' }).click();
  await panel.getByLabel('Unit').selectOption('percent');
  await untilParam(page, 'unit', 'percent');
  await panel.getByRole('cell', { name: /%$/ }).first().waitFor();
  await assertAccessible(page);
  await screenshot(page, 'metric-several');
  await page.getByRole('button', { name: 'Remove query B' }).click();
  await untilParam(page, 'more', null);
  await panel.getByText('4 series').waitFor();
  await done();
});

test('the table has totals, and values of bytes and durations have units', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('sum(bytes_over_time({service_name="gateway"}[$__auto]))'),
  });
  const panel = page.getByRole('region', { name: 'Query values' });
  const cells = panel.getByRole('row').nth(1).getByRole('cell');
  await untilText(cells.nth(5), /^\d+ kB$/);
  const took =
    'max(max_over_time({service_name="payment"} | logfmt | unwrap duration(duration) | __error__="" [$__auto]))';
  await page.goto(`${explorer.store.url}/ui/${logsHash(took)}`);
  await panel
    .getByRole('cell', { name: /^\d+ ms$/ })
    .first()
    .waitFor();
  await done();
});

test('values are compared with those of the previous day, in dashes', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash('sum by (service_name) (count_over_time({service_name="payment"}[$__auto]))'),
  });
  const panel = page.getByRole('region', { name: 'Query values' });
  await panel.getByLabel('Compare with').selectOption('1d');
  await untilParam(page, 'compare', '1d');
  await page.getByRole('img', { name: /compared with the previous day/ }).waitFor();
  // The second response draws a new chart, which has no pointer.
  const tip = panel.getByText('payment, the previous day');
  for (let tries = 0; tries < 50 && !(await tip.isVisible()); tries++) {
    await panel.locator('.u-over').hover({ position: { x: 600 + tries, y: 50 } });
  }
  await tip.waitFor();
  await assertAccessible(page);
  await screenshot(page, 'metric-compare');
  await panel.getByText('Bars', { exact: true }).click();
  await untilParam(page, 'chart', 'bars');
  await untilCount(panel.getByLabel('Compare with'), 0);
  await done();
});

test('at phone width the kinds of charts fit', async () => {
  const { page, done } = await explorer.open({
    hash: logsHash(COUNTS, { chart: 'value' }),
    viewport: PHONE,
    colorScheme: 'dark',
  });
  await page.getByRole('list', { name: 'Last values' }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'metric-phone');
  await untilFits(page, PHONE.width);
  await done();
});
