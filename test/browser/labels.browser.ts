/** The label browser as a person uses it. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventually, untilCount, untilFits, untilTexts } from './support/eventually.ts';
import {
  assertAccessible,
  type Explorer,
  PHONE,
  screenshot,
  startExplorer,
  untilParam,
} from './support/explorer.ts';
import { push, pushShop } from './support/shop.ts';

const endMs = Date.now();
let explorer: Explorer;
before(async () => {
  explorer = await startExplorer();
  await pushShop(explorer.store, endMs);
  // More values than a column shows at once.
  const ns = `${BigInt(endMs - 1000) * 1_000_000n}`;
  const jobs = Array.from({ length: 130 }, (_, i) => ({
    stream: { service_name: 'batch', namespace: 'jobs', job: `job-${String(i).padStart(3, '0')}` },
    values: [[ns, `done ${'x'.repeat(i)}`]] as [string, string][],
  }));
  await push(explorer.store, jobs);
});
after(() => explorer.stop());

test('values with their shares become a selector, narrow each other, and lead to the logs', async () => {
  const { page, done } = await explorer.open({ hash: '#/labels' });
  const labels = page.getByRole('region', { name: 'Labels', exact: true });
  await labels.getByRole('button', { name: /^namespace/ }).waitFor();
  const services = page.getByRole('region', { name: 'Values of service_name' });
  await services.getByRole('checkbox', { name: /checkout/ }).waitFor();
  // The values are there before their shares.
  await eventually(
    () => services.locator('.value-share').allTextContents(),
    texts => {
      const shares = texts.map(text => Number.parseFloat(text));
      assert.equal(shares.length, 5);
      assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 100) < 2, `${shares}`);
      assert.deepEqual(
        shares,
        shares.toSorted((a, b) => b - a),
      );
    },
  );
  await labels.getByRole('button', { name: /^region/ }).click();
  const regions = page.getByRole('region', { name: 'Values of region' });
  await regions.getByRole('checkbox', { name: /us-east-1/ }).waitFor();
  await services.getByRole('checkbox', { name: /checkout/ }).check();
  await services.getByRole('checkbox', { name: /payment/ }).check();
  await untilParam(page, 'q', '{service_name=~"checkout|payment"}');
  await page.getByText('4 streams').waitFor();
  await regions.getByRole('checkbox', { name: /us-east-1/ }).check();
  await untilParam(page, 'q', '{service_name=~"checkout|payment", region="us-east-1"}');
  await page.getByText('2 streams').waitFor();
  await labels.getByRole('button', { name: /^namespace/ }).click();
  await page
    .getByRole('region', { name: 'Values of namespace' })
    .getByRole('checkbox', { name: /shop/ })
    .waitFor();
  await page.locator('.stale').waitFor({ state: 'detached' });
  await assertAccessible(page);
  await screenshot(page, 'labels');
  await page.getByRole('button', { name: /region = us-east-1/ }).click();
  await untilParam(page, 'q', '{service_name=~"checkout|payment"}');
  await page.keyboard.press('Control+Enter');
  await page.waitForURL(({ hash }) => hash.startsWith('#/logs'));
  await page.locator('.log-line').first().waitFor();
  await done();
});

test('many values come in parts, and are found by a search; what is behind a selector stays', async () => {
  const query = '{namespace="jobs"} |= "done"';
  const hash = `#/labels?${new URLSearchParams({ q: query, open: 'job' })}`;
  const { page, done } = await explorer.open({ hash, colorScheme: 'dark' });
  const jobs = page.getByRole('region', { name: 'Values of job' });
  await jobs.getByRole('checkbox', { name: /job-129/ }).waitFor();
  await untilCount(jobs.getByRole('checkbox'), 100);
  await jobs.getByRole('button', { name: 'Show 30 more' }).click();
  await untilCount(jobs.getByRole('checkbox'), 130);
  await jobs.getByRole('searchbox').fill('job-00');
  await untilCount(jobs.getByRole('checkbox'), 10);
  await jobs.getByRole('checkbox', { name: /job-007/ }).check();
  await untilParam(page, 'q', '{namespace="jobs", job="job-007"} |= "done"');
  await page.getByText('1 stream', { exact: true }).waitFor();
  await assertAccessible(page);
  await screenshot(page, 'labels-dark');
  await page.keyboard.press('Escape');
  await jobs.getByRole('button', { name: 'Close job' }).click();
  await page.keyboard.press('x');
  await untilParam(page, 'q', null);
  await page.keyboard.press('/');
  await page.keyboard.type('reg');
  await untilTexts(page.locator('.label-row .value-name'), ['region']);
  await done();
});

test('shows the values of a store without volumes', async () => {
  const { page, done } = await explorer.open({ expects: /status of 404/ });
  await page.route('**/index/volume?*', route => route.fulfill({ status: 404, body: 'not found' }));
  await page.goto(`${explorer.store.url}/ui/#/labels`);
  const services = page.getByRole('region', { name: 'Values of service_name' });
  await services.getByRole('checkbox', { name: 'worker' }).check();
  await untilParam(page, 'q', '{service_name="worker"}');
  await services.getByText('The store returns no volumes for this label', { exact: false }).waitFor();
  await untilCount(page.locator('.value-bytes'), 0);
  await done();
});

test('at phone width; and in a time without logs', async () => {
  const { page, done } = await explorer.open({ hash: '#/labels', viewport: PHONE });
  await page.getByRole('checkbox', { name: /checkout/ }).check();
  await page.getByText('2 streams').waitFor();
  await assertAccessible(page);
  await screenshot(page, 'labels-phone');
  await untilFits(page, PHONE.width);
  await page.goto(`${explorer.store.url}/ui/#/labels?from=1700000000000&to=1700003600000`);
  await page.getByText('No logs in this time range').waitFor();
  await done();
});
