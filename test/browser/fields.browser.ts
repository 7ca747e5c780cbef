/** The fields at the side of the log list. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { eventually, untilCount, untilFits, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  DESKTOP,
  type Explorer,
  logsHash,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { pushShop, SHOP_QUERY } from './support/shop.ts';

let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, Date.now());
});
after(() => explorer.stop());

const panelOf = (page: Page) => page.getByRole('complementary', { name: 'Fields' });

test('labels, metadata and fields are listed with type, values and coverage, and searched', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  await panel.locator('.field-row').first().waitFor();
  await eventually(
    () => panel.locator('.field-row').allTextContents(),
    rows => {
      assert.ok(rows.includes('namespacetext1100%'), rows.join());
      assert.ok(rows.includes('service_nametext4100%'), rows.join());
      assert.ok(
        rows.some(row => row.startsWith('durationduration')),
        rows.join(),
      );
    },
  );
  await panel.getByRole('searchbox').fill('error');
  await untilTexts(panel.locator('.field-name'), ['error_code', 'error_retry']);
  await panel.getByRole('button', { name: 'Hide fields' }).click();
  await panel.waitFor({ state: 'detached' });
  // This browser remembers what is shown.
  await page.getByRole('button', { name: 'Fields', exact: true }).click();
  await page.reload();
  await panel.locator('.field-row').first().waitFor();
  await done();
});

test('an open field has the values of the whole range with their shares; they filter in and out', async () => {
  const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY) });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  await panel.locator('.field-row', { hasText: 'provider' }).click();
  const card = panel.getByRole('region', { name: 'Field provider' });
  await card.getByText('In 900 of 3,420 lines (26%)').waitFor();
  // Values of the loaded lines are there before those of the range.
  const { values, counts } = await eventually(
    async () => {
      const shares = await card
        .locator('.top-value-share')
        .evaluateAll(all => all.map(one => one.getAttribute('title')));
      return {
        values: await card.locator('.top-value-text').allTextContents(),
        counts: shares.map(text => Number(text?.split(' ')[0])),
      };
    },
    found => {
      assert.deepEqual([...found.values].sort(), ['adyen', 'klarna', 'stripe']);
      assert.equal(
        found.counts.reduce((sum, count) => sum + count, 0),
        900,
      );
    },
  );
  await card.getByRole('button', { name: 'Only provider = adyen' }).click();
  await untilParam(page, 'q', `${SHOP_QUERY} | logfmt | provider="adyen"`);
  await page
    .getByText(`${counts[values.indexOf('adyen')]} lines`)
    .first()
    .waitFor();
  await panel.locator('.field-row', { hasText: 'region' }).click();
  await panel.getByRole('button', { name: 'Without region = us-east-1' }).click();
  await untilParam(page, 'q', '{namespace="shop", region!="us-east-1"} | logfmt | provider="adyen"');
  await done();
});

test('a field of numbers has figures of the range and a distribution', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="payment"}') });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  await panel.locator('.field-row', { hasText: /^duration/ }).click();
  const card = panel.getByRole('region', { name: 'Field duration' });
  await card
    .getByRole('img', { name: /^Distribution of duration in the loaded lines, from \d+ ms to/ })
    .waitFor();
  await card.getByText('median').waitFor();
  await eventually(
    () => card.locator('.field-figures dd').allTextContents(),
    figures => {
      const ms = figures.map(text => Number(text.replace(' ms', '')));
      assert.equal(ms.length, 5);
      assert.deepEqual(
        ms,
        ms.toSorted((a, b) => a - b),
      );
      assert.ok(ms[0] >= 20 && ms[4] < 920, figures.join());
    },
  );
  await page.locator('.volume-chart:not(.stale) canvas').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'fields');
  await done();
});

test('a field groups the lines over time, and becomes a column', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="payment"}') });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  await panel.locator('.field-row', { hasText: 'provider' }).click();
  await panel.getByRole('button', { name: 'Add column' }).click();
  await untilParam(page, 'cols', 'region,provider');
  await panel.getByRole('button', { name: 'Group by' }).click();
  await untilParam(
    page,
    'q',
    'sum by (provider) (count_over_time({service_name="payment"} | logfmt | provider!="" [$__auto]))',
  );
  await untilParam(page, 'chart', 'bars');
  const series = page.getByRole('region', { name: 'Query values' });
  await series.getByText('stripe').first().waitFor();
  await panel.waitFor({ state: 'detached' });
  await done();
});

test('closing a field ends its requests', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="payment"}') });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  await panel.locator('.field-row').first().waitFor();
  // The store never answers.
  await page.route('**/svc/api/v1/query?*', () => {});
  const ended = page.waitForEvent('requestfailed', request => request.url().includes('topk'));
  await panel.locator('.field-row', { hasText: 'provider' }).click();
  await panel.getByText('Counting values…').waitFor();
  // Those of the loaded lines, until then.
  await panel.locator('.top-value-text', { hasText: 'adyen' }).waitFor();
  await panel.locator('.field-row', { hasText: 'provider' }).click();
  assert.equal((await ended).failure()?.errorText, 'net::ERR_ABORTED');
  await done();
});

test('values of IDs are not counted, because each is in one line', async () => {
  const { page, done } = await explorer.open({ hash: logsHash('{service_name="checkout"}') });
  await page.locator('.log-line').first().waitFor();
  await page.keyboard.press('f');
  const panel = panelOf(page);
  const asked: string[] = [];
  page.on('request', request => asked.push(decodeURIComponent(request.url())));
  await panel.locator('.field-row', { hasText: 'trace_id' }).click();
  const card = panel.getByRole('region', { name: 'Field trace_id' });
  await card.getByText(/^In [\d,]+ of 1,200 lines/).waitFor();
  await card.getByText('Most lines have a different value.').waitFor();
  await untilCount(card.locator('.top-value-text'), 10);
  assert.deepEqual(
    asked.filter(url => url.includes('topk')),
    [],
  );
  await done();
});

for (const [name, viewport, colorScheme] of [
  ['fields-phone', PHONE, 'light'],
  ['fields-dark', DESKTOP, 'dark'],
] as const) {
  test(`fields at ${viewport.width} pixels in ${colorScheme} colors`, async () => {
    const { page, done } = await explorer.open({ hash: logsHash(SHOP_QUERY), viewport, colorScheme });
    await page.locator('.log-line').first().waitFor();
    await page.getByRole('button', { name: 'Fields', exact: true }).click();
    const panel = panelOf(page);
    await panel.locator('.field-row', { hasText: 'service_name' }).click();
    await panel.locator('.top-value-text').nth(3).waitFor();
    await panel.getByText('In 3,420 of 3,420 lines').waitFor();
    await assertAccessible(page);
    await screenshot(page, name);
    await untilFits(page, viewport.width);
    await done();
  });
}
